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
end
