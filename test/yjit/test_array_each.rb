# frozen_string_literal: true
# yjit/test_array_each.rb - array_each.h, yjit/array_each.rs: arrays that change under each, map and select, compiled;
# and the frames of these methods escape (yjit/invokeblock.rs).

require "test/unit"
require "open3"

class TestLockfreeYjitArrayEach < Test::Unit::TestCase
  PROGRAM = <<~'RUBY'
    class Subclass < Array; end
    def each(array) = (seen = []; array.each { |x| seen << x; yield x if block_given? }; seen)
    def map(array) = array.map { |x| yield x }
    def select(array) = array.select { |x| yield x }
    def first_even(array) = array.each { |x| return x if x.even? }

    def show
      long = (1..40).to_a
      arrays = [[], [1], [1, 2, 3], long, long[5..], Subclass.new(long), [nil, false, :a, 1.5, "s"].freeze]
      p arrays.map { |array| each(array) }
      p arrays.map { |array| map(array) { |x| x.inspect } }
      p arrays.map { |array| select(array, &:itself) }
      p [first_even([1, 3, 4]), first_even([1, 3])]

      grows = [1, 2, 3] # embedded, then not
      p each(grows) { |x| grows << x + 1 if grows.size < 100 }
      shrinks = (1..50).to_a
      p each(shrinks) { shrinks.pop(3) }
      emptied = (1..50).to_a
      p each(emptied) { |x| emptied.clear if x == 7 }
      refilled = (1..20).to_a
      p each(refilled) { |x| refilled.replace([9]) if x == 3 }
      shifted = (1..40).to_a
      p map(shifted) { |x| shifted.shift; x }, shifted
      p each([[1, 2], [3]]) { |x| each(x) { |y| print y } }
      p [[1, 2], [3, [4, 5]]].each { |a, (b, c)| p [a, b, c] }

      left = [1, 2, 3].map { |x| x == 2 ? (break :left) : (next x) }
      raised = begin each([1, 2, 3]) { |x| raise "at #{x}" if x == 2 } rescue $!.message end
      later = [1, 2, 3].map { |x| -> { x } }.map(&:call)
      enumerated = [1, 2, 3].each
      p left, raised, later, enumerated.next, enumerated.next, [4, 5].map.with_index { |x, i| x * i }

      GC.stress = true
      p select(%w[a b c]) { |x| x + "!" }
      GC.stress = false
      GC.compact if GC.respond_to?(:compact)
      p each(long) { |x| GC.start if x == 20 }.sum
      p Ractor.new { (1..2000).to_a.map { |x| x * 2 }.select { |x| x % 3 == 0 }.each { }.sum }.take
    end

    $VERBOSE = nil
    12.times { show }
    TracePoint.new(:line, :c_call) { }.enable { show }
    show
  RUBY

  def setup
    omit "no YJIT here" unless defined?(RubyVM::YJIT)
  end

  def run_ruby(*options, program: PROGRAM, arguments: [])
    out, status = Open3.capture2e(EnvUtil.rubybin, "--disable-gems", *options, "-e", program, *arguments)
    assert_predicate status, :success?, out[-4000..] || out
    out
  end

  def test_same_as_interpreted
    expected = run_ruby("--disable-yjit")
    [%w[--yjit-call-threshold=1], %w[--yjit-call-threshold=5], %w[--yjit-loop-threshold=1],
     %w[--yjit-loop-threshold=1 --yjit-call-threshold=1]].each do |options|
      assert_equal expected, run_ruby("--yjit", *options), options.join(" ")
    end
  end

  # A debugger asks for the binding of each frame: the locals move to the heap, and the block becomes a Proc.
  def test_frames_escape
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=1 -r-test-/debug], <<~'RUBY')
      methods = %w[times each map select downto loop]
      while (method = methods.shift) # no frame of each around it
        receiver = { "times" => "9", "downto" => "9", "loop" => "self" }.fetch(method, "(0...9).to_a")
        argument = method == "downto" ? "(1)" : ""
        eval(<<~METHOD)
          def turns(at)
            turns = 0
            #{receiver}.#{method}#{argument} { Bug::Debug.inspector if turns == at; (turns += 1) == 9 and break }
            turns
          end
        METHOD
        assert_equal([9] * 5, Array.new(5) { turns(nil) }, method)
        assert_equal([9] * 3, [turns(4), turns(0), turns(nil)], method)
      end
    RUBY
  end

  # The loop of select is reached from two places, and after a yield to a block that is not known with another stack
  # pointer; code that put it right there was lost when a version was thrown away. In a process where nothing is compiled yet.
  def test_ways_to_the_next_turn_meet
    program = <<~'RUBY'
      class Integer
        def third? = self % 3 == 0
        eval("def late?\n" + (995..1010).map { |n| "return nil if self == #{n}\n" }.join + "self > 1010 && third?\nend")
      end
      p (1..40).to_a.select(&:third?) unless ARGV.include?("late")
      p (1..3000).to_a.select(&:late?)
      p ["proc {}; nil", "nil"].select(&Kernel.method(:eval)) # the frame's variables escape
      p (1..3000).to_a.select(&:late?).size, (1..400_000).to_a.select { |x| x == 1000 }, (1..400_000).to_a.select(&:zero?)
    RUBY
    [[], %w[late]].each do |arguments|
      expected = run_ruby("--disable-yjit", program: program, arguments: arguments)
      [[], %w[--yjit-call-threshold=2 --yjit-loop-threshold=2]].each do |options|
        assert_equal expected, run_ruby("--yjit", *options, program: program, arguments: arguments), options.join(" ")
      end
    end
  end

  # Compiled code that yields to a block counts a call of it, not two.
  def test_block_is_compiled_at_the_threshold
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=30], <<~'RUBY')
      def warm = [1].each { |x| x }
      def cold(array) = array.each { |x| x.to_s }
      100.times { warm }
      called = [*1..29]
      iseqs = -> { RubyVM::YJIT.runtime_stats(:compiled_iseq_count) }
      iseqs.()
      before = iseqs.()
      cold(called)
      assert_equal(before, iseqs.())
      cold([30])
      assert_equal(before + 1, iseqs.())
    RUBY
  end

  # Code for one block outlives it, and another block comes to lie at its address: freed, or moved.
  def test_another_block_at_the_address
    assert_separately(%w[-W0 --disable-gems --yjit], <<~'RUBY', timeout: 60)
      wrong = 0
      200.times do |i|
        object = eval("object = Object.new; def object.m = [0].map { #{i} }; object")
        60.times { wrong += 1 if object.m != [i] }
        object = nil
        GC.start if i % 20 == 19
      end
      assert_equal(0, wrong)

      kept = []
      6.times do |round|
        objects = Array.new(60) do |i|
          eval("object = Object.new; def object.m; sum = 0; 3.times { |x| sum += #{60 * round + i} + x }; sum; end; object")
        end
        objects.each_with_index { |object, i| 80.times { wrong += 1 if object.m != 3 * (60 * round + i) + 3 } }
        kept.concat(objects.select.with_index { |_, i| i % 3 == 0 })
        objects = nil
        GC.start
        GC.compact if GC.respond_to?(:compact)
        kept.each(&:m)
      end
      assert_equal(0, wrong)
    RUBY
  end

  # Stock undefines them first: another Ractor may find none then (1 in 11).
  def test_enable_replaces_methods_at_once
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      undefined = []
      [Array, Integer].each { |klass| klass.define_singleton_method(:method_undefined) { |name| undefined << name } }
      errors = []
      $VERBOSE = true
      $stderr = Object.new.tap { |io| io.define_singleton_method(:write) { |*strings| errors.concat(strings) } }
      ractors = 2.times.map { Ractor.new { 100_000.times.sum { [1, 2].each { |x| x }.map { |x| x }.size } } }
      RubyVM::YJIT.enable
      $stderr = STDERR
      assert_equal([[], [], true], [undefined, errors, $VERBOSE])
      assert_equal([200_000] * 2, ractors.map(&:take))
      assert_equal([3, [2], [1, 1], [5, 4]],
                   [[1, 2].sum, [1, 2].select(&:even?), [0, 0].collect(&:succ), 5.downto(4).to_a])
    RUBY
  end

  # Only main can; what it turns off meanwhile must be as it was.
  def test_enable_that_raises_keeps_verbose
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      ractor = Ractor.new do
        $VERBOSE = true
        [(RubyVM::YJIT.enable rescue $!.class), $VERBOSE]
      end
      assert_equal([Ractor::IsolationError, true], ractor.take)
    RUBY
  end
end
