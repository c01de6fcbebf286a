# frozen_string_literal: true
# ractor/test_fork.rb - ractor/fork.c: fork a process whose Ractors run.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeRactorFork < Test::Unit::TestCase
  include LockfreeAssertRactors

  PREAMBLE = STATUS + <<~'RUBY'
    COMPUTE = 3.times.map do
      Ractor.new { i = 0; loop { i += 1; [i].map { |x| x.to_s }; Fiber.new { i }.resume if i % 50 == 0 } }
    end
    sleep 0.05
  RUBY

  def assert_forks(code, environment = {}, **how)
    omit("no fork") unless Process.respond_to?(:fork)
    YJIT.each do |options|
      assert_separately([environment, *%w[-W:no-experimental --disable-gems], *options], PREAMBLE + code, timeout: 100, **how)
    end
  end

  def test_racing_fork_and_compute
    assert_forks(<<~'RUBY')
      results = 40.times.map do
        status(fork do
          GC.start
          answer = Ractor.new { Array.new(1000) { |i| i.to_s }.size }.take
          answer += Thread.new { Fiber.new { 1 }.resume }.value
          GC.start
          exit!(answer == 1001 ? 7 : 8)
        end)
      end
      assert_equal({7 => 40}, results.tally)
    RUBY
  end

  def test_other_ractors_in_the_child
    assert_forks(<<~'RUBY')
      ended = Ractor.new { :last_word }
      sleep 0.1
      results = 10.times.map do
        status(fork do
          raised = [-> { COMPUTE[0].take }, -> { COMPUTE[1].send(1) }, -> { Ractor.select(COMPUTE[2]) }].map do |call|
            call.call
          rescue Ractor::ClosedError, Ractor::Error # the latter from select
            :closed
          end
          exit!(raised == [:closed] * 3 && ended.take == :last_word && Ractor.count == 1 ? 7 : 8)
        end)
      end
      assert_equal({7 => 10}, results.tally)
    RUBY
  end

  def test_racing_fork_and_fork
    assert_forks(<<~'RUBY')
      ractors = 3.times.map do
        Ractor.new do
          15.times.map do
            pid = fork { GC.start; answer = Ractor.new { 41 }.take; Thread.new { answer += 1 }.join; exit!(answer) }
            status(pid)
          end
        end
      end
      assert_equal({42 => 45}, ractors.flat_map(&:take).tally)
    RUBY
  end

  # An ended thread has destroyed its lock before it is no more one of its Ractor's.
  def test_racing_fork_and_end_of_thread
    assert_forks(<<~'RUBY')
      2.times { Ractor.new { loop { Array.new(5) { Thread.new { 1 } }.each(&:join) } } }
      ractors = 3.times.map { Ractor.new { Array.new(20) { status(Thread.new { fork { exit!(7) } }.value) } } }
      assert_equal({7 => 60}, ractors.flat_map(&:take).tally)
    RUBY
  end

  # Main's thread, on a native thread of all Ractors in the child, ends while another one has its Ractor in hand.
  def test_end_of_a_child_of_many_threads
    assert_forks(<<~'RUBY')
      ractors = 3.times.map do
        Ractor.new do
          Array.new(20) { status(fork { 20.times { Thread.new { loop { sleep 0.0002 } } }; sleep 0.001; exit(7) }) }
        end
      end
      assert_equal({7 => 60}, ractors.flat_map(&:take).tally)
    RUBY
  end

  # Main, which ends, is woken by the last of its threads.  Upstream waits for a second.
  def test_end_of_a_child_with_a_thread
    assert_children_end_at_once
  end

  # Nor waits it for the native thread of the last to leave that, which has carried main on.
  def test_end_of_a_child_with_a_thread_free_at_exit
    assert_children_end_at_once({"RUBY_FREE_AT_EXIT" => "1"}, ignore_stderr: true) # it warns
  end

  def assert_children_end_at_once(...)
    assert_forks(<<~'RUBY', ...)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      ended = Ractor.new { Array.new(30) { status(fork { Thread.new { sleep }; exit(7) }) } }.take
      assert_equal({7 => 30}, ended.tally)
      assert_operator(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, :<, 25)
    RUBY
  end

  def test_other_ways_to_make_a_process
    assert_forks(<<~'RUBY')
      assert_equal(["told"] * 5, Array.new(5) { IO.popen("-") { |io| io ? io.read : print(Ractor.new { "told" }.take) } })
      assert_equal(["1\n"] * 10, Array.new(10) { `echo 1` })
      assert_equal([true] * 10, Array.new(10) { system("true") })
      assert_equal([3] * 10, Array.new(10) { status(spawn("exit 3")) })
      read, write = IO.pipe
      5.times do
        status(fork { Process.daemon(true, true); write.puts(Ractor.new { 5 }.take); exit })
        assert_equal("5\n", read.gets)
      end
    RUBY
  end

  # With the handlers of at_exit, and the end of the child's Ractors.
  def test_exit_of_the_child
    assert_forks(<<~'RUBY')
      results = 10.times.map { status(fork { at_exit { exit(9) }; Ractor.new { loop { } }; Ractor.new { sleep }; 1 }) }
      assert_equal({9 => 10}, results.tally)
    RUBY
  end

  # Two Ractors stop the timer thread; one waited for the thread that the other had started again.
  def test_racing_exec_and_exec
    assert_ractor(<<~'RUBY', timeout: 60)
      failing = Array.new(4) do
        Ractor.new { 100.times { exec("/none") rescue $!.class }; (exec("/none") rescue $!.class) }
      end
      pids = Array.new(20) { fork { exit!(3) } }
      assert_equal([Errno::ENOENT] * 4, failing.map(&:take))
      assert_equal([3] * 20, pids.map { |pid| Process.wait2(pid).last.exitstatus })
      counting = Thread.new { i = 0; i += 1 while true }
      assert_equal(20, 20.times { Thread.pass; sleep(0.001) }) # the timer thread makes threads take turns
      counting.kill
    RUBY
  end

  # The thread that forked is the child's main thread, and its end that of the process.
  def test_end_of_a_ractor_that_forked
    omit("no fork") unless Process.respond_to?(:fork)
    program = PREAMBLE + <<~'RUBY' # not in assert_separately: its at_exit says in the child, too, how that ended
      ractors = %i[return exit raise thread].map do |ending|
        Ractor.new(ending) do |ending|
          pid = fork and next pid
          $stderr = File.open(File::NULL, "w")
          case ending
          when :exit then exit(3)
          when :raise then raise "not shown"
          when :thread then Thread.new { sleep 0.01 }
          end
        end
      end
      p(ractors.map { |ractor| status(ractor.take) })
    RUBY
    YJIT.each do |options|
      out, = EnvUtil.invoke_ruby(["-W0", "--disable-gems", *options, "-e", program], "", true, true, timeout: 100)
      assert_equal("[0, 3, 1, 0]\n", out)
    end
  end

  # The threads of the other Ractors are freed in the child.
  def test_closing_other_ractors_in_the_child
    assert_forks(<<~'RUBY')
      others = Array.new(4) { Ractor.new { Ractor.yield(1); 4.times { Thread.new { Ractor.receive } }; Ractor.yield(2) } }
      others.each(&:take)
      sleep 0.2
      results = 5.times.map do
        status(fork do
          10.times { GC.start; Array.new(2000) { +"x" * 300 }; Array.new(50) { Thread.new { } }.each(&:join) }
          others.each { |ractor| ractor.close_outgoing; ractor.close_incoming }
          exit!(Ractor.new { 7 }.take)
        end)
      end
      assert_equal({7 => 5}, results.tally)
    RUBY
  end

  # Messages that other threads of the Ractor look at, or wait to look at, are there again in the child.
  def test_racing_fork_and_receive_if
    assert_forks(<<~'RUBY')
      messages = %i[a b c d]
      messages.each { |message| Ractor.current.send(message) }
      waiting = 2.times.map { Thread.new { Ractor.receive_if { sleep } } }
      sleep 0.1
      assert_equal(7, status(fork { exit!(Array.new(4) { Ractor.receive } == messages ? 7 : 8) }))
      waiting.each(&:kill).each(&:join)
    RUBY
  end

  def test_racing_fork_in_receive_if_and_receive_if
    assert_forks(<<~'RUBY')
      messages = %i[a b c d]
      messages.each { |message| Ractor.current.send(message) }
      second = Thread.new { sleep 0.1; Ractor.receive_if { true } }
      pid = nil
      first = Ractor.receive_if { sleep 0.2; pid = fork; true }
      exit!([first, *Array.new(3) { Ractor.receive }] == messages ? 7 : 8) unless pid
      assert_equal(7, status(pid))
      assert_equal(messages, [first, second.value, Ractor.receive, Ractor.receive])
    RUBY
  end

  # The child's only thread looks at one: it does not get it once more, but what its other Fiber had come to.
  def test_fork_in_receive_if_of_one_of_two_fibers
    assert_forks(REQUIRE_SCHEDULER + <<~'RUBY')
      4.times { |i| Ractor.current.send(i) }
      found = []
      pid = nil
      Thread.new do
        Fiber.set_scheduler(Scheduler.new)
        Fiber.schedule do
          found << Ractor.receive_if do
            sleep 0.1
            pid = fork { exit!(Thread.new { Array.new(3) { Ractor.receive } }.value == [1, 2, 3] ? 7 : 8) }
            true
          end
        end
        Fiber.schedule { found << Ractor.receive_if { true } }
      end.join
      assert_equal([0, 1], found)
      assert_equal(7, status(pid))
    RUBY
  end

  # The child has the message of a Fiber that was collected, and was not marked.
  def test_fork_beside_a_fiber_left_in_receive_if
    assert_forks(<<~'RUBY')
      4.times { |i| Ractor.current.send("message #{i} " * 10) }
      def left = Fiber.new { Ractor.receive_if { Fiber.yield; true } }.resume
      def deep(n) = n == 0 ? 0 : deep(n - 1) + 1
      thread = Thread.new { left; deep(2000); 200.times { Fiber.new { deep 10 }.resume }; sleep }
      Thread.pass until thread.stop?
      3.times { GC.start; Array.new(1000) { [it] } }
      pid = fork { GC.start; exit!(Array.new(4) { Ractor.receive[/\d/].to_i } == [0, 1, 2, 3] ? 7 : 8) }
      assert_equal(7, status(pid))
    RUBY
  end

  # It ends without leaving the block: its other thread's last words wait for nothing.
  def test_end_of_a_child_forked_in_receive_if
    assert_forks(<<~'RUBY')
      2.times { |i| Ractor.current.send(i) }
      reader, writer = IO.pipe
      pid = nil
      Ractor.receive_if do
        pid = fork do
          thread = Thread.new do
            sleep
          ensure
            writer.syswrite("#{Ractor.receive_if { true }}\n")
          end
          Thread.pass until thread.stop?
        end
        true
      end
      assert_equal(0, status(pid))
      assert_equal("1\n", reader.gets)
    RUBY
  end

  # What waited in the parent is freed in the child, with the Ractors that it waited for.
  def test_selectors_in_the_child
    assert_forks(<<~'RUBY')
      answers = Array.new(10) { Ractor.new { Ractor.receive } }
      waiting = Array.new(4) { Ractor.new(answers) { |answers| Ractor.select(*answers) } }
      Ractor.select(Ractor.new { 1 }, *answers)
      sleep 0.1
      results = 5.times.map do
        status(fork do
          answers = waiting = nil
          10.times { GC.start; Array.new(2000) { +"x" * 300 } }
          exit!(7)
        end)
      end
      assert_equal({7 => 5}, results.tally)
    RUBY
  end

  # What +code+ writes to a pipe.
  def written(code)
    omit("no fork") unless Process.respond_to?(:fork)
    out, err, status = EnvUtil.invoke_ruby(%w[-W:no-experimental --disable-gems -e] << code, "", true, true, timeout: 60)
    assert_predicate(status, :success?, err)
    assert_empty(err)
    out
  end

  # In stock the Ractor waits for the lock of main's thread: `No live threads left. Deadlock?`
  def test_racing_popen_and_writing
    out = written(<<~'RUBY')
      ractors = 4.times.map { Ractor.new { 60.times { IO.popen(["true"]).close } } }
      ending = Thread.new { ractors.each(&:take) }
      n = 0
      while ending.alive? || n < 20_000
        $stdout.write("line #{n} #{"x" * (n % 97)}\n")
        n += 1
      end
    RUBY
    lines = out.lines
    assert_operator(lines.size, :>=, 20_000)
    assert_equal(lines.each_index.map { |n| "line #{n} #{"x" * (n % 97)}\n" }, lines)
  end

  # A child that lives would keep open the pipe by which exec says that it has succeeded.  Who reads from that would hold
  # up the next fork, and that the child's end.
  def test_racing_system_and_children_that_live
    assert_forks(<<~'RUBY')
      systems = Array.new(4) { Ractor.new { Array.new(40) { system("true") }.tally } }
      forks = Array.new(2) do
        Ractor.new do
          Array.new(40) do
            pid = fork { sleep }
            sleep 0.01
            Process.kill(:KILL, pid)
            Process.wait2(pid)[1].termsig
          end.tally
        end
      end
      assert_equal([{true => 40}] * 4 + [{9 => 40}] * 2, (systems + forks).map(&:take))
    RUBY
  end

  # The child has the moment at which another Ractor finalizes, which is no more.
  def test_racing_fork_and_finalizers
    assert_finalizes
  end

  # What that one was about to free is nobody's in the child: "gc_sweep(): unknown data type".
  def test_racing_fork_and_finalizers_free_at_exit
    assert_finalizes({"RUBY_FREE_AT_EXIT" => "1"}, ignore_stderr: true) # it warns
  end

  def assert_finalizes(...)
    assert_forks(<<~'RUBY', ...)
      require "tmpdir"
      Array.new(2) do
        Ractor.new { loop { 300.times { File.open("/dev/null") }; 2000.times { Object.new }; GC.start(full_mark: false) } }
      end
      Dir.mktmpdir do |folder|
        written = Array.new(60) do |i|
          file = File.join(folder, i.to_s)
          ended = status(fork { $file = File.open(file, "w"); $file.write("data") })
          [ended, File.read(file)]
        end
        assert_equal({[0, "data"] => 60}, written.tally)
      end
    RUBY
  end

  def test_what_main_has_written_comes_before_what_a_child_writes
    assert_equal("main\nRactor\nchild\n", written(<<~'RUBY'))
      $stdout.write "main\n"
      Ractor.new { $stdout.write "Ractor\n"; system("echo", "child") }.take
    RUBY
  end

  def test_spawn_stops_nobody_while_main_has_buffered_nothing
    assert_separately(%w[-W:no-experimental --disable-gems --ractor-stats=/dev/null], STATUS + <<~'RUBY')
      $stdout.flush
      $stderr.flush
      GC.disable
      ended, stops = Ractor.new(name: "spawns") do
        spawned = Array.new(30) { status(spawn("exit 3")) }
        [spawned, RubyVM::Lockfree.waits[:ractors].find { |r| r[:name] == "spawns" }.dig(:states, :stopping, :count)]
      end.take
      assert_equal([3] * 30, ended)
      assert_operator(stops, :<, 30)
    RUBY
  end

  # What $stdout is freed and made anew, or is another File, while it is looked at.
  def test_racing_spawn_and_initialize_of_stdout
    assert_forks(<<~'RUBY')
      original = $stdout
      spawns = 2.times.map { Ractor.new { Array.new(150) { status(spawn("exit 3")) } } }
      ended = Thread.new { spawns.flat_map(&:take) }
      $stdout = file = File.new(IO::NULL, "w")
      while ended.alive?
        file.write("x")
        IO.instance_method(:initialize).bind_call(file, IO.sysopen(IO::NULL, "w"), "w")
        $stdout.write("y")
        $stdout = file = File.new(IO::NULL, "w") if rand(3) == 0
      end
      $stdout = original
      assert_equal([3] * 300, ended.value)
    RUBY
  end

  # More than the pipe has room for, which nobody reads yet.
  def test_fork_while_main_can_not_write
    assert_equal("9\n", written(<<~'RUBY'))
      reader, writer = IO.pipe
      original, $stdout = $stdout, writer
      nil until writer.write_nonblock("y" * 4096, exception: false) == :wait_writable
      writer.sync = false
      writer.write("z" * 500)
      child = Ractor.new { Process.wait2(fork { exit!(9) })[1].exitstatus }.take
      original.puts child
      original.flush
      exit!(0)
    RUBY
  end

  def test_what_other_ractors_have_written_is_not_written_by_the_child
    [%w[main Ractor], %w[Ractor main]].each do |forks, other|
      assert_equal(%w[Ractor child main], written(<<~RUBY).lines(chomp: true).sort)
        ractor = Ractor.new do
          $stdout.write "Ractor\n"
          Process.wait(fork { $stdout.write "child\n" }) if #{forks == "Ractor"}
          Ractor.yield 1
          Ractor.receive
        end
        $stdout.write "main\n"
        ractor.take
        Process.wait(fork { $stdout.write "child\n" }) if #{forks == "main"}
      RUBY
    end
  end

  # Nor are their Files, as it collects, or ends.  Its own, and what it opens, are, as ever: by parent and child.
  def test_files_of_other_ractors
    assert_separately(%w[-W:no-experimental --disable-gems], STATUS + <<~'RUBY')
      require "tmpdir"
      Dir.mktmpdir do |folder|
        PATHS = Ractor.make_shareable(%w[main Ractor child grandchild].to_h { |name| [name, File.join(folder, name)] })
        def begun(name) = File.open(PATHS[name], "a").tap { |file| file.write("#{name}\n") }

        ractor = Ractor.new do
          opened = begun("Ractor")
          Ractor.yield(:begun)
          Ractor.receive
          Ractor.yield(fork { GC.start; $opened = begun("child") })
          Ractor.receive
          opened.close
        end
        ractor.take
        opened = begun("main")
        assert_equal(0, status(fork { GC.start; $opened = begun("child"); exit(status(fork { GC.start; begun("grandchild") })) }))
        ractor.send(:fork)
        assert_equal(0, status(ractor.take))
        ractor.send(:close)
        ractor.take
        opened.close
        lines = PATHS.transform_values { |path| File.foreach(path).count }
        # main's by itself, its child, and the child of that.
        assert_equal({ "main" => 3, "Ractor" => 2, "child" => 3, "grandchild" => 1 }, lines)
      end
    RUBY
  end

  # After Process.daemon there is no parent to do so.
  def test_files_of_other_ractors_in_a_daemon
    assert_separately(%w[-W:no-experimental --disable-gems], STATUS + <<~'RUBY')
      require "tmpdir"
      Dir.mktmpdir do |folder|
        path, done = %w[written done].map { |name| File.join(folder, name) }
        assert_equal(0, status(fork do
          ractor = Ractor.new(path) { |name| file = File.open(name, "w"); file.write("Ractor\n"); Ractor.yield 1; sleep }
          ractor.take
          Process.daemon(true, true)
          at_exit { File.write(done, "") }
        end))
        2000.times { File.size?(path) && File.exist?(done) ? break : sleep(0.01) }
        assert_equal("Ractor\n", File.read(path))
      end
    RUBY
  end

  # Nor is the sequence by which an encoding goes back to its first state.
  def test_file_of_another_ractor_in_a_stateful_encoding
    assert_separately(%w[-W:no-experimental --disable-gems], STATUS + <<~'RUBY')
      require "tmpdir"
      Dir.mktmpdir do |folder|
        path = File.join(folder, "written").freeze
        ractor = Ractor.new(path) do |name|
          File.open(name, "w:iso-2022-jp") { |file| file.write("\u3042"); Ractor.yield 1; Ractor.receive; file.write("\u3044") }
        end
        ractor.take
        assert_equal(0, status(fork { GC.start }))
        ractor.send(1)
        ractor.take
        assert_equal("\e$B$\"$$\e(B".b, File.binread(path))
      end
    RUBY
  end

  # Each of +count+ files has its line once; `write(path)`, which +setup+ defines, has it written, in a process of its own.
  def assert_written_once(count, setup)
    assert_separately(%w[-W:no-experimental --disable-gems], STATUS + setup + <<~RUBY)
      require "tmpdir"
      Dir.mktmpdir do |folder|
        paths = Array.new(#{count}) { |i| File.join(folder, i.to_s) }
        paths.each { |path| assert_equal(0, status(fork { write(path); exit!(0) })) }
        assert_equal({ "written\n" => #{count} }, paths.map { |path| File.read(path) }.tally)
      end
    RUBY
  end

  # One that a Ractor has returned is not the Ractor's any more, though that may not be gone yet.
  def test_file_that_a_ractor_has_returned
    assert_written_once(40, <<~'RUBY')
      def write(path)
        $file = Ractor.new(path) { |name| File.open(name, "w").tap { |file| file.write("written\n") } }.take
        Process.wait(fork { })
      end
    RUBY
  end

  # A Thread of a Ractor that ends forks: in the child the Ractor is main, and does not end.
  def test_file_of_what_was_an_ending_ractor
    assert_written_once(10, <<~'RUBY')
      def write_in_child(path)
        file = File.open(path, "w")
        file.write("written\n")
        Ractor.new { Process.wait(fork { }) }.take
        file.close
      end

      def write(path)
        Ractor.new(path) do |name|
          started = Thread::Queue.new
          Thread.new do
            started << true
            sleep
          ensure
            Process.wait(fork { write_in_child(name) })
          end
          started.pop
          nil
        end.take
        sleep 0.01 until File.size?(path)
        sleep 0.05
      end
    RUBY
  end
end
