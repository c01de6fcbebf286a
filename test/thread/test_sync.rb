# frozen_string_literal: true
# thread/test_sync.rb - thread/sync.h: a Mutex that a dead Fiber has locked, or a handler; who waits for a Mutex, a Queue, a
# ConditionVariable or a Thread, and ends, or is forgotten.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeThreadSync < Test::Unit::TestCase
  include LockfreeAssertRactors

  FORGETFUL = <<~'RUBY'
    class Forgetful
      def block(*) = Fiber.yield
      def unblock(*) = nil
      def kernel_sleep(*) = Fiber.yield
      def io_wait(*) = 1
      def fiber(&) = Fiber.new(blocking: false, &).tap(&:resume)
      def fiber_interrupt(*) = nil
      def close = nil
    end
  RUBY

  # A thread that has come to where it waits, and reports no exception.
  STOPPED = <<~'RUBY'
    def stopped(&wait) = Thread.new(&wait).tap { |thread| thread.report_on_exception = false; Thread.pass until thread.stop? }
  RUBY

  # Both die in one collection, in either order.
  DIE = <<~'RUBY'
    def die(times)
      times.times do
        2000.times { Fiber.new { (mutex = Mutex.new).lock; Fiber.yield; mutex }.resume }
        20_000.times { |i| ["x" * 600, i] }
      end
      Thread.current.alive?
    end
  RUBY

  def test_mutex_and_fiber_die
    assert_separately(%w[-W0 --disable-gems], DIE + "assert(die(15))", timeout: 60)
  end

  def test_racing_mutex_and_fiber_die
    assert_ractors(DIE + <<~'RUBY')
      ractors = Array.new(4) { Ractor.new { die(8) } }
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end

  def test_mutex_outlives_its_fiber
    assert_ractors(<<~'RUBY')
      mutex = Mutex.new
      lock = proc { begin mutex.lock rescue $!.message end }
      Fiber.new { mutex.lock; Fiber.yield }.resume
      3.times { 2000.times { Fiber.new { "x" * 600 }.resume }; GC.start }
      assert_match(/owned by another fiber belonging to the same thread/, lock.call)
      waiting = Thread.new(&lock)
      Thread.pass until waiting.stop?
      waiting.kill.join
      assert_predicate(mutex, :locked?)

      # its thread ends: it is free
      thread = Thread.new { (mutex = Mutex.new).lock; Fiber.new { Fiber.yield }.resume }
      thread.join
      GC.start
      assert_same(mutex, lock.call)
    RUBY
  end

  # The end of a thread unlocks what it has, each of which forgets the next one: another thread that locked it had that, too.
  def test_mutexes_of_a_thread_that_has_ended
    assert_ractors(<<~'RUBY')
      a, b = Mutex.new, Mutex.new
      Thread.new { a.lock; b.lock }.join
      Thread.new { b.lock }.join
      a.lock
      Thread.new { b.lock }.join
      assert_predicate(a, :owned?)
      mutexes = Array.new(300) { Mutex.new.tap { |mutex| Thread.new { Mutex.new.lock; mutex.lock }.join } }
      GC.start
      mutexes.each { |mutex| Thread.new { mutex.lock }.join }
      assert_empty(mutexes.select(&:locked?))
    RUBY
  end

  # The handler has the Mutex that its own thread is about to get: once, and with those that the thread has before it.
  def test_mutex_that_a_trap_handler_locks
    assert_ractors(<<~'RUBY')
      before, mutex, after = Array.new(3) { Mutex.new }
      main = Thread.current
      got = nil
      trap(:USR1) { got = mutex.try_lock }
      20.times do
        locked = Queue.new
        other = Thread.new { mutex.synchronize { locked << 1; Thread.pass until main.stop?; Process.kill(:USR1, $$) } }
        locked.pop
        before.synchronize { mutex.lock }
        assert_predicate(mutex, :owned?)
        after.synchronize { mutex.unlock }
        other.join
        break if got
      end
      assert(got, "never in time")
      Thread.new { before.lock; mutex.lock; after.lock }.join
      assert_equal([false] * 3, [before, mutex, after].map(&:locked?))
    RUBY
  end

  # The same, where the one who waits is a Fiber that a scheduler lets wait; and by the scheduler itself.
  def test_mutex_that_is_locked_while_a_scheduler_blocks
    assert_ractors(<<~'RUBY')
      class Scheduler
        def initialize(inside) = @inside = inside
        def block(blocker, timeout = nil)
          Thread.pass until Thread.main[:released]
          @inside.call
          true
        end
        def unblock(blocker, fiber) = nil
        def close = nil
        def kernel_sleep(*) = nil
        def io_wait(*) = nil
        def fiber_interrupt(*) = nil
        def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
      end
      mutex, before = Mutex.new, Mutex.new
      got = []
      trap(:USR1) { got << mutex.try_lock }
      [-> { got << mutex.try_lock }, -> { Process.kill(:USR1, $$); Thread.pass until got.any? }].each do |inside|
        got.clear
        Thread.main[:released] = nil
        locked, go_on = Queue.new, Queue.new
        holder = Thread.new { mutex.lock; locked << 1; go_on.pop; mutex.unlock; Thread.main[:released] = true }
        locked.pop
        Fiber.set_scheduler(Scheduler.new(inside))
        Fiber.schedule do
          before.lock
          go_on << 1
          mutex.lock
          got << mutex.owned?
          mutex.unlock
          got << before.owned?
          before.unlock
        end
        Fiber.set_scheduler(nil)
        holder.join
        assert_equal([true] * 3, got)
        assert_equal([false, false], [mutex, before].map(&:locked?))
      end
    RUBY
  end

  # The threads of other Ractors, which have Mutexes locked, are none in the child.
  def test_racing_mutex_and_fork
    omit "no fork" unless Process.respond_to?(:fork)
    assert_ractors(STATUS + <<~'RUBY')
      3.times do
        Ractor.new do
          mutex = Mutex.new
          2.times.map { Thread.new { loop { mutex.synchronize { Fiber.new { Mutex.new.lock; Fiber.yield }.resume; sleep 0.0005 } } } }.each(&:join)
        end
      end
      statuses = Array.new(20) { status(fork { 3.times { Array.new(30_000) { [1] }; GC.start }; exit!(Ractor.new { Mutex.new.synchronize { 3 } }.take) }) }
      assert_equal([3], statuses.uniq)
    RUBY
  end

  # The others slept on.
  def test_waiter_that_is_woken_and_ends
    assert_ractors(STOPPED + <<~'RUBY')
      ends = [->(t) { t.kill }, ->(t) { t.raise(IOError, "no") }]
      40.times do |i|
        mutex = Mutex.new
        mutex.lock
        waiters = Array.new(3) { stopped { mutex.synchronize { 1 } } }
        mutex.unlock
        waiters.first(2).each(&ends[i % 2])
        assert_equal(1, waiters[2].join(10)&.value)
        waiters.first(2).each { |t| t.join rescue nil }
      end
    RUBY
  end

  # It was woken for the one thing there is.
  def test_waiter_of_a_queue_that_is_woken_and_ends
    assert_ractors(STOPPED + <<~'RUBY')
      ends = [->(t) { t.kill }, ->(t) { t.raise(IOError, "no") }]
      waits = {
        Queue => [-> { Queue.new }, :pop, ->(q) { q << 1 }],
        SizedQueue => [-> { SizedQueue.new(2) }, :pop, ->(q) { q << 1 }],
        "room" => [-> { SizedQueue.new(1).tap { |q| q << 0 } }, ->(q) { q << 2 }, ->(q) { q.pop }],
      }
      20.times do |i|
        waits.each do |name, (make, wait, give)|
          queue = make.call
          waiters = Array.new(3) { stopped { wait.to_proc.call(queue) } }
          give.call(queue)
          waiters.first(2).each(&ends[i % 2])
          assert_same(waiters[2], waiters[2].join(10), name.to_s)
          waiters.first(2).each { |t| t.join rescue nil }
        end

        mutex, signal = Mutex.new, ConditionVariable.new
        waiters = Array.new(3) { stopped { mutex.synchronize { signal.wait(mutex) } } }
        mutex.synchronize do
          signal.signal
          waiters.first(2).each(&ends[i % 2])
        end
        assert_same(waiters[2], waiters[2].join(10))
        waiters.first(2).each { |t| t.join rescue nil }
      end
    RUBY
  end

  # Its time is over when it runs, or its scheduler has gone.
  def test_waiter_that_is_woken_and_does_not_take_it
    assert_ractors(FORGETFUL + STOPPED + <<~'RUBY')
      # +give+ in time, and the thread cannot run before the time is over.
      def late(give)
        sleep 0.02
        give.call
        ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.1
        nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends
      end
      Thread.current.priority = 3

      queue = SizedQueue.new(1)
      queue << 0
      gives_up = stopped { queue.push(1, timeout: 0.06) }
      waits = stopped { queue << 2 }
      late(-> { queue.pop })
      [gives_up, waits].each { |t| assert_same(t, t.join(10)) }

      mutex, signal = Mutex.new, ConditionVariable.new
      gives_up = stopped { mutex.synchronize { signal.wait(mutex, 0.06) } }
      waits = stopped { mutex.synchronize { signal.wait(mutex) } }
      late(-> { signal.signal })
      gives_up.join
      signal.signal if gives_up.value # it was in time
      assert_same(waits, waits.join(10))

      queue = Queue.new
      stopped { Fiber.set_scheduler(Forgetful.new); Fiber.schedule { queue.pop }; Fiber.set_scheduler(nil); sleep }
      waits = stopped { queue.pop }
      queue << 3
      assert_equal(3, waits.join(10)&.value)
    RUBY
  end

  # What one waits by may give nil, though no time is over.
  def test_condition_variable_with_a_sleep_of_ones_own
    assert_ractors(<<~'RUBY')
      class Sleeps
        def sleep(_) = (Kernel.sleep; nil)
      end
      signal = ConditionVariable.new
      waiters = Array.new(4) { Thread.new { signal.wait(Sleeps.new) } }
      Thread.pass until waiters.all?(&:stop?)
      signal.signal
      Thread.pass while waiters.all?(&:alive?)
      sleep 0.05
      assert_equal(3, waiters.count(&:alive?))
    RUBY
  end

  # Nothing is handed on to one that has begun to wait since: it was not signalled.
  def test_waiter_that_is_woken_and_ends_wakes_no_later_one
    assert_ractors(STOPPED + <<~'RUBY')
      20.times do |i|
        mutex, signal = Mutex.new, ConditionVariable.new
        ends = stopped { mutex.synchronize { signal.wait(mutex) } }
        assert_nil(mutex.synchronize { i.odd? ? signal.signal : signal.broadcast; ends.raise(IOError); signal.wait(mutex, 0.02) })
        assert_raise(IOError) { ends.join }
      end
    RUBY
  end

  # As in an ensure: nothing that is raised is lost.
  def test_raising_while_the_next_is_woken
    assert_ractors(FORGETFUL + STOPPED + <<~'RUBY')
      class Raises < Forgetful
        def unblock(*) = raise("no")
      end
      class Waits < Forgetful
        def unblock(*) = ($told << 1; sleep)
      end
      $told = Queue.new
      [[Raises, ->(_) { }, "no", IOError], [Waits, ->(thread) { $told.pop; thread.raise("now") }, "now", NilClass]].each do |scheduler, meanwhile, *raised|
        queue = Queue.new
        ends = stopped { queue.pop }
        other = stopped { Fiber.set_scheduler(scheduler.new); Fiber.schedule { queue.pop }; Fiber.blocking { sleep } }
        queue << 1
        ends.raise(IOError)
        meanwhile.call(ends)
        error = assert_raise(RuntimeError) { ends.join }
        assert_equal(raised, [error.message, error.cause.class])
        other.kill.join
      end
    RUBY
  end

  # A Fiber that is killed wakes the next: what its thread is to raise meanwhile, or its end, is the thread's.
  def test_fiber_that_is_killed_while_the_next_is_woken
    assert_ractors(FORGETFUL + STOPPED + <<~'RUBY')
      [-> { raise "no" }, -> { Thread.current.kill }].map do |unblock|
        scheduler = Class.new(Forgetful) { define_method(:unblock) { |*| unblock.call } }
        queue, go = Queue.new, Queue.new
        seen = []
        kills = stopped do
          Fiber.set_scheduler(Forgetful.new)
          fiber = Fiber.schedule { queue.pop }
          Fiber.blocking { go.pop }
          begin
            fiber.kill
          rescue RuntimeError
            seen << $!.message
          else
            seen << :nothing
          end
        end
        other = stopped { Fiber.set_scheduler(scheduler.new); Fiber.schedule { queue.pop }; Fiber.blocking { sleep } }
        queue << 1
        go << 1
        kills.join(10)
        other.kill.join
        seen
      end.then { |seen| assert_equal([["no"], []], seen) }
    RUBY
  end

  def test_maximum_of_a_queue_that_stays
    assert_ractors(FORGETFUL + <<~'RUBY')
      class Resumes < Forgetful
        def unblock(_, fiber) = fiber.resume
      end
      woken = Thread.new do
        Fiber.set_scheduler(Resumes.new)
        queue = SizedQueue.new(1)
        queue << 0
        Fiber.schedule { queue << 1 }
        queue.max = 1
        queue.max = 2
        queue.size
      end
      assert_equal(2, woken.join(10)&.value)
    RUBY
  end

  # It raises, and is killed while it wakes the next one, by a scheduler: the end stays.
  def test_waiter_that_is_killed_while_it_wakes_the_next
    assert_ractors(REQUIRE_SCHEDULER + <<~'RUBY')
      class Slow < Scheduler
        def unblock(...) = (Thread.current[:wakes] = true; sleep 0.2; super)
      end
      mutex = Mutex.new
      mutex.lock
      went_on = false
      raises = Thread.new do
        begin
          mutex.lock
        rescue IOError
        end
        went_on = true
      end
      Thread.pass until raises.stop?
      waits = Thread.new { Fiber.set_scheduler(Slow.new); Fiber.schedule { mutex.synchronize { } } }
      sleep 0.1
      mutex.unlock
      raises.raise(IOError)
      sleep 0.01 until raises[:wakes]
      raises.kill
      assert_same(raises, raises.join(10))
      assert_not_predicate(raises, :alive?)
      assert(!went_on)
      waits.kill.join
    RUBY
  end

  # A list on the stacks of Fibers that were collected, of threads that have ended.
  def test_fibers_that_wait_for_ever
    assert_ractors(FORGETFUL + <<~'RUBY')
      def forget(&wait)
        3.times do
          Thread.new do
            Fiber.set_scheduler(Forgetful.new)
            5.times { Fiber.schedule(&wait) }
            nil
          end.join
        end
      end

      def collect
        100.times { Fiber.new { Fiber.yield ["x"] * 100 }.resume }
        GC.start
        20.times { Thread.new { }.join }
        100.times { Fiber.new { Fiber.yield ["x"] * 100 }.resume }
      end

      # Who waits last is woken.
      def assert_last(i, wait, give)
        forget(&wait)
        last = Thread.new { wait.call; i }
        Thread.pass until last.stop?
        collect
        give.call
        assert_equal(i, last.join(10)&.value)
      end

      10.times do |i|
        mutex = Mutex.new
        mutex.lock
        assert_last(i, -> { mutex.synchronize { } }, -> { mutex.unlock })
        queue, full, inner, signal = Queue.new, SizedQueue.new(1), Mutex.new, ConditionVariable.new
        full << 0
        assert_last(i, -> { queue.pop }, -> { queue << 1 })
        assert_last(i, -> { full << 1 }, -> { full.pop })
        full.clear
        assert_last(i, -> { full.pop }, -> { full << 1 })
        assert_last(i, -> { inner.synchronize { signal.wait(inner) } }, -> { signal.signal })
        go = false
        thread = Thread.new { Thread.pass until go }
        assert_last(i, -> { thread.join }, -> { go = true })
      end
    RUBY
  end

  # A collection while somebody asks what a list refers to.
  def test_asking_what_a_list_refers_to
    assert_ractors(FORGETFUL + <<~'RUBY')
      require "objspace"
      GC.disable
      lists = [ConditionVariable.new, Queue.new, SizedQueue.new(1), Thread.new { sleep }]
      lists.each do |list|
        Thread.new do
          Fiber.set_scheduler(Forgetful.new)
          100.times { Fiber.schedule { list.is_a?(ConditionVariable) ? Mutex.new.synchronize { |m| list.wait(Mutex.new.tap(&:lock)) } : list.is_a?(Thread) ? list.join : list.pop } }
          nil
        end.join
      end
      GC.enable
      GC.stress = true
      lists.each { |list| assert_not_include(ObjectSpace.reachable_objects_from(list).map(&:class), Fiber) }
    RUBY
  end

  # No scheduler: what the wait runs leaves the Fiber there.
  def test_blocking_fibers_that_are_left_in_a_wait
    assert_ractors(<<~'RUBY')
      class Leaves
        def sleep(_) = Fiber.yield
      end
      signal, queue, thread = ConditionVariable.new, Queue.new, Thread.new { sleep }
      trap(:USR1) { Fiber.yield }
      interrupt = -> { main = Thread.current; Thread.new { Thread.pass until main.stop?; Process.kill(:USR1, $$) } }
      50.times do |i|
        Fiber.new(blocking: true) { signal.wait(Leaves.new) }.resume
        next if i % 10 > 0
        interrupt.call
        Fiber.new(blocking: true) { queue.pop }.resume
        interrupt.call
        Fiber.new(blocking: true) { thread.join }.resume
      end
      5.times { GC.start; 300.times { Fiber.new { Fiber.yield }.resume } }
      assert_equal(5, queue.num_waiting)
    RUBY
  end

  # A scheduler's unblock has the others leave, whom it would have woken next.
  def test_waiters_that_leave_while_all_are_woken
    assert_ractors(FORGETFUL + <<~'RUBY')
      class Others < Forgetful
        attr_accessor :others
        def unblock(_, fiber)
          others, self.others = self.others, nil
          others&.each { |other| other.kill if other != fiber }
          GC.start if others
        end
      end
      10.times do
        mutex, signal, queue = Mutex.new, ConditionVariable.new, Queue.new
        [[-> { mutex.synchronize { signal.wait(mutex) } }, -> { signal.broadcast }], [-> { queue.pop }, -> { queue.close }]].each do |wait, wake|
          alive = Thread.new do
            Fiber.set_scheduler(scheduler = Others.new)
            fibers = Array.new(4) { Fiber.schedule(&wait) }
            scheduler.others = fibers
            wake.call
            fibers.count(&:alive?)
          end
          assert_equal(1, alive.value)
        end
      end
    RUBY
  end

  def test_fork_beside_a_fiber_that_waits
    omit "no fork" unless Process.respond_to?(:fork)
    assert_separately(%w[-W0 --disable-gems], STATUS + REQUIRE_SCHEDULER + <<~'RUBY', timeout: 60)
      mutex = Mutex.new
      mutex.lock
      waiting = Thread.new { Fiber.set_scheduler(Scheduler.new); Fiber.schedule { mutex.synchronize { } } }
      sleep 0.1
      pid = fork do
        last = Thread.new { mutex.synchronize { 7 } }
        Thread.pass until last.stop?
        GC.start
        mutex.unlock
        exit!(last.join(10)&.value || 8)
      end
      assert_equal(7, status(pid))
      mutex.unlock
      assert_same(waiting, waiting.join(10))
    RUBY
  end

  # It, and threads that are none in the child, are in one list, on the stacks of all.
  def test_fork_while_a_fiber_waits
    omit "no fork" unless Process.respond_to?(:fork)
    assert_separately(%w[-W0 --disable-gems], STATUS + FORGETFUL + STOPPED + <<~'RUBY', timeout: 60)
      class Notes < Forgetful
        attr_reader :woken
        def unblock(_, fiber) = @woken = fiber
      end

      forks = lambda do |wait, in_child|
        Thread.new do
          Fiber.set_scheduler(Notes.new)
          [0, 3].flat_map do |before|
            threads = Array.new(before) { stopped(&wait) }
            fiber = Fiber.schedule(&wait)
            threads += Array.new(3 - before) { stopped(&wait) }
            [:kill, :resume, ->(f) { f.raise(IOError) rescue nil }].map do |how|
              pid = fork do
                GC.start
                how.to_proc.call(fiber)
                20.times { Thread.new { "x" * 1000 }.join }
                GC.start
                exit!(in_child.call(fiber) ? 5 : 6)
              end
              status(pid)
            end
          end
        end.value
      end

      mutex = Mutex.new
      stopped { mutex.lock; sleep }
      assert_equal([5] * 6, forks.call(-> { mutex.synchronize { } }, lambda do |_|
        mutex.lock
        last = stopped { mutex.synchronize { } }
        GC.start
        mutex.unlock
        last.join(10)
      end))

      [Queue.new, SizedQueue.new(1)].each do |queue|
        assert_equal([5] * 6, forks.call(-> { queue.pop }, lambda do |fiber|
          queue << 1
          Fiber.scheduler.woken == (fiber.alive? ? fiber : nil)
        end))
      end
    RUBY
  end

  # Garbage that is unlocked, or whose thread ends just now, is freed by whichever Ractor sweeps.
  def test_racing_dead_mutex_and_sweep
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do
        Ractor.new do
          kept = Mutex.new.lock
          40.times do
            Array.new(50) { Thread.new { 20.times { Mutex.new.lock }; Mutex.new.synchronize { Mutex.new } } }.each(&:join)
            20_000.times { Mutex.new.synchronize { nil } }
            100.times { Fiber.new { Mutex.new.lock; Fiber.yield }.resume }
          end
          [kept.locked?, kept.owned?, kept.unlock.locked?]
        end
      end
      ractors.each { |ractor| assert_equal([true, true, false], ractor.take) }
    RUBY
  end
end
