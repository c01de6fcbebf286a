# frozen_string_literal: true
# yjit/test_shared_stats.rb - yjit/shared_stats.rs: what compiled code of several Ractors counts.

require "test/unit"
require "tmpdir"

class TestLockfreeYjitSharedStats < Test::Unit::TestCase
  def assert_run(options, code, **others)
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    options = %W[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet] + options
    assert_separately(options, code, timeout: 120, **others)
  end

  # Others come to methods of other names, which makes the counts grow, while four Ractors count.
  def test_racing_counted_calls_and_new_names
    assert_run([], <<~'RUBY')
      CALLS = 200_000
      def counted(i) = i.odd? ? i + 1 : i
      def call_all = (i = 0; i += 1 while i < CALLS and counted(i).gcd(6))
      ractors = Array.new(4) { Ractor.new { call_all } }
      def new_names(numbers) = numbers.each { |i| eval("def name#{i} = 1; def caller#{i} = name#{i} + name#{i}; 3.times { caller#{i} }") }
      names = Ractor.new { new_names(2_000...4_000) }
      new_names(0...2_000)
      [*ractors, names].each(&:take)
      stats = RubyVM::YJIT.runtime_stats
      omit "built without the statistics" unless stats[:iseq_calls]
      { iseq_calls: "counted@", cfunc_calls: "Integer#gcd" }.each do |kind, name|
        _, count = stats[kind].find { |key,| key.start_with?(name) }
        assert_include(4 * CALLS * 98 / 100..4 * CALLS, count, name) # but for the first, interpreted
      end
    RUBY
  end

  def test_racing_exits_that_are_traced
    Dir.mktmpdir { |folder| assert_run(%w[--yjit-trace-exits], <<~'RUBY', chdir: folder, ignore_stderr: true) } # writes a file there
      def leave(i) = i + i # one that is no fixnum any more goes on in the interpreter
      def leave_from(depth, i) = depth.zero? ? leave(i) : leave_from(depth - 1, i)
      reading = Ractor.new { 50.times { RubyVM::YJIT.exit_locations } }
      ractors = Array.new(4) { Ractor.new { 2_000.times.count { |i| leave_from(i % 9, i + 2**62 - 2_000) == 2 * (i + 2**62 - 2_000) } } }
      20.times { GC.start; eval("def leave(i) = i + i"); sleep 0.01 }
      assert_equal([2_000] * 4, ractors.map(&:take))
      reading.take
      raw, lines, frames = RubyVM::YJIT.exit_locations.values_at(:raw, :lines, :frames)
      assert_equal(raw.size, lines.size)
      exits = index = 0
      while index < raw.size
        count = raw[index] # frames and the instruction
        assert_equal([], raw[index + 1, count - 1].reject { |frame| frames.key?(frame) })
        exits += raw[index + count + 1]
        index += count + 2
      end
      assert_equal(raw.size, index)
      assert_operator(exits, :>, 5_000)
    RUBY
  end

  # SystemStackError leaves by a longjmp, from wherever the stack ends.
  def test_exits_at_the_end_of_the_stack
    Dir.mktmpdir { |folder| assert_run(%w[--yjit-trace-exits], <<~'RUBY', chdir: folder, ignore_stderr: true) }
      def leave(i) = i + i
      def descend(hash, i) = (leave(i); hash.each { descend(hash, i) })
      def after(depth, hash, &block) = depth.zero? ? block.call : hash.each { after(depth - 1, hash, &block) }
      4.times { leave(1) }
      20.times do |depth|
        Thread.new { assert_raise(SystemStackError) { after(depth, { 1 => 1 }) { descend({ 1 => 1 }, 2**61) } } }.join
        assert_equal(2**62, leave(2**61))
      end
    RUBY
  end

  # Where the machine's stack ends is found in a signal's handler, which makes the backtrace; stock collects there and ends.
  def test_collection_at_the_end_of_the_stack
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    small = { "RUBY_THREAD_MACHINE_STACK_SIZE" => "100000" }
    Dir.mktmpdir do |folder|
      assert_separately([small, *%w[-W0 --disable-gems --yjit-trace-exits]], <<~'RUBY', chdir: folder, ignore_stderr: true, timeout: 120)
        def leave(i) = i + i
        def descend(hash, i) = (leave(i); hash.each { descend(hash, i) })
        def after(depth, hash, &block) = depth.zero? ? block.call : hash.each { after(depth - 1, hash, &block) }
        def overflow(depth)
          GC.stress = true
          after(depth, { 1 => 1 }) { descend({ 1 => 1 }, 2**61) }
        rescue SystemStackError => e
          e.backtrace.size
        ensure
          GC.stress = false
        end
        4.times { leave(1) }
        Array.new(20) { |depth| Thread.new { overflow(depth) }.value }.each { |frames| assert_operator(frames, :>, 20) }
        assert_false(GC.disable)
      RUBY
    end
  end
end
