# frozen_string_literal: true
# thread/test_timer_event.rb - thread/timer_event.h: events of files that threads of Ractors wait for, or waited for.

require "test/unit"

class TestLockfreeTimerEvent < Test::Unit::TestCase
  # What is freed is overwritten, which glibc does for us.
  def test_racing_event_and_end_of_thread
    assert_separately([{"MALLOC_PERTURB_" => "165"}, "-W:no-experimental", "--disable-gems"], <<~'RUBY', timeout: 60)
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 12
      ractors = Array.new(4) do |i|
        Ractor.new(stop) do |stop|
          turns = 0
          pipes = Array.new(6) { IO.pipe }
          until Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop
            threads = pipes.map { |read, _| Thread.new { read.wait_readable } }
            turns.odd? ? sleep(0.0005) : Thread.pass
            pipes.each { |_, write| write.write("x") }
            threads.each(&:kill).each(&:join)
            threads = nil
            pipes.each { |read, _| read.read_nonblock(1) }
            GC.start if turns % 3 == 0
            turns += 1
          end
          :end
        end
      end
      assert_equal([:end] * 4, ractors.map(&:take))
    RUBY
  end

  def test_racing_wait_and_reopen
    assert_ractor(<<~'RUBY', timeout: 60)
      ractor = Ractor.new do
        pipes = Array.new(2) { IO.pipe }
        a, c = pipes.map(&:first)
        [-> { a.wait_readable }, -> { IO.select([a]) }].map do |wait|
          thread = Thread.new { Thread.current.report_on_exception = false; wait.call }
          sleep 0.1
          a.reopen(c)
          thread.kill.join rescue nil # reopen interrupts who waits in some ways
          :ok
        end
      end
      assert_equal([:ok] * 2, ractor.take)
    RUBY
  end

  # The kernel knows what the thread has waited for by a number that is another file's now.
  def test_event_of_what_is_still_open_elsewhere
    assert_ractor(<<~'RUBY', timeout: 60)
      ractor = Ractor.new do
        read, write, other = *IO.pipe, IO.pipe[0]
        copy = read.dup
        thread = Thread.new { Thread.current.report_on_exception = false; read.wait_readable }
        sleep 0.1
        read.reopen(other)
        thread.kill.join rescue nil
        thread = nil
        50.times { Thread.new { 1 }.join }
        GC.start
        write.write("event")
        before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        sleep 1
        [Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before, copy.read_nonblock(5)]
      end
      busy, event = ractor.take
      assert_equal("event", event)
      assert_operator(busy, :<, 0.5)
    RUBY
  end

  # It has its old number again, by which the kernel still knows it.
  def test_wait_for_a_file_that_comes_back
    assert_ractor(<<~'RUBY', timeout: 60)
      ractor = Ractor.new do
        read, write, other = *IO.pipe, IO.pipe[0]
        thread = Thread.new { Thread.current.report_on_exception = false; read.read(1) rescue $!.class }
        sleep 0.1
        copy = read.dup
        read.reopen(other)
        thread.value
        read.reopen(copy)
        thread = Thread.new { read.read(1) }
        sleep 0.1
        before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        sleep 1
        busy = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before
        write.write("a")
        [busy, thread.value]
      end
      busy, event = ractor.take
      assert_equal("a", event)
      assert_operator(busy, :<, 0.5)
    RUBY
  end

  # Each is told of its own file, in whatever order.
  def test_racing_wait_and_write
    assert_ractor(<<~'RUBY', timeout: 60)
      ractors = Array.new(4) do |i|
        Ractor.new(i) do |i|
          random = Random.new(i)
          pipes = Array.new(60) { IO.pipe }
          Array.new(20) do
            threads = pipes.each_with_index.map { |(read, _), n| Thread.new { [n, read.readpartial(3).to_i] } }
            order = pipes.each_index.to_a.shuffle(random: random)
            order.each { |n| pipes[n][1].write(n.to_s) }
            threads.all? { |thread| thread.value.uniq.size == 1 }
          end.tally
        end
      end
      assert_equal([{true => 20}] * 4, ractors.map(&:take))
    RUBY
  end
end
