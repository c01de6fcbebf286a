# frozen_string_literal: true
# thread/test_timer_wait.rb - thread/timer_wait.h: sleeps and time limits of threads that share native threads, as those of Ractors do.

require "test/unit"

class TestLockfreeTimerWait < Test::Unit::TestCase
  def assert_times(code)
    assert_ractor(<<~'RUBY' + code, timeout: 120)
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      def took = (before = now) && (yield; now - before)
    RUBY
  end

  # The timer thread is woken by others' waits meanwhile. In stock each sleep of less than a millisecond is none then.
  def test_sleeps_and_time_limits_are_not_too_short
    assert_times(<<~'RUBY')
      others = Array.new(3) { |i| Ractor.new(i) { |i| 2_000.times { sleep 0.0003 + i * 0.0007 } } }
      short = Array.new(3) do
        Ractor.new do
          read, _write = IO.pipe
          queue = Thread::Queue.new
          [0.0001, 0.0009, 0.0015, 0.004].product(Array.new(50)).sum do |seconds, _|
            [took { sleep seconds }, took { read.wait_readable(seconds) }, took { IO.select([read], nil, nil, seconds) },
             took { queue.pop(timeout: seconds) }, took { Thread.new { sleep 0.1 }.join(seconds) }].count { it < seconds }
          end
        end
      end
      assert_equal([0] * 3, short.map(&:take))
      others.each(&:take)
    RUBY
  end

  # The timer thread does not wait to the end of their slice.
  def test_sleep_beside_threads_that_compute
    assert_times(<<~'RUBY')
      computing = Ractor.new { done = false; Array.new(2) { Thread.new { nil until done } }; Ractor.receive; done = true }
      sleeping = Ractor.new { Array.new(100) { took { sleep 0.001 } } }
      times = sleeping.take.sort
      computing.send(nil)
      assert_operator(times.first, :>=, 0.001)
      assert_operator(times[10], :<, 0.008)
    RUBY
  end

  # Each 10 ms, whatever wakes the timer thread meanwhile. In stock the first thread is the only one that runs.
  def test_threads_that_compute_beside_files
    assert_times(<<~'RUBY')
      read, write = IO.pipe
      reading = Ractor.new(read) { |read| nil until read.readpartial(1) == "e" }
      computing = Ractor.new { done = false; first = Thread.new { nil until done }; Thread.new { done = true }; first.join; :end }
      writing = Thread.new { loop { write.write("x"); sleep 0.001 } }
      assert_equal(:end, computing.take)
      writing.kill.join
      write.write("e")
      reading.take
    RUBY
  end

  def test_sleep_under_handle_interrupt
    assert_times(<<~'RUBY')
      slept = Ractor.new do
        ready = Thread::Queue.new
        thread = Thread.new do
          Thread.current.report_on_exception = false
          time = nil
          begin
            Thread.handle_interrupt(RuntimeError => :never) { ready << nil; time = took { sleep 0.5 } }
          rescue RuntimeError
            time
          end
        end
        ready.pop
        sleep 0.1
        thread.raise("later")
        thread.value
      end
      assert_operator(slept.take, :>=, 0.5)
    RUBY
  end

  def test_sleep_of_a_month_and_wakeup
    assert_times(<<~'RUBY')
      results = Ractor.new do
        thread = Thread.new { sleep 30 * 86_400 }
        [0.5, 2_200_000, 4_300_000, 1e12].map { |seconds| Thread.new { sleep seconds } } => [short, *long]
        short.join
        before = [thread, *long].map(&:status)
        [thread, *long].each(&:wakeup).each(&:join)
        before
      end
      assert_equal(["sleep"] * 4, results.take)
    RUBY
  end
end
