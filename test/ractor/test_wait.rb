# frozen_string_literal: true
# ractor/test_wait.rb - ractor/wait.h: threads of one Ractor that wait at once.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeRactorWait < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Bug #21037
  def test_racing_take_and_take
    assert_ractor(<<~'RUBY', timeout: 60)
      threads = Array.new(4) { |i| Thread.new { Array.new(25) { Ractor.new { sleep 0.001; 1 }.take }.sum } }
      assert_equal([25] * 4, threads.map(&:value))
    RUBY
  end

  def test_racing_take_and_take_from_one
    assert_ractor(<<~'RUBY', timeout: 60)
      echo = Ractor.new { loop { Ractor.yield(Ractor.receive) } }
      threads = Array.new(4) { |i| Thread.new { Array.new(50) { echo.send(i); echo.take } } }
      assert_equal([[0, 50], [1, 50], [2, 50], [3, 50]], threads.flat_map(&:value).tally.sort)
    RUBY
  end

  def test_racing_receive_and_take
    assert_ractor(<<~'RUBY', timeout: 60)
      Main = Ractor.current
      sender = Ractor.new { 100.times { |i| Main.send(i); Ractor.yield(-i) }; :end }
      receiver = Thread.new { Array.new(100) { Ractor.receive } }
      taker = Thread.new { Array.new(101) { sender.take } }
      assert_equal(Array.new(100) { |i| i }, receiver.value)
      assert_equal(Array.new(100) { |i| -i } << :end, taker.value)
    RUBY
  end

  def test_interrupting_one_of_two
    assert_ractor(<<~'RUBY', timeout: 60)
      slow = Ractor.new { Ractor.receive }
      other = Ractor.new { Ractor.receive }
      waiting = Thread.new { slow.take }
      killed = Thread.new { other.take }
      Thread.pass until [waiting, killed].all?(&:stop?)
      killed.kill
      assert_nil(killed.value)
      slow.send(:value)
      assert_equal(:value, waiting.value)
    RUBY
  end

  # The answer is copied, slowly, while the thread that takes it is killed.
  def test_racing_interrupted_take_and_yield
    %w[yielder.take Ractor.select(yielder)].each do |take|
      assert_ractor(<<~RUBY, timeout: 60)
        class Slow
          def initialize_clone(*, **) = (sleep 0.002; super)
        end
        yielder = Ractor.new { loop { Ractor.yield(Slow.new) } }
        150.times do |i|
          thread = Thread.new { #{take} }
          sleep 0.0005 * (i % 8)
          thread.kill.join
        end
        assert_instance_of(Slow, yielder.take)
      RUBY
    end
  end

  # It kept a processor busy, and with a closed port did so for ever.
  def test_receive_if_that_has_refused_all_sleeps
    assert_ractor(<<~'RUBY', timeout: 20)
      ractor = Ractor.new do
        found = Ractor.receive_if { |message| message == :wanted }
        rest = Array.new(3) { Ractor.receive }
        closed = begin
          Ractor.receive_if { |message| message == :wanted }
        rescue Ractor::ClosedError
          $!.class
        end
        [found, rest, closed]
      end
      RubyVM::Lockfree.waits_enable
      3.times { |i| ractor.send(i) }
      sleep 0.01 until RubyVM::Lockfree.waits(ractor)[:ractors][0][:states][:receive][:seconds] > 0.1
      ractor.send(:wanted).send(:other)
      ractor.close_incoming
      assert_equal([:wanted, [0, 1, 2], Ractor::ClosedError], ractor.take)
    RUBY
  end

  # It was passed over for good, and the port's end was taken for that of the messages.
  def test_receive_if_comes_to_what_another_thread_has_refused
    assert_ractor(<<~'RUBY', timeout: 20)
      [false, true].each do |close|
        ractor = Ractor.new do
          looking = Queue.new
          refusing = Thread.new do
            Ractor.receive_if { |message| looking << 1; sleep 0.2 if message == 0; message == 2 }
          rescue Ractor::ClosedError
            $!.class
          end
          looking.pop
          wanting = Thread.new { Ractor.receive_if { |message| message == 0 } }
          [wanting.value, refusing.value]
        end
        ractor.send(0)
        close ? (sleep 0.1; ractor.close_incoming) : ractor.send(1).send(2)
        assert_equal([0, close ? Ractor::ClosedError : 2], ractor.take)
      end
    RUBY
  end

  # It was kept for ever, and whoever came to it waited.
  def test_receive_if_comes_to_what_a_fiber_left_with_its_thread
    assert_ractor(<<~'RUBY', timeout: 20)
      ractor = Ractor.new do
        Ractor.receive
        fiber = Thread.new { Fiber.new { Ractor.receive_if { Fiber.yield; true } }.resume }
        enumerator = Thread.new { fiber.join; Enumerator.new { |y| Ractor.receive_if { |message| y << message } }.next }
        waiting = Thread.new { enumerator.join; Ractor.receive_if { true } }
        [enumerator.value, waiting.value, (Ractor.receive_if { true } rescue $!.class)]
      end
      4.times { |i| ractor.send(i) }
      ractor.close_incoming
      assert_equal([2, 3, Ractor::ClosedError], ractor.take)
    RUBY
  end

  # The main thread leaves a Fiber in its block, and ends; the other one's last words did not come, nor the end.
  def test_receive_if_in_the_end_of_a_ractor_that_left_a_fiber_in_its_block
    assert_ractor(<<~'RUBY', timeout: 20)
      reader, writer = IO.pipe
      ractor = Ractor.new(writer.fileno) do |fd|
        Fiber.new { Ractor.receive_if { Fiber.yield; true } }.resume
        thread = Thread.new do
          sleep
        ensure
          IO.for_fd(fd, "w", autoclose: false).syswrite("#{Ractor.receive_if { true }}\n")
        end
        Thread.pass until thread.stop?
      end
      2.times { |i| ractor.send(i) }
      ractor.take
      assert_equal("1\n", reader.gets)
      sleep 0.01 until Ractor.count == 1
    RUBY
  end

  # A Fiber holds the turn in its block; its thread waited for a message that another thread had, who waited for the turn.
  def test_receive_if_beside_a_fiber_of_its_thread_in_its_block
    assert_ractor(<<~'RUBY', timeout: 20)
      3.times { |i| Ractor.current.send(i) }
      fiber = Fiber.new { Ractor.receive_if { |message| Fiber.yield if message == 1; message == 2 } }
      fiber.resume
      other = Thread.new { Ractor.receive_if { true } }
      Thread.pass until other.stop?
      assert_match(/deadlock/, assert_raise(ThreadError) { Ractor.receive_if { true } }.message)
      assert_equal([2, 0, 1], [fiber.resume, other.value, Ractor.receive_if { true }])
    RUBY
  end

  # All of them look at all messages, and none stops the others.
  def test_receive_ifs_of_fibers_of_a_scheduler
    assert_ractor(REQUIRE_SCHEDULER + <<~'RUBY', timeout: 60)
      30.times do |i|
        3.times { |k| Ractor.current.send(k) }
        log = []
        thread = Thread.new do
          Fiber.set_scheduler(Scheduler.new)
          Fiber.schedule { log << Ractor.receive_if { |k| sleep 0.005; k == 2 } }
          Fiber.schedule { sleep 0.002 * (i % 3); log << Ractor.receive_if { |k| sleep 0.001; k == 0 } }
          Fiber.schedule { sleep 0.001; log << :runs }
        end
        other = Thread.new { Ractor.receive_if { |k| sleep 0.002; k == 1 } }
        assert_equal(1, other.value)
        thread.join
        assert_equal([:runs, 0, 2].to_set, log.to_set)
        assert_equal(:runs, log[0])
      end
    RUBY
  end

  def test_racing_receive_ifs
    assert_ractor(<<~'RUBY', timeout: 60)
      ractor = Ractor.new do
        threads = Array.new(4) { |i| Thread.new { Array.new(200) { Ractor.receive_if { |message| message % 4 == i } } } }
        threads.map(&:value)
      end
      sent = Array.new(800) { |i| i }.shuffle(random: Random.new(1))
      sent.each { |i| ractor.send(i) }
      assert_equal(Array.new(4) { |i| sent.select { |message| message % 4 == i }.sort }, ractor.take.map(&:sort))
    RUBY
  end

  # One thread passes over a message while another one looks at it, and puts it back.
  def test_racing_receive_if_and_receive
    assert_ractor(<<~'RUBY', timeout: 60)
      looking = Ractor.current
      receiver = Ractor.new(looking) do |main|
        Thread.new { Ractor.receive_if { |message| main.send(:looks); sleep 0.3; message == :never } }
        Ractor.yield(Ractor.receive)
      end
      receiver.send(:message)
      assert_equal(:message, receiver.take)
    RUBY
  end

  # One thread holds the taker while it copies, and gives it back.
  def test_racing_failing_yield_and_yield
    assert_ractor(<<~'RUBY', timeout: 60)
      class Refused
        def initialize_clone(*, **) = (sleep 0.3; raise "refused")
      end
      yielder = Ractor.new do
        Thread.new { Ractor.yield(Refused.new) rescue nil; sleep }
        Thread.new { sleep 0.1; Ractor.yield(:other) }
        sleep
      end
      assert_equal(:other, yielder.take)
    RUBY
  end

  # The thread that is next is alone on its Ractor when another Ractor is ready as well.
  def test_racing_end_of_thread_and_ready_ractors
    assert_ractor(<<~'RUBY', timeout: 120)
      ractors = 4.times.map do
        Ractor.new { 200.times { Array.new(3) { Thread.new { Thread.pass; 1 } }.sum(&:value) }; :end }
      end
      assert_equal([:end] * 4, ractors.map(&:take))
    RUBY
  end

  # What runs in the middle of a wait waits itself, while the outer one is answered.
  def test_racing_interrupt_that_takes_and_yield
    assert_ractor(<<~'RUBY', timeout: 30)
      outer = Ractor.new { Ractor.receive; :outer }
      inner = Ractor.new { Ractor.receive; sleep 0.5; :inner }
      taken = nil
      trap(:USR1) do
        [inner, outer].each { |ractor| ractor.send(:go) }
        taken = inner.take
      end
      Ractor.new { sleep 0.2; Process.kill(:USR1, Process.pid) }
      assert_equal(:outer, outer.take)
      assert_equal(:inner, taken)
    RUBY
  end

  # What is answered before the interrupt is looked at is the result: the last message that a Ractor has would come no more.
  def test_racing_answer_and_interrupt
    assert_ractors(<<~'RUBY')
      stop = Class.new(StandardError)
      { take: ->(r) { r.take }, select: ->(r) { Ractor.select(r)[1] } }.each do |name, wait|
        wrong = (0...300).filter_map do |i|
          ractor = Ractor.new { sleep 0.001; :answer }
          main, answer = Thread.current, nil
          interrupt = Thread.new { sleep 0.0009 + i % 40 * 0.00001; main.raise(stop) }
          begin
            Thread.handle_interrupt(stop => :on_blocking) { answer = wait[ractor] }
            interrupt.join
          rescue stop
            answer ||= wait[ractor] rescue $!.class
          end
          begin
            interrupt.join
          rescue stop
          end
          answer unless answer == :answer
        end
        assert_equal([], wrong, name)
      end
    RUBY
  end

  # A take keeps its place behind, or before, those of others, however often it is interrupted.
  def test_take_that_is_interrupted_keeps_its_place
    assert_ractors(<<~'RUBY')
      trap(:USR1) { }
      numbers = Ractor.new { 100.times { |i| Ractor.yield(i); sleep 0.005 }; 2.times { Ractor.yield(:end) } }
      other = Ractor.new(numbers) { |r| count = 0; count += 1 until r.take == :end; count }
      killer = Thread.new { loop { Process.kill(:USR1, $$); sleep 0.002 } }
      count = 0
      count += 1 until numbers.take == :end
      killer.kill.join
      assert_include(15..85, count) # it was 0 or 1
      assert_equal(100, count + other.take)
    RUBY
  end

  # What is copied waits for what the taker's handler sends.
  def test_handler_runs_while_an_answer_is_copied
    assert_ractors(<<~'RUBY')
      class Waits
        def initialize_clone(*, **) = (Ractor.receive; super)
      end
      [->(r) { r.take }, ->(r) { Ractor.select(r)[1] }].each do |wait|
        ractor = Ractor.new { Ractor.yield(Waits.new) }
        trap(:USR1) { ractor << :go }
        Thread.new { sleep 0.2; Process.kill(:USR1, $$) }
        assert_instance_of(Waits, wait[ractor])
      end
    RUBY
  end

  # An interrupt that does not raise has a take, or a select, asked anew: it is answered all the same.
  def test_racing_yield_and_interrupt_that_does_not_raise
    assert_ractors(<<~'RUBY')
      seen = 0
      trap(:USR1) { seen += 1 }
      ractors = 2.times.map { |k| Ractor.new(k) { |k| 2000.times { |i| Ractor.yield([k, i]) }; [k, :end] } }
      killer = Thread.new { loop { Process.kill(:USR1, $$); sleep 0.0001 } }
      taken = Array.new(2000) { ractors[0].take[1] } << ractors[0].take[1]
      selected = Array.new(2001) { Ractor.select(ractors[1])[1][1] }
      killer.kill.join
      assert_equal([[*0...2000, :end]] * 2, [taken, selected])
      assert_operator(seen, :>, 0)
    RUBY
  end

  # A second Ractor has something for the select while the first one holds it, and fails.
  def test_racing_failing_yield_and_yield_to_select
    assert_ractor(<<~'RUBY', timeout: 30)
      class Refused
        def initialize_clone(*, **) = (sleep 0.6; raise "refused")
      end
      refusing = Ractor.new { Ractor.yield(Refused.new) rescue nil; sleep }
      other = Ractor.new { sleep 0.3; Ractor.yield(:other); sleep }
      assert_equal([other, :other], Ractor.select(refusing, other))
    RUBY
  end

  def test_racing_failing_yield_and_close
    {"yielder.take" => "ClosedError", "Ractor.select(yielder)" => "Error"}.each do |take, error|
      assert_ractor(<<~RUBY, timeout: 30)
        class Refused
          def initialize_clone(*, **) = (sleep 0.4; raise "refused")
        end
        yielder = Ractor.new do
          Thread.new { sleep 0.2; Ractor.current.close_outgoing }
          Ractor.yield(Refused.new) rescue nil
          sleep
        end
        assert_raise(Ractor::#{error}) { #{take} } # of select: it has nobody left
      RUBY
    end
  end

  # Threads that take from each other's Ractors, and from their own.
  def test_racing_close_and_close
    assert_ractor(<<~'RUBY', timeout: 60)
      Thread.report_on_exception = false
      turns = Array.new(100) do
        pair = Array.new(2) do
          Ractor.new(Ractor.current) do |main|
            from = [Ractor.receive, Ractor.current]
            threads = from.cycle.first(6).map { |ractor| Thread.new { ractor.take rescue $!.class } }
            Ractor.receive
            sleep 0.001
            Ractor.current.close_outgoing
            main.send(threads.map(&:value).uniq)
          end
        end
        pair[0].send(pair[1])
        pair[1].send(pair[0])
        pair.each { |ractor| ractor.send(:close) }
        Array.new(2) { Ractor.receive }
      end
      assert_equal({[Ractor::ClosedError] => 200}, turns.flatten(1).tally)
    RUBY
  end

  # A message is received while another thread looks at the one behind it.
  def test_racing_receive_if_and_receive_of_the_one_before
    assert_ractor(<<~'RUBY', timeout: 30)
      receiver = Ractor.new do
        looking = Thread.new { Ractor.receive_if { |message| sleep 0.2; message == :third } }
        sleep 0.3 # it looks at the second one
        [Ractor.receive, Ractor.receive, (Ractor.current.send(:third); looking.value)]
      end
      receiver.send(:first)
      receiver.send(:second)
      assert_equal([:first, :second, :third], receiver.take)
    RUBY
  end

  # The second thread has a message, and waits for its turn to look at it.
  def test_killing_the_second_receive_if
    assert_ractor(<<~'RUBY', timeout: 30)
      receiver = Ractor.new do
        first = Thread.new { Ractor.receive_if { sleep 0.5 } }
        sleep 0.1
        second = Thread.new { Ractor.receive_if { true } }
        sleep 0.1
        second.kill.join
        [first.value, Ractor.receive]
      end
      receiver.send(:first)
      receiver.send(:second)
      assert_equal([:first, :second], receiver.take)
    RUBY
  end

  # What is there is found, whatever interrupts: each signal, and each stop of all Ractors.
  def test_racing_poll_and_interrupt
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      require "io/wait"
      trap(:USR1) { }
      read, write = IO.pipe
      write << "x"
      sender = Thread.new { loop { Process.kill(:USR1, $$); Thread.pass } }
      collector = Ractor.new { 40.times { GC.start; sleep 0.05 } }
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 2
      missed = 0
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
        missed += 1 unless IO.select([read], nil, nil, 0)
        missed += 1 unless read.wait_readable(0)
      end
      sender.kill.join
      collector.take
      assert_equal(0, missed)
    RUBY
  end
end
