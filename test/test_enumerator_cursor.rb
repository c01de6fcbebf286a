# frozen_string_literal: true
# test_enumerator_cursor.rb - enumerator_cursor.h: #next of an Array's or a Range's each without a Fiber.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeEnumeratorCursor < Test::Unit::TestCase
  include LockfreeAssertRactors

  # fibers { } is how many Fibers the block has made; ends(e) is what the StopIteration of e.next says.
  COMMON = <<~'RUBY'
    GC.disable
    def fibers
      before = ObjectSpace.each_object(Fiber).count
      yield
      ObjectSpace.each_object(Fiber).count - before
    end
    def ends(enumerator)
      enumerator.next
      flunk "it goes on"
    rescue StopIteration => error
      error.result
    end
    Fiber.current
  RUBY

  def assert_cursor(code) = assert_ractors(COMMON + code)

  def test_no_fiber
    assert_cursor(<<~'RUBY')
      array = [1, nil, [2, 3]]
      made = fibers do
        e = array.each
        assert_equal([1, nil, [2, 3]], [e.next, e.next, e.next])
        assert_same(array, ends(e))
        e = array.to_enum
        assert_equal([[1], [nil], [[2, 3]]], [e.next_values, e.next_values, e.next_values])
        e = (1..3).each
        assert_equal([1, 1, 2, 3, 3], [e.peek, e.next, e.next, e.peek, e.next])
        assert_equal(1..3, ends(e))
        e = (-2...0).each
        assert_equal([-2, -1], [e.next, e.next])
        assert_equal(-2...0, ends(e))
        e = (1..).each
        assert_equal([1, 2], [e.next, e.next])
        e = [1, 2].cycle
        assert_equal([1, 2, 1, 2, 1], Array.new(5) { e.next })
        assert_nil(ends([].cycle))
        assert_equal(3..1, ends((3..1).each))
        assert_equal([[1, 4], [2, 5]], [1, 2].each_entry.zip(4..5))
      end
      assert_equal(0, made)
    RUBY
  end

  # What tells that the count above can fail.
  def test_a_fiber_where_there_is_more_to_run
    assert_cursor(<<~'RUBY')
      class Own < Array
        def each = super { |x| yield x * 2 }
      end
      singleton = [1]
      def singleton.each = yield(:mine)
      mine = [1].each
      def mine.each = yield(:mine)
      doubled = Class.new(Range) { def each = super { |x| yield x * 2 } }
      { [1].each_with_index => [1, 0], [1].cycle(2) => 1, Own[4].to_enum => 8, singleton.to_enum => :mine, mine => :mine,
        doubled.new(3, 4).to_enum => 6, (1.0..2).step(0.5) => 1.0, ("a".."c").each => "a", { a: 1 }.each => [:a, 1],
        (2**70..).each => 2**70, [1].each.lazy => 1, Enumerator.new { |y| y << 5 } => 5 }.each do |enumerator, first|
        assert_equal(1, fibers { assert_equal(first, enumerator.next, enumerator.inspect) }, enumerator.inspect)
      end
    RUBY
  end

  def test_redefined_before_and_meanwhile
    assert_cursor(<<~'RUBY')
      $VERBOSE = nil
      begun = [[1, 2, 3].each, (1..3).each, [1, 2, 3].cycle].each(&:next)
      class Array
        def each = (yield(:array); self)
        def cycle = yield(:cycle)
      end
      Range.prepend(Module.new { def each = yield(:range) })
      assert_equal([2, 2, 2], begun.map(&:next))
      assert_equal(:array, [1].to_enum.next)
      assert_equal(:cycle, [1].to_enum(:cycle).next)
      assert_equal(:range, (1..2).to_enum.next)
      begun.map(&:rewind)
      assert_equal(%i[array range cycle], begun.map(&:next))
    RUBY
  end

  # What is left in the class for the refinement hides neither what comes before it nor what it stands for.
  def test_refined
    assert_cursor(<<~'RUBY')
      Module.new do
        refine(Array) { def each = yield(:refined); def cycle = yield(:refined) }
        refine(Range) { def each = yield(:refined) }
        refine(Enumerator) { def each = yield(:refined) }
      end
      assert_equal([1, 1, 1], [[1].to_enum.next, [1].cycle.next, (1..2).to_enum.next])
      [Array, Range].each { |c| c.prepend(Module.new { def each = yield(:prepended); def cycle = yield(:prepended) }) }
      assert_equal(%i[prepended] * 3, [[1].to_enum.next, [1].to_enum(:cycle).next, (1..2).to_enum.next])
      Enumerator.prepend(Module.new { def each = yield(:before) })
      assert_equal(:before, "a".each_char.next)
      assert_equal(:before, [1].to_enum.next)
    RUBY
  end

  def test_redefined_enumerator
    assert_cursor(<<~'RUBY')
      $VERBOSE = nil
      e = [1, 2].each
      class Enumerator
        def each = yield(:mine)
      end
      assert_equal(:mine, e.next)
    RUBY
  end

  def test_undefined
    assert_cursor(<<~'RUBY')
      e = [1, 2].each
      class Array
        undef each
      end
      assert_raise(NoMethodError) { e.next }
    RUBY
  end

  def test_range_of_large_integers
    assert_cursor(<<~'RUBY')
      max = 2**(0.size * 8 - 2) - 1
      e = (max - 1..).each
      assert_equal([max - 1, max, max + 1, max + 2], Array.new(4) { e.next })
      e = (max - 1..max).each
      assert_equal([max - 1, max], Array.new(2) { e.next })
      assert_equal(max - 1..max, ends(e))
    RUBY
  end

  def test_array_that_changes
    assert_cursor(<<~'RUBY')
      array = [1, 2, 3]
      e = array.each
      e.next
      array.unshift(0)
      assert_equal(1, e.next)
      array.replace([7] * 3)
      assert_equal(7, e.next)
      array.clear
      assert_same(array, ends(e))
      array << 1 << 2 << 3 << 4
      assert_same(array, ends(e))
      e.rewind
      assert_equal(1, e.next)
      e = array.cycle
      3.times { e.next }
      array.pop(2)
      assert_equal([1, 2, 1], Array.new(3) { e.next })
      array.clear
      assert_nil(ends(e))
    RUBY
  end

  def test_what_a_fiber_would_raise
    assert_cursor(<<~'RUBY')
      e = [1, 2, 3].each
      assert_equal(0, fibers { e.dup.next; e.next })
      assert_raise_with_message(TypeError, "can't copy execution context") { e.dup }
      error = Thread.new { e.next rescue $! }.value
      assert_equal([FiberError, "fiber called across threads"], [error.class, error.message])
      assert_equal(2, Fiber.new { e.next }.resume)
      assert_equal(3, e.next)
      first = assert_raise_with_message(StopIteration, "iteration reached an end") { e.next }
      second = assert_raise_with_message(StopIteration, "iteration reached an end") { e.next }
      assert_same(first, second.cause)
      assert_equal(1, e.dup.next)
      e.freeze
      assert_raise(FrozenError) { e.next }
    RUBY
  end

  # Compiled, Array#each is Ruby, and its Fiber has no line of the program: a crash.
  def test_wrong_arguments
    assert_cursor(<<~'RUBY')
      [1].each
      error = assert_raise(ArgumentError) { [1, 2].to_enum(:each, 3).next }
      assert_match(/given 1, expected 0/, error.message)
      assert_match(/each/, error.backtrace.join)
      assert_equal(1, Fiber.new { [1].each(2) rescue 1 }.resume)
    RUBY
  end

  def test_feed
    assert_cursor(<<~'RUBY')
      made = fibers do
        e = [1, 2, 3].each
        e.feed(:a)
        e.next
        assert_raise(TypeError) { e.feed(:b) }
        e.next
        e.feed(:b)
        assert_raise(TypeError) { e.feed(:c) }
        e.next
        e.feed(:c)
        assert_equal([1, 2, 3], ends(e))
        e.feed(:d)
      end
      assert_equal(0, made)
    RUBY
  end

  def test_traced
    assert_cursor(<<~'RUBY')
      seen = []
      trace = TracePoint.new(:c_call, :call, :c_return, :return) { |tp| seen << [tp.event, tp.method_id] if tp.method_id == :each }
      e = [1].each
      trace.enable { e.next; ends(e) }
      assert_equal(%w[call call return return], seen.map { |event,| event.to_s.delete_prefix("c_") }) # Enumerator's, and Array's
    RUBY
  end

  def test_array_or_range_that_is_moved
    assert_cursor(<<~'RUBY')
      array = [1, 2, 3]
      e = array.each
      e.next
      Ractor.new { Ractor.receive }.send(array, move: true)
      assert_raise(Ractor::MovedError) { e.next }
      range = Class.new(Range).new(1, 3) # not frozen
      e = range.to_enum
      e.next
      Ractor.new { Ractor.receive }.send(range, move: true)
      assert_raise(Ractor::MovedError) { e.next }
    RUBY
  end

  def test_collected_and_compacted
    assert_cursor(<<~'RUBY')
      GC.enable
      all = Array.new(100) { |i| [i.to_s, (i + 1).to_s].each.tap(&:next) }
      2.times { GC.start }
      GC.compact if GC.respond_to?(:compact)
      GC.stress = true
      assert_equal(%w[1 2], all.first(2).map(&:next))
      GC.stress = false
      assert_equal((3..100).map(&:to_s), all.drop(2).map(&:next))
    RUBY
  end

  def test_racing_next_in_ractors
    assert_cursor(<<~'RUBY')
      GC.enable
      ractors = Array.new(8) do
        Ractor.new do
          Array.new(3000) do |i|
            e = [i, 1].each
            sum = 0
            loop { sum += e.next }
            range = (i..).each
            range.next
            sum + range.next + [1, 2].cycle.next
          end.sum
        end
      end
      assert_equal([(0...3000).sum { |i| i + 1 + i + 1 + 1 }] * 8, ractors.map(&:take))
    RUBY
  end
end
