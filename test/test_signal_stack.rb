# frozen_string_literal: true
# test_signal_stack.rb - signal_stack.h: the machine's stack ends in C that does not ask for its length.

require "test/unit"

class TestLockfreeSignalStack < Test::Unit::TestCase
  def assert_at_the_end(code, **)
    assert_separately(%w[-W0 --disable-gems -rjson], <<~'RUBY' + code, ignore_stderr: true, timeout: 120, **)
      # The backtrace is made in the signal's handler.
      def overflow
        parser = JSON::Parser.new("[" * 300_000, max_nesting: 0)
        yield if block_given?
        parser.parse
      rescue SystemStackError => e
        e.backtrace.size
      ensure
        GC.stress = false
      end
    RUBY
  end

  def test_collection_in_the_handler
    assert_at_the_end(<<~'RUBY')
      frames = Array.new(20) do
        Thread.new { overflow { GC.stress = true } }.value
      end
      assert_operator(frames.min, :>, 1)
      assert_false(GC.disable)
    RUBY
  end

  # The marking under way is ended in the handler.
  def test_incremental_marking_in_the_handler
    assert_at_the_end(<<~'RUBY')
      kept = Array.new(20_000) { [1] }
      1_000.times do |i|
        overflow do
          GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
          i.times { Object.new }
        end
      end
      assert_equal([[1]], kept.uniq)
    RUBY
  end

  # What only the callers of the frame that is returned to have, in registers and on their stack.
  def test_what_is_alive_beyond_the_handler
    assert_at_the_end(<<~'RUBY')
      def through(value, depth) = depth.zero? ? overflow { GC.stress = true } : [value].each { |v| through(v, depth - 1) }
      10.times do |depth|
        kept = ["a" * 100, "b" * 100].sort_by { |s| through(s + "c", depth); s.dup }.map { |s| s.succ }
        1_000.times { "d" * 100 }
        assert_equal(["a" * 99 + "b", "b" * 99 + "c"], kept)
      end
    RUBY
  end

  def test_gc_stays_as_it_was
    assert_at_the_end(<<~'RUBY')
      overflow
      assert_false(GC.disable)
      overflow
      assert_true(GC.enable)
    RUBY
  end

  # Who is in the handler waits for the collection, on the signal stack.
  def test_racing_collect_and_overflow
    assert_at_the_end(<<~'RUBY')
      ractors = Array.new(4) { Ractor.new { Array.new(300) { overflow }.min } }
      collector = Thread.new { loop { GC.start; sleep 0.001 } }
      frames = ractors.map(&:take)
      collector.kill.join
      assert_operator(frames.min, :>, 1)
    RUBY
  end

  # Several at once are no crash of the process.
  def test_racing_overflow_and_overflow
    assert_at_the_end(<<~'RUBY', timeout: 300)
      ractors = Array.new(8) { Ractor.new { Array.new(2_000) { overflow }.uniq.size } }
      assert_equal([1] * 8, ractors.map(&:take))
    RUBY
  end
end
