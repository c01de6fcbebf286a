# frozen_string_literal: true
# vm/test_class_new.rb - vm/class_new.h: Class#new goes on to initialize, and is seen as in stock.

require "test/unit"
require "open3"
require_relative "../assert_ractors"
require_relative "../minirubies"

class TestLockfreeVmClassNew < Test::Unit::TestCase
  include LockfreeAssertRactors
  include LockfreeMinirubies

  PROGRAM = File.expand_path("../programs/class_new.rb", __dir__)

  def output(binary, *arguments)
    out, err, status = Open3.capture3(binary, "--disable-gems", *arguments)
    assert_predicate(status, :success?, err)
    [out, err]
  end

  def assert_same_as_stock(*arguments)
    expected = output(stock, *arguments)
    YJIT.each { |options| assert_equal(expected, output(EnvUtil.rubybin, *options, *arguments)) }
  end

  def test_same_as_stock
    assert_same_as_stock("-W0", PROGRAM)
  end

  def test_same_as_stock_with_gc_stress
    assert_same_as_stock("-W0", PROGRAM, "--stress")
  end

  # What is said about a block that initialize does not use, once for each.
  def test_unused_block
    assert_same_as_stock("-W:strict_unused_block", "-e", <<~'RUBY')
      class One; def initialize = @a = 1; end
      class Two; def initialize = @a = block_given?; end
      def make(klass) = klass.new { 1 }
      4.times { make(One); make(Two); One.new; One.new {} }
    RUBY
  end

  def test_traced_allocation
    assert_ractors(<<~'RUBY')
      require "objspace"
      class Point; def initialize(x) = @x = [x]; def x = @x; end; inside = __LINE__
      def make = Point.new(1); line = __LINE__
      10.times { make }
      point = ObjectSpace.trace_object_allocations { 10.times.map { make }.last.tap { |one| one } }
      ObjectSpace.trace_object_allocations do
        point = 10.times.map { make }.last
        assert_equal([line, "Class", :new], [ObjectSpace.allocation_sourceline(point), ObjectSpace.allocation_class_path(point), ObjectSpace.allocation_method_id(point)])
        assert_equal([inside, "Point", :initialize], [ObjectSpace.allocation_sourceline(point.x), ObjectSpace.allocation_class_path(point.x), ObjectSpace.allocation_method_id(point.x)])
      end
    RUBY
  end

  # A continuation of initialize returns from `new` again.
  def test_continuation
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil # callcc is obsolete
      require "continuation"
      class Again; def initialize = @times = callcc { |k| $k = k; 0 }; attr_reader :times; end
      def make = Again.new
      5.times do
        one = make
        $seen ||= one
        next if one.times == 3
        same = $seen.equal?(one)
        assert(same || one.times == 0)
        $seen = one
        $k.call(one.times + 1)
      end
      assert_equal(3, $seen.times)
    RUBY
  end

  # The class has another allocator from then on: an extension defines it for a class that is there already.
  def test_allocator_of_extension
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      class StringScanner; def initialize(x) = @x = x; end
      def make = StringScanner.new(1)
      10.times { make }
      require "strscan"
      class StringScanner; def initialize(x) = @x = x; end
      10.times { assert_raise_with_message(ArgumentError, /uninitialized/) { make.eos? } }
    RUBY
  end

  # The frame that is below initialize's, for who looks from outside.
  def test_backtrace_of_another_thread
    assert_ractors(<<~'RUBY')
      class Sleeper; def initialize = sleep; end
      def make = Sleeper.new
      class Short; def initialize = @a = 1; end
      10.times { Short.new }
      thread = Thread.new { make }
      Thread.pass until thread.stop?
      assert_equal(%w[Kernel#sleep Sleeper#initialize Class#new], thread.backtrace_locations.first(3).map(&:label))
      thread.kill.join
    RUBY
  end

  def test_interrupted_anywhere
    assert_ractors(<<~'RUBY')
      class Point; def initialize(x, y); @x = x; @y = y; end; def sum = @x + @y; end
      class Outer; def initialize(n) = @all = Array.new(n) { |i| Point.new(i, 1) }; def sum = @all.sum(&:sum); end
      200.times do
        thread = Thread.new { loop { raise "wrong" unless Outer.new(10).sum == 55 } rescue $!.message }
        sleep 0.001
        thread.raise("stop")
        assert_equal("stop", thread.value)
      end
    RUBY
  end

  def test_racing_new_and_new
    assert_ractors(<<~'RUBY')
      class Base; def initialize(x, y = 2); @x = x; @y = y; end; def sum = @x + @y; end
      KLASSES = Ractor.make_shareable([Base, *Array.new(30) { Class.new(Base) { def initialize(x) = super(x, 2) } }])
      ractors = Array.new(6) do |i|
        Ractor.new { 40_000.times.map { |n| KLASSES[n % 31].new(n).sum - n }.uniq }
      end
      assert_equal([[2]] * 6, ractors.map(&:take))
    RUBY
  end

  # What a Ractor makes after it was told is made by the initialize that was defined before.
  def test_racing_new_and_redefine
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil # methods are redefined on purpose
      class Point; def initialize(x) = @x = [x, 0]; attr_reader :x; end
      def make(x) = Point.new(x).x
      ractors = Array.new(4) do
        Ractor.new do
          told = 0
          until told == 60
            200.times { |i| one = make(i); raise "#{one} #{told}" unless one[0] == i && one[1] >= told }
            told = Ractor.receive
            Ractor.yield(200.times.all? { |i| make(i)[1] >= told })
          end
        end
      end
      1.upto(60) do |n|
        Point.class_eval("def initialize(x#{', *' if n.odd?}) = (y = x; @x = [y, #{n}])")
        ractors.each { |ractor| ractor.send(n) }
        assert_equal([true] * 4, ractors.map(&:take))
      end
    RUBY
  end

  def test_racing_new_and_trace
    assert_ractors(<<~'RUBY')
      class Point; def initialize(x) = @x = [x]; attr_reader :x; end
      def make(x) = Point.new(x).x
      ractors = Array.new(4) { Ractor.new { 60_000.times.all? { |i| make(i) == [i] } } }
      30.times do |i|
        seen = []
        TracePoint.new(*(i.odd? ? %i[c_call c_return] : %i[call return])) { |tp| seen << tp.event }.enable { make(1) }
        assert_operator(seen.size, :>=, 4)
        sleep 0.005
      end
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end
end
