# frozen_string_literal: true
# ractor/test_start.rb - ractor_start_without_stop.patch: YJIT hears of the second Ractor, when there are several, and of no other.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeRactorStart < Test::Unit::TestCase
  include LockfreeAssertRactors

  # The first Ractor.new collects, and copies: finalizers and initialize_clone run, and may be compiled, in main alone.
  def test_code_that_is_made_while_the_first_starts
    options = [%w[--yjit], %w[--yjit --yjit-call-threshold=1], %w[--yjit --yjit-call-threshold=2]]
    [<<~'FINALIZER', <<~'COPY'].product(options) { |first, yjit| assert_separately(%w[-W:no-experimental --disable-gems] + yjit, first + <<~'RUBY') }
      def get = A
      A = [1]
      finalizer = proc { 5.times { get } }
      20.times { ObjectSpace.define_finalizer(Object.new, finalizer) }
      Ractor.new { 1 }.take
    FINALIZER
      def get = A
      A = [1]
      class Copied
        def initialize_clone(...) = 100.times { get }
      end
      Ractor.new(Copied.new) { 1 }.take
    COPY
      3.times do
        assert_equal(Ractor::IsolationError, Ractor.new { get rescue $!.class }.take)
      end
    RUBY
  end

  # In upstream's a Ractor that has ended waits for a second until it looks whether its threads have.
  def test_end_with_threads_that_sleep
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      20.times do
        Ractor.new { 3.times { Thread.new { sleep } }; Thread.new { begin sleep ensure Thread.pass end }; Thread.pass }.take
        sleep 0.0001 while Ractor.count > 1
      end
      times = 20.times.map do
        Ractor.new { 3.times { Thread.new { sleep } }; 1 }.take
        started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        sleep 0.0001 while Ractor.count > 1
        Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      end
      assert_operator(times.min, :<, 0.9)
    RUBY
  end

  def test_others_run_on
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --ractor-stats], <<~'RUBY', ignore_stderr: true)
      def start = Ractor.new { 1 }.take # in one place: that its block is kept stops the others as well, once
      2.times { start }
      RubyVM::Lockfree.waits_reset
      computes = Ractor.new { n = 0; n += 1 while n < 30_000_000; n }
      100.times { start }
      culprits = RubyVM::Lockfree.waits[:culprits]
      computes.take
      assert_empty(culprits.select { |culprit| culprit[:cause].to_s == "invalidate" })
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
end
