# frozen_string_literal: true
# thread/test_signal_stack.rb - thread/signal_stack.h: the machine's stack ends in C that does not ask for its length.

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

  # What only C functions of the thread's own stack have, in memory and in registers. Crashes if that is not marked.
  def test_what_is_alive_beyond_the_handler
    assert_at_the_end(<<~'RUBY')
      def over
        overflow { GC.stress = true }
        3_000.times { "d" * 100; [1, 2, 3]; { a: 1 } }
        true
      end

      named = Class.new { define_method(:to_s) { over; "v" * 50 }; alias_method :inspect, :to_s }
      3.times do
        assert_equal((1..6).map { "s#{it}" * 20 }, (1..6).each_slice(2).map { |s| over; s.map { "s#{it}" * 20 } }.flatten)
        assert_equal((1..6).map { "m#{it}" * 20 }, (1..6).each_with_object([]) { |x, memo| over; memo << "m#{x}" * 20 })
        assert_equal({ "k1" * 30 => [1, 3, 5], "k0" * 30 => [2, 4, 6] }, (1..6).each_entry.group_by { over; "k#{it % 2}" * 30 })
        assert_equal([[1, 3, 5], [2, 4, 6]], (1..6).partition { over; it.odd? })
        assert_equal({ 2 => "x" * 50 + "z" }, { 1 => "x" * 50 }.to_h { |k, v| over; [k + 1, v + "z"] })
        assert_equal("[#{"v" * 50}, #{"v" * 50}]", [named.new, named.new].inspect)
        assert_equal("bc" * 30, ("a" * 30).gsub(/a/) { over; "bc" })
        assert_equal(["a" * 40, "b" * 40], ["b", "a"].sort_by { over; it * 40 }.map { it * 40 })
        assert_equal((0..3).map { "n#{it}" * 20 }, Array.new(4) { over; "n#{it}" * 20 })
        assert_equal("i" * 40 + "xxxx", (1..4).inject("i" * 40) { |sum, _| over; sum + "x" })
        assert_equal(["f" * 40] * 2, Fiber.new { Array.new(2) { over; "f" * 40 } }.resume)
      end
    RUBY
  end

  # A C function with a tag each 592 bytes: one of them lies where the last page that can be read begins.
  def test_wherever_the_tag_is
    fixed = system("setarch", "-R", "true", err: IO::NULL) ? %w[setarch -R] : []
    program = <<~'RUBY'
      class Last; def marshal_dump = (GC.stress = true; 1); end
      deep = 30_000.times.inject({ 1 => 1 }) { |hash, i| i == 29_998 ? { Last.new => 1, 2 => hash } : { 1 => hash } }
      begin
        Marshal.dump(deep)
      rescue SystemStackError => e
        GC.stress = false
        p e.backtrace.empty?
      end
    RUBY
    ends = (0..37).map { |i| IO.popen([{ "SHIFT" => "0" * 16 * i }, *fixed, EnvUtil.rubybin, "--disable-gems", "-e", program, err: %i[child out]], &:read) }
    assert_equal(["false\n"], ends.uniq)
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
