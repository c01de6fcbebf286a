# frozen_string_literal: true
# yjit/test_class_new.rb - yjit/class_new.rs: Class#new in compiled code. What can be seen of it: vm/test_class_new.rb.

require "test/unit"

class TestLockfreeYjitClassNew < Test::Unit::TestCase
  CLASSES = <<~'RUBY'
    class Point; def initialize(x, y); @x = x; @y = y; end; def to_a = [@x, @y]; end
    def make(x, y) = Point.new(x, y)
  RUBY

  def assert_compiled(code, *options)
    omit "YJIT is not built in" unless defined?(RubyVM::YJIT.enable)
    assert_separately(["-W0", "--disable-gems", "--yjit", "--yjit-call-threshold=2", *options], CLASSES + code, timeout: 60)
  end

  def test_leaves_in_initialize
    assert_compiled(<<~'RUBY')
      class Leaves
        def initialize(x) = @x = x + 1 # made for Integers
        attr_reader :x
      end
      def leave(x) = [Leaves.new(x).x, 7]
      10.times { |i| assert_equal([i + 1, 7], leave(i)) }
      assert_equal([1.5, 7], leave(0.5))
      assert_equal([2**64, 7], leave(2**64 - 1))
      assert_raise(NoMethodError) { leave(nil) }
      10.times { |i| assert_equal([i + 1, 7], leave(i)) }
    RUBY
  end

  def test_leaves_for_an_exception
    assert_compiled(<<~'RUBY')
      class Rescues
        def initialize(x); @x = Integer(x); rescue ArgumentError; @x = :rescued; ensure; @y = 1; end
        def to_a = [@x, @y]
      end
      def rescues(x) = [1, Rescues.new(x).to_a, 2]
      20.times { |i| assert_equal([1, [i, 1], 2], rescues(i)); assert_equal([1, [:rescued, 1], 2], rescues("x")) }
      class Loops; def initialize(n); @n = 0; while @n < n; @n += 1; end; end; def n = @n; end
      def loops(n) = [1, Loops.new(n).n, 2]
      5.times { assert_equal([1, 2000, 2], loops(2000)) }
      class Returns; def initialize(a) = a.each { |x| @x = x; return 5 if x > 1 }; def x = @x; end
      def returns(a) = [1, Returns.new(a).x, 2]
      20.times { assert_equal([1, 2, 2], returns([1, 2, 3])) }
    RUBY
  end

  def test_changes_while_it_is_called
    assert_compiled(<<~'RUBY')
      class Changes
        def initialize(n)
          @n = n
          Changes.class_eval("def initialize(n) = @n = [n, #{n}]") if Integer === n && n > 0
        end
        def n = @n
      end
      def change(n) = [1, Changes.new(n).n, 2]
      5.times { assert_equal([1, 0, 2], change(0)) }
      assert_equal([1, 9, 2], change(9))
      5.times { assert_equal([1, [3, 9], 2], change(3)) }
    RUBY
  end

  # Each tracing throws all code away, in the middle of initialize as well.
  def test_traced_while_it_is_called
    assert_compiled(<<~'RUBY')
      class Traces
        def initialize(trace, all)
          @made = [make(1, 2).to_a, trace&.enable, make(3, 4).to_a]
          all << 1
        end
        def made = @made.values_at(0, 2)
      end
      def traces(trace, all) = [0, Traces.new(trace, all).made, 9]
      10.times { assert_equal([0, [[1, 2], [3, 4]], 9], traces(nil, [])) }
      %i[c_return c_call return line].each do |event|
        seen = []
        trace = TracePoint.new(event) { |tp| seen << tp.method_id }
        assert_equal([0, [[1, 2], [3, 4]], 9], traces(trace, []))
        trace.disable
        assert_include(seen, :new) if event == :c_return
        10.times { assert_equal([0, [[1, 2], [3, 4]], 9], traces(nil, [])) }
      end
    RUBY
  end

  def test_deep
    assert_compiled(<<~'RUBY')
      class Deep; def initialize(n) = @down = n.zero? ? nil : Deep.new(n - 1); def down = @down; end
      def deep(n) = Deep.new(n)
      3.times { one = deep(1000); n = 0; n += 1 while (one = one.down); assert_equal(1000, n) }
      class Endless; def initialize = @down = Endless.new; end
      3.times { assert_raise(SystemStackError) { Endless.new } }
      3.times { one = deep(1000); n = 0; n += 1 while (one = one.down); assert_equal(1000, n) }
      class Locals; def initialize(a); b = c = d = nil; e = [a]; @all = [a, b, c, d, e, binding.local_variables.size]; end; def all = @all; end
      def locals = Locals.new(1).all
      5.times { assert_equal([1, nil, nil, nil, [1], 5], locals) }
    RUBY
  end

  def test_collected_and_compacted
    assert_compiled(<<~'RUBY')
      10.times { make(1, 2) }
      GC.stress = true
      20.times { |i| raise unless make([i], "a" * i).to_a == [[i], "a" * i] }
      GC.stress = false
      if GC.respond_to?(:compact)
        3.times { GC.compact; 5.times { |i| assert_equal([i, [i]], make(i, [i]).to_a) } }
        GC.auto_compact = true
        100.times { |i| assert_equal([[i], "#{i}"], make([i], "#{i}").to_a); GC.start if i % 10 == 0 }
      end
    RUBY
  end

  def test_code_gc
    assert_compiled(<<~'RUBY')
      class Collects; def initialize(n) = (RubyVM::YJIT.code_gc if n == 1; @n = n); def n = @n; end
      def collects(n) = [0, Collects.new(n).n, 9]
      10.times { assert_equal([0, 0, 9], collects(0)) }
      5.times { assert_equal([0, 1, 9], collects(1)); assert_equal([0, 2, 9], collects(2)) }
    RUBY
  end

  def test_block
    assert_compiled(<<~'RUBY')
      class Yields; def initialize(a, &b); @a = [a, yield(a), b.call(1), defined?(yield)]; end; def a = @a; end
      def yields(x) = Yields.new(x) { |y| [x, y] }.a
      10.times { |i| assert_equal([i, [i, i], [i, 1], "yield"], yields(i)) }
      def breaks(x) = [1, Yields.new(x) { break 5 }, 2]
      10.times { |i| assert_equal([1, 5, 2], breaks(i)) }
      def returns(x) = Yields.new(x) { return 6 }
      10.times { |i| assert_equal(6, returns(i)) }
      def proc_of_block = Class.new { def initialize(&b) = @b = b; def b = @b }.new { 1 }.b
      10.times { assert_equal([1, false], [proc_of_block.call, proc_of_block.lambda?]) }
    RUBY
  end

  # Both initialize and its caller are entered from C, and leave for it.
  def test_entered_from_c
    assert_compiled(<<~'RUBY')
      class Maps; def initialize(x) = @x = [x].map { |y| y + 1 }.each { |y| @y = y }; def to_a = [@x, @y]; end
      10.times { assert_equal([[[2], 2], [[3], 3]], [1, 2].map { |x| Maps.new(x).to_a }) }
      def yielded = yield(Point, Maps)
      10.times { assert_equal([[1, 2], [[4], 4]], yielded { |a, b| [a.new(1, 2).to_a, b.new(3).to_a] }) }
      def one_of(klass) = yield(klass)
      class Plain; def initialize = @a = [1].each { |x| return x }; def a = 1; end
      20.times { assert_equal(Plain, one_of(Plain, &:new).class) }
      10.times { assert_equal([Plain] * 3, [Plain, Plain, Plain].map(&:new).map(&:class)) }
      sum = 0
      ObjectSpace.each_object(Class).first(3).each { sum += Maps.new(1).to_a[1] }
      assert_equal(6, sum)
    RUBY
  end
end
