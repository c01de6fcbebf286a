# frozen_string_literal: true
# ractor/test_end.rb - thread/create.h, thread/join.h, thread_report_once.patch: threads that end badly, or do not begin.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeRactorEnd < Test::Unit::TestCase
  include LockfreeAssertRactors

  # What it is told by main, which ends, is not forgotten with what a finalizer raises.  Before, once a second was all it was told.
  def test_told_to_end_in_a_finalizer
    code = <<~'RUBY'
      FINALIZER = Ractor.make_shareable(nil.instance_eval { proc { sleep 0.03 } })
      def leave(depth) = depth == 0 ? (ObjectSpace.define_finalizer(Object.new, FINALIZER); nil) : leave(depth - 1)
      Ractor.new { loop { leave(20); GC.start } }
      sleep 0.1
    RUBY
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    10.times { assert_in_out_err(%w[-W:no-experimental --disable-gems], code, [], [], timeout: 60) }
    assert_operator(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, :<, 20)
  end

  # As in stock, and with one Ractor, too.
  def test_thread_exit_in_a_finalizer
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      EXITS = Ractor.make_shareable(nil.instance_eval { proc { Thread.exit } })
      def leaves = (100.times { ObjectSpace.define_finalizer(Object.new, EXITS) }; GC.start; :went_on)
      assert_equal(:went_on, Thread.new { leaves }.value)
      assert_equal(:went_on, Ractor.new { leaves }.take)
      assert_equal(:went_on, Thread.new { leaves }.value)
    RUBY
  end

  # Main, which calls the finalizers, waits for a Ractor that waits for them: each leaves the next.
  def test_wait_for_what_finalizers_say
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil # the last ones say it to nobody
      def told(n) = (HEARS.send(n); sleep 0.02)
      11.times { |i| eval "module Says#{i}; def self.call(id) = told(#{i}); end" }
      SAYS = Ractor.make_shareable(Array.new(11) { |i| Object.const_get("Says#{i}") })
      def leave(depth, says) = depth == 0 ? (3.times { ObjectSpace.define_finalizer(Object.new, says) }; nil) : leave(depth - 1, says)
      HEARS = Ractor.new do
        10.times { |i| nil until Ractor.receive == i; leave(20, SAYS[i + 1]); GC.start }
        loop { break :heard if Ractor.receive == :end }
      end
      [-> { HEARS.take }, -> { q = Thread::Queue.new; Thread.new { q << HEARS.take }; q.pop }].sample.then do |waits|
        leave(20, Says0)
        GC.start
        Thread.new { sleep 2; HEARS.send(:end) }
        assert_equal(:heard, waits.call)
      end
    RUBY
  end

  def test_memory_at_exit
    [[], %w[--yjit]].each do |options|
      assert_separately([{"RUBY_FREE_AT_EXIT" => "1", "MALLOC_PERTURB_" => "165"}, *%w[-W0 --disable-gems], *options],
                        "assert_equal(7, Ractor.new { 7 }.take)", ignore_stderr: true) # it warns
    end
  end

  def test_memory_of_select_with_one_that_has_ended
    assert_no_memory_leak(%w[-W:no-experimental --disable-gems], <<~'PREPARE', <<~'RUBY', limit: 1.5, rss: true)
      ended = Ractor.new { 1 }.tap(&:take)
      def selects(ended, times) = times.times { Ractor.select(ended) rescue 1 }
      selects(ended, 20_000)
    PREPARE
      selects(ended, 400_000)
    RUBY
  end

  # It was reported that the report had raised, and so on, for ever.
  def test_report_that_raises
    assert_ractor(<<~'RUBY', timeout: 20)
      ractors = Array.new(2) do |i|
        Ractor.new(i == 0) do |closed|
          closed ? $stderr.close : ($stderr = Class.new { def write(*) = raise(IOError, "no") }.new)
          raise "the first"
        end
      end
      assert_equal(["the first"] * 2, ractors.map { |ractor| assert_raise(Ractor::RemoteError) { ractor.take }.cause.message })
      begin
        saved, $stderr = $stderr, Class.new { def write(*) = raise(IOError, "no") }.new
        thread = Thread.new { raise "the first" }
        message = (thread.join rescue $!.message)
      ensure
        $stderr = saved
      end
      assert_equal("the first", message)
    RUBY
  end

  def test_report_that_exits
    assert_in_out_err(%w[--disable-gems -e] << <<~'RUBY', "", ["7"], [], timeout: 20)
      pid = fork do
        $stderr = Class.new { def write(*) = exit(7) }.new
        Thread.new { raise "the first" }
        sleep 10
      end
      puts Process.wait2(pid)[1].exitstatus
    RUBY
  end

  def test_report_of_an_error_that_is_highlighted
    assert_ractor(<<~'RUBY', args: %w[--enable=error_highlight], timeout: 20)
      message = Ractor.new { nil.absent rescue $!.detailed_message }.take
      assert_match(/undefined method 'absent' for nil/, message)
    RUBY
  end

  # It was listed, and waited for at the end.
  def test_no_memory_for_a_thread
    omit "no limit of the address space" unless Process.const_defined?(:RLIMIT_AS) && File.exist?("/proc/self/status")
    assert_in_out_err(%w[--disable-gems -e] << <<~'RUBY', "", ["[NoMemoryError] 1 2"], [], timeout: 20)
      Array.new(50_000) { +"" }.clear # the heap need not grow
      unlimited = Process.getrlimit(:AS)[1]
      Process.setrlimit(:AS, File.read("/proc/self/status")[/^VmSize:\s+(\d+)/, 1].to_i * 1024 + 300_000, unlimited)
      errors = Array.new(3) do
        Thread.new { sleep } && nil
      rescue NoMemoryError
        $!.class
      end
      Process.setrlimit(:AS, unlimited, unlimited)
      puts "#{errors.uniq} #{Thread.list.size} #{Thread.new { 2 }.value}"
    RUBY
  end

  # The joiner was woken for good when it waited for the next Ractor.
  def test_joining_threads_of_ractors_that_end
    assert_ractor(<<~'RUBY', timeout: 60)
      Thread.new { sleep }
      300.times do |i|
        threads = Ractor.new { [Thread.new { sleep }, Thread.new { 1 + 1 }, Thread.current] }.take
        threads.rotate(i % 3).each { |thread| assert_same(thread, thread.join) }
      end
      assert_nil(Ractor.new { Thread.new { sleep } }.take.value)
    RUBY
  end

  # All Fibers of the thread stood still.
  def test_joining_a_thread_of_another_ractor_under_a_scheduler
    assert_ractor(REQUIRE_SCHEDULER + <<~'RUBY', timeout: 20)
      ends_slowly = Ractor.new do
        thread = Thread.new do
          sleep
        ensure
          (sleep 0.5 rescue nil)
        end
        Thread.pass until thread.stop?
        thread
      end.take
      order = []
      Thread.new do
        Fiber.set_scheduler(Scheduler.new)
        Fiber.schedule { ends_slowly.join; order << :joined }
        Fiber.schedule { sleep 0.01; order << :other }
      end.join
      assert_equal(%i[other joined], order)
    RUBY
  end
end
