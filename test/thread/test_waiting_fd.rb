# frozen_string_literal: true
# thread/test_waiting_fd.rb - thread/waiting_fd.h: a Ractor closes, by the number of the file, what another one waits for.

require "test/unit"

class TestLockfreeWaitingFd < Test::Unit::TestCase
  # Where: the method in which who waits asks the kernel, or sleeps until the timer thread has.
  PRELUDE = <<~'RUBY'
    require "tmpdir"
    Warning[:experimental] = false

    def wait_for(how, number)
      mode = how.start_with?("write") ? "w" : "r"
      io = IO.for_fd(number, mode, autoclose: false)
      case how
      when "read" then io.read
      when "gets" then io.gets
      when "wait_readable" then io.wait_readable
      when "wait_readable with a time" then io.wait_readable(50)
      when "read with a time" then io.timeout = 50; io.read(1)
      when "read of a FIFO" then io.readpartial(10)
      when "IO::Buffer" then IO::Buffer.new(10).read(io, 1)
      when "write", "write to a FIFO" then io.sync = true; loop { io.write("x" * 10_000) }
      end
    end

    # What +count+ threads that wait get to hear; yields when all of them wait.
    def hear(how, number, count)
      threads = Array.new(count) do
        Thread.new do
          [:none, wait_for(how, number)]
        rescue => error
          [error.class, error.message]
        end
      end
      Thread.pass until threads.all?(&:stop?)
      yield if block_given?
      threads.map(&:value)
    end

    def close(number) = IO.for_fd(number).close

    # The number of what +how+ waits for: of a pipe, full if it is written to; or of a FIFO, where the kernel itself waits.
    def pipe(how = "read")
      return fifo(how) if how.end_with?("FIFO", "Buffer")
      r, w = IO.pipe.each { |io| io.autoclose = false }
      return r.fileno unless how == "write"
      nil while w.write_nonblock("x" * 1000, exception: false) != :wait_writable
      w.fileno
    end

    def fifo(how)
      name = "#{Dir.tmpdir}/test_waiting_fd.#{$$}.#{rand(1_000_000)}"
      File.mkfifo(name)
      file = File.new(name, File::RDWR)
      file.autoclose = false
      file.syswrite("x" * 65_536) if how.start_with?("write")
      file.fileno
    ensure
      File.unlink(name)
    end

    # Nothing is left of those that waited, nor is anything else hit: one Ractor, as always.
    def assert_whole
      r, _w = IO.pipe
      reader = Thread.new { r.read rescue [$!.class, $!.message] }
      Thread.pass until reader.stop?
      r.close
      assert_equal(HEARD, reader.value)
    end

    HEARD = Ractor.make_shareable([IOError, "stream closed in another thread"])
  RUBY

  WAITS = ["read", "gets", "wait_readable"]
  OTHERS = ["wait_readable with a time", "read with a time", "read of a FIFO", "IO::Buffer", "write", "write to a FIFO"]

  def assert_closes(code)
    assert_ractor(PRELUDE + code + "assert_whole\n", timeout: 60)
  end

  # Runs +code+ in a process for each HOW and COUNT, five times.
  def assert_closes_each(waits, counts, code)
    waits.product(counts) do |how, count|
      assert_closes("HOW, COUNT = #{how.dump}.freeze, #{count}\n5.times do\n#{code}end\n")
    end
  end

  def test_ractor_closes_what_main_waits_for
    assert_closes_each(WAITS + OTHERS, [1, 2], <<~'RUBY')
      number = pipe(HOW)
      closer = Ractor.new { close(Ractor.receive) }
      assert_equal([HEARD] * COUNT, hear(HOW, number, COUNT) { closer.send(number) })
      closer.take
    RUBY
  end

  def test_main_closes_what_ractor_waits_for
    assert_closes_each(WAITS + OTHERS, [1, 2], <<~'RUBY')
      number = pipe(HOW)
      waiter = Ractor.new(number) { |number| hear(HOW, number, COUNT) { Ractor.yield(:waits) } }
      waiter.take
      close(number)
      assert_equal([HOW] + [HEARD] * COUNT, [HOW] + waiter.take)
    RUBY
  end

  def test_ractor_closes_what_ractors_wait_for
    assert_closes_each(WAITS, [2], <<~'RUBY')
      number = pipe(HOW)
      waiters = Array.new(3) { Ractor.new(number) { |number| hear(HOW, number, COUNT) { Ractor.yield(:wait) } } }
      waiters.each(&:take)
      Ractor.new(number) { |number| close(number) }.take
      assert_equal([HOW] + [[HEARD] * COUNT] * 3, [HOW] + waiters.map(&:take))
    RUBY
  end

  # Each Ractor has an IO of its own for the number 0.
  def test_ractor_closes_stdin_that_main_reads
    assert_closes(<<~'RUBY')
      $stdin.reopen(IO.pipe[0].tap { |io| io.autoclose = false })
      closer = Ractor.new { Ractor.receive; $stdin.close }
      reader = Thread.new { $stdin.gets rescue [$!.class, $!.message] }
      Thread.pass until reader.stop?
      closer.send(:close)
      assert_equal(HEARD, reader.value)
      closer.take
    RUBY
  end

  # A number that was closed is the next file's at once: who waits for that is told nothing.
  def test_racing_close_and_open_of_the_next_file
    assert_ractor(<<~'RUBY', timeout: 60)
      name = RbConfig::CONFIG["SHELL"]
      ractors = Array.new(6) do
        Ractor.new(name) do |name|
          Array.new(2000) do
            File.open(name) { |file| file.read(10) }
            r, w = IO.pipe
            w.write("x")
            w.close
            text = r.read
            r.close
            text
          rescue => error
            error.message
          end.tally
        end
      end
      assert_equal([{ "x" => 2000 }] * 6, ractors.map(&:take))
    RUBY
  end

  # Both Ractors have threads that wait, and each closes.
  def test_racing_close_and_close
    assert_closes(<<~'RUBY')
      30.times do
        numbers = Array.new(2) { pipe }
        ractors = numbers.zip(numbers.reverse).map do |own, other|
          Ractor.new(own, other) do |own, other|
            hear("read", own, 2) { Ractor.yield(:wait); Ractor.receive; close(other) }
          end
        end
        ractors.each(&:take)
        ractors.each { |ractor| ractor.send(:close) }
        assert_equal([[HEARD] * 2] * 2, ractors.map(&:take))
      end
    RUBY
  end

  # At any moment of the wait's beginning, also before it has begun: then the number is nobody's, or, as the test opens
  # nothing, for ever.
  # One closes, and all bytes arrive that it had to write.
  def test_racing_close_and_close_that_flush
    assert_closes(<<~'RUBY')
      100.times do
        r, w = IO.pipe
        w.autoclose = false
        closers = Array.new(2) do
          Ractor.new(w.fileno) do |number|
            io = IO.for_fd(number, "w", autoclose: false)
            io.sync = false
            io.write("x" * 3000)
            Ractor.receive
            io.close
            :closed
          rescue IOError, SystemCallError
            :told
          end
        end
        closers.each { |closer| closer.send(1) }
        assert_include(closers.map(&:take), :closed)
        IO.for_fd(w.fileno).close rescue nil
        assert_operator(r.read.size, :>=, 3000)
        r.close
      end
    RUBY
  end

  # A scheduler that goes away in the middle of the flush.
  def test_close_that_is_dropped
    assert_closes(<<~'RUBY')
      class Scheduler
        def io_write(*) = Fiber.yield
        def io_wait(*) = Fiber.yield
        def kernel_sleep(*) = Fiber.yield
        def block(*) = Fiber.yield
        def unblock(*) = nil
        def fiber_interrupt(*) = nil
        def close = nil
      end
      Ractor.new { Ractor.receive }
      Thread.new do
        Fiber.set_scheduler(Scheduler.new)
        $kept = Array.new(50) do
          r, w = IO.pipe
          nil while w.write_nonblock("z" * 4096, exception: false) != :wait_writable
          w.sync = false
          Fiber.new(blocking: false) { w.write("x" * 10); w.close }.resume
          [r, w]
        end
      end.join
      5.times { GC.start }
      Array.new(200) { Fiber.new { Fiber.yield Array.new(500) { |i| i.to_s * 3 } }.tap(&:resume) }
      waiters = Array.new(4) { Ractor.new { 200.times { r, w = IO.pipe; w.write("y"); w.close; r.read; r.close }; :read } }
      assert_equal([:read] * 4, waiters.map(&:take))
    RUBY
  end

  def test_racing_close_and_begin_of_wait
    WAITS.each do |how|
      assert_closes("HOW = #{how.dump}.freeze\n" + <<~'RUBY')
        expected = [IOError, Errno::EBADF]
        waiter = Ractor.new do
          loop { number = Ractor.receive; Ractor.yield(Thread.new { wait_for(HOW, number).class rescue $!.class }.value) }
        end
        heard = Array.new(300) do |i|
          number = pipe(HOW)
          waiter.send(number)
          (i % 50 * 20).times { }
          close(number)
          waiter.take
        end
        assert_empty(heard.uniq - expected)
      RUBY
    end
  end

  # The number is another file's at once; no waiter that was found may read there.
  def test_racing_reuse_of_number
    assert_closes(<<~'RUBY')
      100.times do
        number = pipe
        waiters = Array.new(2) { Ractor.new(number) { |number| hear("read", number, 2) { Ractor.yield(:wait) } } }
        waiters.each(&:take)
        close(number)
        r, w = IO.pipe
        assert_equal(number, r.fileno)
        w.write("data")
        w.close
        assert_equal([[HEARD] * 2] * 2, waiters.map(&:take))
        assert_equal("data", r.read)
        r.close
      end
    RUBY
  end

  # The Ractor of the waiter computes until the close is over: the closer does not wait for it.
  def test_closing_what_a_busy_ractor_waits_for
    assert_closes(<<~'RUBY')
      module Closed
        @yes = false
        class << self
          attr_accessor :yes
        end
      end
      number = pipe
      waiter = Ractor.new(number) do |number|
        hear("read", number, 1) do
          Ractor.yield(:waits)
          Array.new(8) { Thread.new { nil until Closed.yes } }.each(&:join)
        end
      end
      waiter.take
      sleep 0.1
      close(number)
      Closed.yes = true
      assert_equal([HEARD], waiter.take)
    RUBY
  end

  # Threads that are killed, or get an exception, while they wait leave nothing behind that a closer would find.
  def test_racing_kill_and_close
    assert_closes(<<~'RUBY')
      class Stop < StandardError; end
      100.times do |i|
        number = pipe
        closer = Ractor.new(number) { |number| Ractor.receive; close(number) }
        threads = %w[read gets wait_readable].cycle.first(6).map do |how|
          Thread.new { catch(:out) { wait_for(how, number) } rescue nil }
        end
        Thread.pass until threads.all?(&:stop?)
        closer.send(:close) if i.even?
        threads.each_slice(2) { |a, b| a.kill; b.raise(Stop) }
        closer.send(:close) if i.odd?
        threads.each(&:join)
        closer.take
        Array.new(4) { Thread.new { [0] * 1000 } }.each(&:join) # their stacks are used again
      end
    RUBY
  end

  # IO#reopen gives the number to another file.
  def test_racing_reopen
    assert_closes(<<~'RUBY')
      20.times do
        number = pipe
        waiter = Ractor.new(number) { |number| hear("wait_readable", number, 2) { Ractor.yield(:waits) } }
        waiter.take
        r, _w = IO.pipe
        IO.for_fd(number, autoclose: true).tap { |io| io.reopen(r) }.close
        assert_equal([HEARD] * 2, waiter.take)
      end
    RUBY
  end

  # The child's list is the forking thread's own waits, not those of the threads that are gone.
  def test_fork_in_the_middle_of_a_wait
    omit("no fork") unless Process.respond_to?(:fork)
    assert_closes(<<~'RUBY')
      r, w = IO.pipe
      other, _w = IO.pipe
      readers = Array.new(3) { Thread.new { other.read } }
      Thread.pass until readers.all?(&:stop?)
      child = nil
      trap(:USR1) { child = fork }
      Thread.new { sleep 0.1; Process.kill(:USR1, $$); sleep 0.2; w << "xx" }
      r.wait_readable
      if child
        Process.wait(child)
        assert_equal(0, $?.exitstatus || $?.to_s)
        readers.each(&:kill).each(&:join)
      else
        20.times do
          Array.new(5) { Thread.new { sleep 0.001 } }.each(&:join)
          a, _b = IO.pipe
          reader = Thread.new { a.read rescue $!.class }
          Thread.pass until reader.stop?
          a.close
          exit!(1) if reader.value != IOError
        end
        exit!(0)
      end
    RUBY
  end

  def test_moving_what_a_thread_waits_for
    ["r.read", "r.gets", "r.wait_readable", "r.wait_readable(50)", "r.sysread(1)"].each do |wait|
      assert_ractor(<<~RUBY, timeout: 30)
        r, w = IO.pipe
        receiver = Ractor.new { Ractor.receive.read }
        reader = Thread.new { #{wait} }
        Thread.pass until reader.stop?
        assert_raise_with_message(Ractor::Error, "can not move an IO that is in use") { receiver.send(r, move: true) }
        assert_raise_with_message(Ractor::Error, "can not move an IO that is in use") { receiver.send([r], move: true) }
        reader.kill.join
        receiver.send(r, move: true)
        w << "text"
        w.close
        assert_equal("text", receiver.take)
      RUBY
    end
  end

  def test_moving_what_a_thread_writes_to
    assert_ractor(<<~'RUBY', timeout: 30)
      r, w = IO.pipe
      writer = Thread.new { w.write("x" * 1_000_000) }
      Thread.pass until writer.stop?
      receiver = Ractor.new { Ractor.receive.close }
      assert_raise(Ractor::Error) { receiver.send(w, move: true) }
      assert_equal(1_000_000, r.read(1_000_000).size)
      writer.join
      receiver.send(w, move: true)
      assert_equal([nil, ""], [receiver.take, r.read])
    RUBY
  end

  # A Ractor that waits for the same number by an IO of its own does not keep a File from being moved.
  def test_moving_what_another_ractor_waits_for
    assert_ractor(<<~'RUBY', timeout: 30)
      r, w = IO.pipe
      waiter = Ractor.new(r.fileno) { |number| IO.for_fd(number, autoclose: false).wait_readable.class }
      sleep 0.1
      receiver = Ractor.new { Ractor.receive.class }
      receiver.send(r, move: true)
      assert_equal(IO, receiver.take)
      w << "x"
      assert_equal(IO, waiter.take)
    RUBY
  end

  # The second one waits for the first one's write_lock, and goes on with the file.
  def test_racing_move_and_write_that_is_next
    assert_ractor(<<~'RUBY', timeout: 60)
      sink = Ractor.new { loop { Ractor.receive.close; Ractor.yield(:closed) } }
      results = Array.new(20) do
        r, w = IO.pipe
        w.sync = true
        w.write("z" * 60_000)
        first = Thread.new do
          w.write("x" * 20_000)
          sink.send(w, move: true)
          sink.take
        rescue Ractor::Error => error
          error.message
        end
        Thread.pass until first.stop?
        second = Thread.new { w.write("y" * 5000) rescue $!.class }
        Thread.pass until second.stop?
        reader = Thread.new { r.read(85_000)&.size rescue $!.class }
        heard = first.value
        w.close if heard != :closed
        [heard, second.value, reader.value.class]
      end
      said = "can not move an IO that is in use"
      results.each { |result| assert_include([[:closed, Ractor::MovedError], [:closed, 5000], [said, 5000], [said, IOError]], result.first(2)) }
    RUBY
  end

  # The same where a handler moves it that runs while main waits for the lock.
  def test_moving_in_a_trap_what_main_waits_to_write_to
    assert_separately(%w[-W:no-experimental], <<~'RUBY', timeout: 30)
      5.times do
        r, w = IO.pipe
        w.sync = true
        w.write("z" * 60_000)
        sink = Ractor.new { Ractor.receive.close; 30.times { IO.pipe.each(&:close) }; 2.times { GC.start }; Ractor.yield(:closed) }
        first = Thread.new { w.write("x" * 20_000) }
        Thread.pass until first.stop?
        heard = nil
        trap(:USR1) do
          r.read(80_000)
          first.join
          sink.send(w, move: true)
          heard = sink.take
        end
        main = Thread.main
        Thread.new { Thread.pass until main.stop?; sleep 0.05; Process.kill(:USR1, $$) }
        assert_raise(Ractor::MovedError) { w.write("y" * 5000) }
        assert_equal(:closed, heard)
      end
    RUBY
  end

  # A signal for the process may be given to any thread: Process.kill of a thread's number prefers that one.
  def test_signal_to_a_thread_that_reads
    assert_separately(%w[-W:no-experimental], <<~'RUBY', timeout: 30)
      require "tmpdir"
      trap(:USR1) { $heard = true }
      Dir.mktmpdir do |folder|
        File.mkfifo(name = "#{folder}/fifo")
        file = File.open(name, "r+")
        r, w = IO.pipe # of which nobody is told EAGAIN either
        [Thread, Ractor].product([[file, file], [r, w]]).each do |kind, (from, to)|
          numbers, number = IO.pipe
          reader = kind.new(from.fileno, number.fileno) do |from, number|
            own = IO.for_fd(from, autoclose: false)
            IO.for_fd(number, "w", autoclose: false).syswrite("#{Thread.current.native_thread_id}\n")
            own.sysread(5)
          rescue => error
            error.class
          end
          thread = numbers.gets.to_i
          50.times { sleep 0.002; $heard = false; Process.kill(:USR1, thread); Thread.pass until $heard }
          to.syswrite("hello")
          assert_equal("hello", reader.is_a?(Thread) ? reader.value : reader.take)
        end
      end
    RUBY
  end

  # main is interrupted to load, and not told so; of a handler that ran it is, as upstream, and of what waits for later.
  def test_load_in_a_ractor_while_main_reads
    assert_separately(%w[-W:no-experimental], <<~'RUBY', timeout: 30)
      require "tmpdir"
      Dir.mktmpdir do |folder|
        File.mkfifo(name = "#{folder}/fifo")
        file = File.open(name, "r+")
        r, w = IO.pipe
        [[file, file], [r, w]].each do |from, to|
          loader = Ractor.new(to.fileno) do |to|
            50.times { sleep 0.002; require "set" }
            IO.for_fd(to, "w", autoclose: false).syswrite("hello")
          end
          assert_equal("hello", from.sysread(5))
          loader.take
        end

        trap(:USR1) { }
        Ractor.new { 20.times { sleep 0.05; Process.kill(:USR1, $$) } }
        assert_raise(Errno::EINTR) { file.sysread(5) }

        reads = heard = nil
        object = Object.new
        main = Thread.main
        ObjectSpace.define_finalizer(object, proc { reads = true; heard = (file.sysread(1) rescue $!.class) })
        object = nil
        Thread.new { Thread.pass until reads; sleep 0.1; main.raise(Interrupt, "out") }
        assert_raise(Interrupt) { 100.times { Object.new; GC.start }; sleep 10 }
        assert_equal(Errno::EINTR, heard)
      end
    RUBY
  end

  # What a Fiber scheduler is given instead of an IO is its own affair.
  def test_hook_without_an_io
    assert_separately(%w[-W:no-experimental], <<~'RUBY', timeout: 30)
      scheduler = Class.new do
        def io_read(_io, _buffer, _length, _offset) = 0
        %i[block unblock kernel_sleep io_wait fiber_interrupt close].each { |name| define_method(name) { |*| } }
        def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
      end
      results = []
      Thread.new do
        Fiber.set_scheduler(scheduler.new)
        Fiber.schedule { results = [nil, 1, :a, 1.5].map { |io| IO::Buffer.new(8).read(io, 4) } }
      end.join
      assert_equal([0] * 4, results)
    RUBY
  end

  # A scheduler that forgets whom it waits for, or goes with its thread: [6].
  FORGETFUL = <<~'RUBY'
    class Forgetful
      def initialize(loop) = @loop = loop
      def io_wait(_io, _events, _timeout) = @loop.transfer
      def block(*) = @loop.transfer
      def unblock(*) = nil
      def kernel_sleep(*) = @loop.transfer
      def close = nil
      def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:transfer)
    end

    def forget(&block)
      Thread.new { Fiber.set_scheduler(Forgetful.new(Fiber.current)); Fiber.schedule(&block) }.join
    end

    def collect
      GC.start
      20.times { Thread.new { Fiber.new { [1].each { } }.resume }.join }
      GC.start
    end

    def waits
      r, w = IO.pipe
      forget { r.read(1) }
      forget { r.timeout = 5; r.readpartial(1) }
      forget { w.write("x" * 200_000) }
      yield
      [r, w].each(&:close)
      [r, w].map(&:closed?)
    end
  RUBY

  def assert_forgotten(code)
    assert_separately(%w[-W:no-experimental], "#{FORGETFUL}#{code}\n" + <<~'RUBY', timeout: 60)
      assert_equal([true, true], forgotten)
      assert_equal([[true, true]] * 4, Array.new(4) { Ractor.new { forgotten } }.map(&:take))
      assert_equal("a", IO.pipe.then { |r, w| w << "a"; w.close; r.read })
    RUBY
  end

  def test_closing_what_a_forgotten_fiber_waits_for = assert_forgotten("def forgotten = waits { collect }")

  def test_closing_what_a_fiber_of_a_thread_that_has_ended_waits_for = assert_forgotten("def forgotten = waits { }")

  # The Fiber that closes is forgotten, and who reads leaves when it is gone, or before.
  def test_closer_that_is_forgotten
    assert_forgotten(<<~'RUBY')
      def forgotten
        [-> { collect }, -> { }].map do |after|
          r, w = IO.pipe
          reader = Thread.new { r.read rescue $!.class }
          Thread.pass until reader.stop?
          forget { r.close }
          after.call
          w.close
          reader.value == IOError
        end
      end
    RUBY
  end

  def test_closer_that_is_killed_while_it_waits
    assert_forgotten(<<~'RUBY')
      def forgotten
        [:kill, :raise].map do |how|
          r, w = IO.pipe
          reader = Thread.new { Thread.handle_interrupt(IOError => :never) { r.read(1) } rescue $!.class }
          Thread.pass until reader.stop?
          closer = Thread.new { r.close }
          closer.report_on_exception = false
          Thread.pass until closer.stop?
          closer.send(how)
          closer.join rescue nil
          collect
          w << "a"
          reader.join
          w.close
          true
        end
      end
    RUBY
  end

  # Who closes does not wait for a Fiber that is in its scheduler, and the Fiber is told when it is resumed.
  def test_closing_what_a_fiber_of_another_ractor_waits_for
    assert_separately(%w[-W:no-experimental], FORGETFUL + <<~'RUBY', timeout: 30)
      r, _w = IO.pipe
      ractor = Ractor.new(r.fileno) do |number|
        waiting = nil
        Thread.new do
          Fiber.set_scheduler(Forgetful.new(Fiber.current))
          waiting = Fiber.schedule { IO.for_fd(number, autoclose: false).read(1) rescue Ractor.yield([$!.class, $!.message]) }
          Ractor.yield :waits
          Ractor.receive
          waiting.transfer(true)
        end.join
        nil
      end
      assert_equal(:waits, ractor.take)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      r.close
      assert_operator(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, :<, 0.9) # WAITING_FD_PATIENCE is 1
      ractor.send(:go)
      assert_equal([IOError, "stream closed in another thread"], ractor.take)
    RUBY
  end

  # In the child the closer's stack is there, and of the Fiber that it waited for only what the collector finds.
  def test_fork_in_the_middle_of_a_close
    omit("no fork") unless Process.respond_to?(:fork)
    assert_separately(%w[-W:no-experimental], FORGETFUL + <<~'RUBY', timeout: 60)
      Thread.report_on_exception = false
      r, _w = IO.pipe
      waiting = nil
      Thread.new do
        Fiber.set_scheduler(Forgetful.new(Fiber.current))
        waiting = Fiber.schedule { r.read(1) }
        loop { sleep rescue nil }
      end
      Thread.pass until waiting
      main = Thread.current
      child = nil
      trap(:USR1) { child = fork; raise "out" unless child }
      Thread.new { sleep 0.1; Process.kill(:USR1, $$); sleep 0.5; main.raise("done") }
      begin
        r.close
      rescue RuntimeError
        unless child
          deep = ->(n) { n == 0 ? GC.start : [n].each { deep.(n - 1) } }
          20.times { |n| deep.(n) }
          waiting = nil
          20.times { |n| deep.(n) }
          exit!(0)
        end
      end
      Process.wait(child)
      assert_equal(0, $?.exitstatus || $?.to_s)
    RUBY
  end

  # The closer is a Fiber, which its scheduler resumes when the thread that it waits for has ended.
  def test_scheduled_closer_of_what_a_thread_that_ends_waits_for
    assert_separately(%w[-W:no-experimental], FORGETFUL + <<~'RUBY', timeout: 60)
      Thread.report_on_exception = false
      class Waking < Forgetful
        attr_reader :woken
        def unblock(_blocker, fiber) = @woken = fiber
      end
      r, _w = IO.pipe
      waits = nil
      reader = Thread.new do
        Fiber.set_scheduler(Forgetful.new(Fiber.current))
        waits = Fiber.schedule { r.read(1) }
        sleep
      end
      Thread.pass until waits
      closer = Thread.new do
        Fiber.set_scheduler(scheduler = Waking.new(Fiber.current))
        closing = Fiber.schedule { r.close }
        reader.join rescue nil
        closing.transfer if scheduler.woken.equal?(closing)
        r.closed?
      end
      assert_equal(true, closer.value)
    RUBY
  end
end
