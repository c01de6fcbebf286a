# frozen_string_literal: true
# ractor/test_waits.rb - ractor/waits.h: what Ractors wait for, how long, and because of which line.

require "json"
require "tempfile"
require "tmpdir"
require "test/unit"

class TestLockfreeRactorWaits < Test::Unit::TestCase
  CAUSES = %w[other collect sweep compile invalidate method class constant symbol fork].freeze
  STATES = %w[running collecting compiling stopping vm_lock stopped native_thread receive take yield blocked].freeze

  # For assert_ractor: asks, and how far the states' sum is from the time of the clock.
  COMMON = <<~'RUBY'
    Lockfree = RubyVM::Lockfree
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    def sum(ractor) = ractor[:states].sum { |_, state| state[:seconds] }
    def assert_whole(ractor, seconds = ractor[:seconds])
      assert_in_delta(seconds, sum(ractor), seconds * 0.02, ractor.inspect)
      assert_in_delta(seconds, ractor[:seconds], seconds * 0.02, ractor.inspect)
    end
  RUBY

  def assert_waits(code, *options)
    JITS.each do |jit|
      assert_separately(%w[-W:no-experimental --disable-gems] + options + jit, COMMON + code, timeout: 60)
    end
  end

  # Runs +program+ with --ractor-stats=FILE, and gives what is in FILE.
  def stats(program, *options, status: 0)
    Dir.mktmpdir do |dir|
      file = File.join(dir, "stats.json")
      out, err, ended = EnvUtil.invoke_ruby([*options, "-W:no-experimental", "--disable-gems", "--ractor-stats=#{file}", "-e", program],
                                            "", true, true, timeout: 60)
      assert_equal([status, ""], [ended.exitstatus, err], out)
      text = File.read(file, encoding: "UTF-8")
      assert_predicate(text, :valid_encoding?)
      JSON.parse(text)
    end
  end

  JITS = defined?(RubyVM::YJIT.enable) ? [[], %w[--yjit]] : [[]]

  def line_of(mark, program) = program.lines.index { |line| line.include?("# #{mark}") } + 1

  # Nobody collects.
  ROOM = (0..4).to_h { |i| ["RUBY_GC_HEAP_#{i}_INIT_SLOTS", "1500000"] }.freeze

  # What made others wait most is the line of +program+ that says so, by +cause+.  Of three runs one may be spoilt, and the
  # next: who has lost the processor, to another program, with others waiting has made them wait, too.
  def assert_culprit(cause, program, *options, jits: JITS)
    expected = ["-e", line_of("culprit", program), cause]
    jits.each do |jit|
      culprits = nil
      3.times do
        culprits = stats(program, *options, *jit)["culprits"]
        break if culprits[0]&.values_at("path", "line", "cause") == expected
      end
      assert_equal(expected, culprits[0]&.values_at("path", "line", "cause"), culprits.first(3).inspect)
    end
  end

  # To define one takes the lock for a moment, and stops nobody: so these wait for each other.
  def test_who_defines_methods
    assert_culprit("method", <<~'RUBY', ROOM)
      GC.disable
      BODY = nil.instance_eval { Ractor.make_shareable(proc { 1 }) }
      defining = Array.new(4) do
        Ractor.new do
          c = Class.new
          Ractor.receive
          i = 0
          while (i += 1) < 100_000
            c.define_method(:m, &BODY) # culprit
          end
        end
      end
      defining.each { |ractor| ractor.send(:go) }
      defining.each(&:take)
    RUBY
  end

  # Others stand while code goes that was compiled for the method before.
  def test_who_redefines_what_is_compiled
    assert_culprit("invalidate", <<~'RUBY', ROOM, jits: JITS - [[]])
      GC.disable
      computing = Array.new(2) { Ractor.new { x = 0; 15_000_000.times { |i| x += i }; x } }
      defining = Ractor.new do
        sites = Array.new(60) { eval("->(object) { object.m }") } # after some times one is no more compiled for a method
        sites.each do |site|
          c = Class.new
          100.times do
            c.define_method(:m, &Ractor.make_shareable(proc { 1 })) # culprit
            site.(c.new)
          end
        end
      end
      [*computing, defining].each(&:take)
    RUBY
  end

  # To look one up, or to make one, stops nobody; but the table of them has to grow now and then.
  def test_who_makes_symbols
    assert_culprit("symbol", <<~'RUBY', ROOM)
      GC.disable
      making = Ractor.new do
        names = Array.new(500_000) { |i| "name#{i}" }
        Ractor.yield(:ready)
        i = -1
        while (i += 1) < 500_000
          names[i].to_sym # culprit
        end
      end
      making.take
      computing = Array.new(2) { Ractor.new { x = 0; 20_000_000.times { |i| x += i }; x } }
      [*computing, making].each(&:take)
    RUBY
  end

  def test_who_collects
    assert_culprit("collect", <<~'RUBY')
      LIVE = Ractor.make_shareable(Array.new(300_000) { [1] })
      computing = Array.new(2) { Ractor.new { x = 0; 20_000_000.times { |i| x += i }; x } }
      collecting = Ractor.new do
        20.times do
          GC.start # culprit
        end
      end
      [*computing, collecting].each(&:take)
    RUBY
  end

  # A line is known by where its code lies: there may be another's, of a method that was freed, while nobody counted or since.
  def test_lines_of_what_lies_where_others_were
    assert_waits(<<~'RUBY')
      run = ->(from) { 20.times { |i| eval("#{"\n" * (from + i)}sleep 0.00001", nil, "evaluated.rb", 1) } }
      10.times do |round|
        Lockfree.waits_enable
        run.(round * 20)
        Lockfree.waits_disable if round % 2 == 0
        GC.start
      end
      lines = Lockfree.waits[:waits].select { |line| line[:path] == "evaluated.rb" && line[:state] == :blocked }
      assert_equal((1..200).to_h { |i| [i, 1] }, lines.to_h { |line| line.values_at(:line, :count) }.sort.to_h)
    RUBY
  end

  def test_the_states_sum_is_the_time
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      began = now
      ractors = Array.new(6) do |i|
        Ractor.new(name: "worker #{i}") do
          start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          Ractor.receive
          20_000.times { |j| [j, "s#{j}".to_sym] }
          sleep 0.05
          Thread.new { sleep 0.02 }.join
          GC.start
          Ractor.yield(1)
          Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
        end
      end
      sleep 0.05
      ractors.each { |ractor| ractor.send(1) }
      ractors.each(&:take)
      seconds = ractors.map(&:take)
      sleep 0.1
      passed = now - began
      waits = Lockfree.waits
      main, *others = waits[:ractors]
      assert_whole(main, waits[:seconds])
      assert_operator(main[:seconds], :>=, passed * 0.995)
      assert_equal(6, others.size)
      others.each { |ractor| assert_whole(ractor) }
      others.sort_by { |ractor| ractor[:id] }.zip(seconds) { |ractor, time| assert_operator(ractor[:seconds], :>=, time * 0.995) }
      assert_equal(Array.new(6) { |i| "worker #{i}" }, others.map { |ractor| ractor[:name] }.sort)
      assert_equal([false], others.map { |ractor| ractor[:alive] }.uniq)
    RUBY
  end

  # Each state for itself: what is slept is blocked, what is waited for is a message.  On a busy machine who is to
  # wait may come late: half of the time is enough.
  def test_the_states
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      sleeper = Ractor.new { sleep 0.2; Ractor.yield(:awake); Ractor.receive; :end }
      sleeper.take
      sleep 0.2
      sleeper.send(:go)
      sleeper.take
      slow = Ractor.new { sleep 0.2; 1 }
      slow.take
      waits = Lockfree.waits
      ractors = waits[:ractors].to_h { |ractor| [ractor[:id], ractor[:states].transform_values { |state| state[:seconds] }] }
      main, first, second = ractors.sort.map(&:last)
      assert_operator(main[:take], :>=, 0.2)
      { main: main[:blocked], first: first[:blocked], received: first[:receive], second: second[:blocked] }.each do |what, seconds|
        assert_operator(seconds, :>=, 0.1, what)
      end
      slept = waits[:waits].find { |line| line[:state] == :blocked && line[:method] == :sleep }
      assert_equal([__FILE__, :sleep], slept.values_at(:path, :method))
    RUBY
  end

  # By whatever clock it counts.
  def test_seconds_are_those_of_the_clock
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      before = [now, Lockfree.waits[:seconds], now]
      sleep 0.5
      after = [now, Lockfree.waits[:seconds], now]
      passed = after[1] - before[1]
      assert_operator(passed, :>=, (after[0] - before[2]) * 0.995)
      assert_operator(passed, :<=, (after[2] - before[0]) * 1.005)
    RUBY
  end

  # Each is counted, whatever else its Ractor and the others do.
  def test_calls_that_block_for_a_moment
    assert_waits(<<~'RUBY')
      Ractor.new { loop { RubyVM::Lockfree.waits; GC.start; sleep 0.001 } }
      read, write = IO.pipe
      Lockfree.waits_enable
      50_000.times { write.write("x"); IO.select([read]); read.getbyte }
      waits = Lockfree.waits
      main = waits[:ractors].find { |ractor| ractor[:id] == 1 }
      assert_whole(main)
      assert_operator(main[:states][:blocked][:seconds], :>=, main[:seconds] * 0.2)
      lines = waits[:waits].select { |line| line[:state] == :blocked && line[:path] == __FILE__ }
      counted = lines.to_h { |line| line.values_at(:method, :count) }.slice(:write, :select, :getbyte)
      assert_equal({ write: 50_000, select: 50_000, getbyte: 50_000 }, counted)
      blocked = waits[:ractors].sum { |ractor| ractor[:states][:blocked][:seconds] }
      assert_operator(lines.sum { |line| line[:seconds] }, :<=, blocked + 0.000001)
    RUBY
  end

  def test_racing_reset_while_nobody_counts
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      readers = Array.new(3) do
        Ractor.new do
          read, write = IO.pipe
          30_000.times { write.write("x"); read.getbyte }
        end
      end
      resetting = Array.new(2) do
        Ractor.new do
          Array.new(150) do
            Lockfree.waits_enable
            Lockfree.waits_disable
            Lockfree.waits_reset
            Lockfree.waits_enable
            Lockfree.waits[:ractors].map { |ractor| sum(ractor) - ractor[:seconds] }.max
          end.max
        end
      end
      assert_operator(resetting.map(&:take).max, :<=, 0.00001)
      readers.each(&:take)
    RUBY
  end

  # Another Ractor enables while threads are made ready. Of 120 children one was wrong in every other run.
  def test_racing_enable_in_a_child
    omit "no fork here" unless Process.respond_to?(:fork)
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      Lockfree.waits_disable
      wrong = Array.new(120) do
        child = fork do
          20.times { Thread.new { loop { sleep 0.00003 } } }
          sleep 0.003
          ractors = Ractor.new { Lockfree.waits_enable; sleep 0.005; Lockfree.waits[:ractors] }.take
          exit!(ractors.all? { |ractor| (sum(ractor) - ractor[:seconds]).abs < 0.001 })
        end
        Process.wait2(child).last.success? ? 0 : 1
      end
      assert_equal(0, wrong.sum)
    RUBY
  end

  def test_threads_of_a_ractor
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      threads = Array.new(4) { |i| Thread.new { 3.times { sleep 0.01; 100_000.times { } } } }
      ractor = Ractor.new { Array.new(4) { Thread.new { 3.times { sleep 0.01; 100_000.times { } } } }.each(&:join); 1 }
      threads.each(&:join)
      ractor.take
      Lockfree.waits[:ractors].each { |ractor| assert_whole(ractor) }
    RUBY
  end

  def test_the_keys
    assert_waits(<<~'RUBY')
      assert_nil(Lockfree.waits)
      Lockfree.waits_enable
      Ractor.new { 3.times { GC.start } }.take
      waits = Lockfree.waits
      assert_equal(%i[enabled seconds ractors others waits culprits dropped], waits.keys)
      assert_equal(%i[id name alive seconds states], waits[:ractors][0].keys)
      states = %i[running collecting compiling stopping vm_lock stopped native_thread receive take yield blocked]
      assert_equal(states, waits[:ractors][0][:states].keys)
      assert_equal(%i[count seconds], waits[:ractors][0][:states][:running].keys)
      assert_equal(%i[count seconds states], waits[:others].keys)
      assert_equal(%i[path line method state count seconds by], waits[:waits][0].keys)
      assert_equal(%i[count seconds], waits[:dropped].keys)
      assert_raise(TypeError) { Lockfree.waits(1) }
    RUBY
  end

  def test_one_ractor_asks_for_itself
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      id, own = Ractor.new(name: "asks") { GC.start; [RubyVM::Lockfree.waits(Ractor.current)[:ractors], RubyVM::Lockfree.waits] }.take
      assert_equal(["asks"], id.map { |ractor| ractor[:name] })
      assert_equal(2, own[:ractors].size)
      assert_operator(id[0][:states][:collecting][:count], :>, 0)
    RUBY
  end

  def test_racing_ask_and_ask
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      asking = Array.new(4) do
        Ractor.new { Array.new(100) { "x".to_sym; [1]; RubyVM::Lockfree.waits[:ractors].size } }
      end
      working = Array.new(2) { Ractor.new { 30_000.times { |i| "s#{i}".to_sym } } }
      asking.each { |ractor| assert_operator(ractor.take.min, :>=, 2) }
      working.each(&:take)
      Lockfree.waits[:ractors].each { |ractor| assert_whole(ractor) }
    RUBY
  end

  def test_racing_enable_disable_reset_and_work
    assert_waits(<<~'RUBY')
      working = Array.new(4) do
        Ractor.new do
          i = 0
          until Ractor.current[:stop] || i > 40_000
            "s#{i += 1}".to_sym
            [i]
            GC.start if i % 10_000 == 0
            sleep 0.0001 if i % 1000 == 0
          end
        end
      end
      switching = Ractor.new do
        200.times do
          RubyVM::Lockfree.waits_enable
          RubyVM::Lockfree.waits_reset
          RubyVM::Lockfree.waits
          RubyVM::Lockfree.waits_disable
        end
      end
      [*working, switching].each(&:take)
      assert_equal(false, Lockfree.waits[:enabled])
      Lockfree.waits_enable
      Lockfree.waits_reset
      sleep 0.1
      assert_whole(Lockfree.waits[:ractors].find { |ractor| ractor[:id] == 1 })
    RUBY
  end

  # Nothing is counted meanwhile; what was counted is kept.
  def test_disabled_in_mid_run
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      ractor = Ractor.new { loop { Ractor.receive } }
      sleep 0.1
      Lockfree.waits_disable
      before = Lockfree.waits
      sleep 0.1
      ractor.send(1)
      after = Lockfree.waits
      assert_equal([false, before[:seconds], before[:ractors]], [after[:enabled], after[:seconds], after[:ractors]])
      assert_whole(before[:ractors][0], before[:seconds])
      Lockfree.waits_enable
      sleep 0.1
      again = Lockfree.waits
      assert_operator(again[:seconds], :>=, before[:seconds] + 0.099)
      again[:ractors].each { |ractor| assert_whole(ractor) }
      assert_operator(again[:ractors].last[:states][:receive][:seconds], :>, 0.1)
    RUBY
  end

  # The timer thread, which does not stop, wakes sleepers meanwhile: what passes while nothing is counted is nobody's.
  def test_racing_sleepers_and_enable
    assert_waits(<<~'RUBY')
      200.times { |i| Ractor.new(i) { |i| loop { sleep 0.001 + i % 37 * 0.0005 } } }
      6.times do
        Lockfree.waits_enable
        sleep 0.05
        differences = Lockfree.waits[:ractors].map { |ractor| ractor[:states].sum { |_, state| state[:seconds] } - ractor[:seconds] }
        assert_in_delta(0, differences.max_by(&:abs), 1e-6)
        Lockfree.waits_disable
        sleep 0.2
      end
    RUBY
  end

  def test_reset
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      10.times { Ractor.new { GC.start }.take }
      sleep 0.01 while Lockfree.waits[:ractors].count { |ractor| ractor[:alive] } > 1
      before = now
      Lockfree.waits_reset
      sleep 0.05
      waits = Lockfree.waits
      passed = now - before
      assert_equal([[1], 0], [waits[:ractors].map { |ractor| ractor[:id] }, waits[:others][:count]])
      assert_equal([], waits[:waits].select { |line| line[:method] == :take })
      assert_operator(waits[:seconds], :>=, 0.05 * 0.995)
      assert_operator(waits[:seconds], :<=, passed * 1.005)
      assert_equal(0, waits[:ractors][0][:states][:collecting][:count])
      assert_whole(waits[:ractors][0], waits[:seconds])
    RUBY
  end

  # Those that have ended have rows of their own, as far as there is room, and count in all.
  def test_many_ractors_end
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      30.times { Array.new(10) { Ractor.new { "a".to_sym; sleep 0.005 } }.each(&:take) }
      sleep 0.1
      waits = Lockfree.waits
      assert_equal(301, waits[:ractors].size + waits[:others][:count])
      assert_operator(waits[:ractors].size, :>, 200)
      assert_whole(waits[:others])
      assert_operator(waits[:ractors].sum { |ractor| ractor[:states][:blocked][:seconds] }, :>, 0.2)
    RUBY
  end

  def test_more_lines_than_there_is_room_for
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      eval(Array.new(1000) { "sleep 0.00001" }.join("\n"))
      waits = Lockfree.waits
      assert_operator(waits[:dropped][:count], :>=, 500)
      assert_whole(waits[:ractors][0])
    RUBY
  end

  # The longest line of all was dropped: it was not in the table yet when that was full of lines as long as most.
  def test_a_line_that_calls_among_too_many
    assert_waits(<<~'RUBY')
      queue = Queue.new
      short, long = [["short.rb", 60, 0.00001], ["long.rb", 420, 0.003]].map do |path, lines, seconds|
        eval("->(queue) {\n" + "queue.pop(timeout: #{seconds})\n" * lines + "}", nil, path)
      end
      Lockfree.waits_enable
      100.times { sleep 0.02 }
      short.call(queue)
      long.call(queue)
      waits = Lockfree.waits
      assert_operator(waits[:dropped][:count], :>=, 100)
      assert_equal([__FILE__, :sleep, 100], waits[:waits][0].values_at(:path, :method, :count))
    RUBY
  end

  # What comes late was dropped, however long: the table was full of lines as long as most, and stayed so.
  def test_the_longest_line_after_too_many
    assert_waits(<<~'RUBY')
      Lockfree.waits_enable
      [["short.rb", 60, 0.00001], ["long.rb", 400, 0.003]].each do |path, lines, seconds|
        eval("sleep #{seconds}\n" * lines, nil, path)
      end
      sleep 0.3
      waits = Lockfree.waits
      assert_operator(waits[:dropped][:count], :>=, 60)
      assert_equal([__FILE__, :sleep, 1], waits[:waits][0].values_at(:path, :method, :count))
    RUBY
  end

  def test_compacting_keeps_lines
    omit "no compaction here" unless GC.respond_to?(:compact)
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      ractor = Ractor.new { 60.times { |i| eval("def m#{i} = sleep(0.0001)\nm#{i}", nil, "evaluated#{i % 5}.rb") } }
      10.times { GC.compact; sleep 0.005 }
      ractor.take
      paths = Lockfree.waits[:waits].filter_map { |line| line[:path] if line[:method] == :sleep }
      assert_equal([__FILE__, "evaluated0.rb", "evaluated1.rb", "evaluated2.rb", "evaluated3.rb", "evaluated4.rb"], paths.uniq.sort)
    RUBY
  end

  def test_a_child_starts_anew
    omit "no fork here" unless Process.respond_to?(:fork)
    assert_waits(<<~'RUBY', "--ractor-stats=/dev/null")
      Ractor.new { loop { "s".to_sym; Ractor.receive } }
      3.times { GC.start }
      forked = nil
      in_child = proc do
        at = now
        waits = Lockfree.waits
        exit!(2) unless waits[:ractors].size == 1 && waits[:culprits].empty? && waits[:seconds] < (now - forked) * 1.005
        Ractor.new { GC.start; sleep 0.1 }.take
        passed = now - at
        waits = Lockfree.waits
        exit!(3) unless waits[:ractors].size == 2
        exit!(4) unless waits[:ractors].all? { |r| (sum(r) - r[:seconds]).abs < 0.02 * r[:seconds] }
        exit!(5) unless waits[:seconds].between?(passed * 0.995, (now - forked) * 1.005)
        exit!(0)
      end
      forked = now
      Process.wait(fork(&in_child))
      assert_equal(0, $?.exitstatus)
      inner = Ractor.new { Process.wait(fork { exit!(RubyVM::Lockfree.waits[:ractors].size) }); $?.exitstatus }
      assert_equal(1, inner.take)
    RUBY
  end

  def test_a_child_writes_its_own_file
    omit "no fork here" unless Process.respond_to?(:fork)
    Dir.mktmpdir do |dir|
      file = File.join(dir, "stats.json")
      program = "Dir.chdir('/'); Process.wait(fork { sleep 0.01 }); p $?.pid"
      out, err, = EnvUtil.invoke_ruby(["--disable-gems", "--ractor-stats=stats.json", "-e", program], "", true, true, chdir: dir)
      assert_equal("", err)
      assert_equal([file, "#{file}.#{out.to_i}"], Dir[File.join(dir, "*")].sort)
      Dir[File.join(dir, "*")].each { |path| assert_equal(1, JSON.parse(File.read(path))["ractors"].size) }
    end
  end

  def test_json
    json = stats(<<~'RUBY')
      eval("GC.start", nil, "quo\"te\\ \n\xff.rb")
      Ractor.new(name: "\u00e4") { 3.times { GC.start }; "a".to_sym }.take
    RUBY
    assert_equal(%w[enabled seconds ractors others waits culprits dropped], json.keys)
    assert_equal([nil, "ä"], json["ractors"].map { |ractor| ractor["name"] })
    assert_equal([STATES], json["ractors"].map { |ractor| ractor["states"].keys }.uniq)
    assert_equal([], json["waits"].map { |line| line["state"] } - STATES)
    assert_equal([], json["culprits"].map { |line| line["cause"] } - CAUSES)
    assert_include(json["waits"].map { |line| line["path"] }, "quo\"te\\ \n\u00ff.rb")
  end

  # What has no room is cut, but no character is.
  def test_json_of_long_names
    path = "p#{"\u00e4" * 600}"
    json = stats(<<~RUBY)
      eval("GC.start", nil, #{path.dump})
      Ractor.new(name: "nn" + "\\u3042" * 20) { GC.start }.take
      Ractor.new(name: "\\xe3\\x81" * 30) { GC.start }.take
    RUBY
    assert_include(json["waits"].map { |line| line["path"] }, "p#{"\u00e4" * 499}")
    assert_equal([nil, "nn#{"\u3042" * 14}", "\u00e3\u0081" * 23], json["ractors"].sort_by { |ractor| ractor["id"] }.map { |ractor| ractor["name"] })
  end

  def test_options_of_the_environment
    Dir.mktmpdir do |dir|
      files = %w[stats.json trace.json].map { |name| File.join(dir, name) }
      options = { "RUBYOPT" => "--ractor-stats=#{files[0]} --ractor-trace=#{files[1]}" }
      _, err, status = EnvUtil.invoke_ruby([options, "--disable-gems", "-e", "exit 4"], "", true, true)
      assert_equal([4, ""], [status.exitstatus, err])
      assert_equal([Hash, Array], files.map { |file| JSON.parse(File.read(file)).class })
    end
  end

  def test_json_of_a_program_that_has_its_own_to_s
    json = stats("class Integer; def to_s(*) = raise; end; class TrueClass; def to_s = 'yes'; end; GC.start")
    assert_equal([1, true], json["ractors"][0].values_at("id", "alive"))
  end

  def test_text
    _, err, ended = EnvUtil.invoke_ruby(["-W:no-experimental", "--disable-gems", "--ractor-stats", "-e", "Ractor.new { GC.start }.take; exit 3"],
                                        "", true, true)
    assert_equal(3, ended.exitstatus)
    assert_match(/\A\*\*\*ractor-stats: .*^  #1 .*^  #2 .*^Lines that waited.*-e:1 start: collecting/m, err)
  end

  def test_a_file_that_cannot_be_written
    [["exit 3", 3], ["raise 'stops'", 1], ["", 0]].each do |program, status|
      _, err, ended = EnvUtil.invoke_ruby(["--disable-gems", "--ractor-stats=/nowhere/stats.json", "-e", program], "", true, true)
      assert_equal(status, ended.exitstatus)
      assert_match(%r{^ruby: --ractor-stats: cannot write /nowhere/stats\.json: No such file or directory$}, err)
      assert_match(/^\*\*\*ractor-stats/, err)
    end
  end

  def test_ended_with_all_freed
    json = nil
    Dir.mktmpdir do |dir|
      file = File.join(dir, "stats.json")
      _, err, ended = EnvUtil.invoke_ruby([{"RUBY_FREE_AT_EXIT" => "1"}, "-W:no-experimental", "--disable-gems", "--ractor-stats=#{file}",
                                           "-e", "Array.new(4) { Ractor.new { GC.start } }.each(&:take); Ractor.new { Ractor.receive }"],
                                          "", true, true)
      assert_equal([0, ""], [ended.exitstatus, err.lines.grep_v(/warning/).join])
      json = JSON.parse(File.read(file))
    end
    assert_equal(6, json["ractors"].size)
  end
end
