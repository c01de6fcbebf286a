# frozen_string_literal: true
# ractor/test_waits_trace.rb - ractor/waits_trace.h: the file that --ractor-trace writes.

require "json"
require "open3"
require "tmpdir"
require "test/unit"

class TestLockfreeRactorWaitsTrace < Test::Unit::TestCase
  STATES = %w[running collecting compiling stopping vm_lock stopped native_thread receive take yield blocked].freeze

  PROGRAM = <<~'RUBY'
    computing = Array.new(2) { |i| Ractor.new(name: "computing \"#{i}\"") { x = 0; 8_000_000.times { |j| x += j }; x } }
    collecting = Ractor.new { 10.times { GC.start; sleep 0.005 } }
    echo = Ractor.new { while (x = Ractor.receive); Ractor.yield(x); end }
    20.times { |i| echo.send(i); echo.take; sleep 0.001 }
    echo.send(nil)
    [*computing, collecting].each(&:take)
  RUBY

  # What +program+ writes; +whole+: it is to end as an array does.
  def trace(program, whole: true)
    Dir.mktmpdir do |dir|
      file = File.join(dir, "trace.json")
      _, err, status = EnvUtil.invoke_ruby(["-W:no-experimental", "--disable-gems", "--ractor-trace=#{file}", "-e", program],
                                           "", true, true, timeout: 60)
      yield dir, status if block_given?
      assert_equal("", err) if whole
      text = File.read(file, encoding: "UTF-8")
      assert_predicate(text, :valid_encoding?)
      return JSON.parse(whole ? text : "#{text[/\A.*\n/m].chomp.chomp(',')}]")
    end
  end

  def slices(events) = events.select { |event| event["ph"] == "X" }

  def test_slices_of_a_track_make_up_its_time
    slices(trace(PROGRAM)).group_by { |slice| slice["tid"] }.each_value do |track|
      track.sort_by! { |slice| slice["ts"] }
      track.each_cons(2) { |one, other| assert_in_delta(one["ts"] + one["dur"], other["ts"], 0.01, [one, other].inspect) }
      assert_equal([], track.map { |slice| slice["name"] }.uniq - STATES)
    end
  end

  # What readers of the format miss if it is not there.
  def test_each_event_has_its_fields
    fields = { "M" => %w[args], "X" => %w[args dur], "s" => %w[args id], "f" => %w[args bp id] }
    trace(PROGRAM).group_by { |event| event["ph"] }.each do |phase, events|
      assert_equal([(%w[ph cat pid tid ts name] + fields.fetch(phase)).sort], events.map { |event| event.keys.sort }.uniq)
    end
  end

  def test_tracks_have_names
    names = trace(PROGRAM).select { |event| event["name"] == "thread_name" }.map { |event| event["args"]["name"].strip }
    assert_equal(["Ractor 1", "Ractor 2 computing \"0\"", "Ractor 3 computing \"1\"", "Ractor 4", "Ractor 5"], names.sort)
  end

  def track(events, id) = slices(events).select { |slice| slice["tid"] == id }.sort_by { |slice| slice["ts"] }

  # The slices of its track that +event+ lies in, or touches.
  def at(events, event)
    track(events, event["tid"]).select { |slice| event["ts"].between?(slice["ts"] - 0.002, slice["ts"] + slice["dur"] + 0.002) }
  end

  def arrows(events, kind)
    events.select { |event| %w[s f].include?(event["ph"]) && event["name"] == kind }.group_by { |event| event["id"] }.each_value.filter_map do |ends|
      from, to = ends.partition { |event| event["ph"] == "s" }
      assert_operator(from.size, :<=, 1, ends.inspect)
      [from[0], to] if from[0] && !to.empty?
    end
  end

  # From who runs and sends to who goes on with it, and has waited for a message; in between it waits for a native thread, and
  # stands if somebody stops all.
  def test_arrows_of_messages
    events = trace(PROGRAM)
    messages = arrows(events, "message")
    assert_operator(messages.size, :>=, 20)
    messages.each do |from, (to, *others)|
      assert_equal([], others)
      assert_not_equal(from["tid"], to["tid"])
      assert_include(at(events, from).map { |slice| slice["name"] }, "running", from.inspect)
      before, (runs, *) = track(events, to["tid"]).partition { |slice| slice["ts"] < to["ts"] - 0.002 }
      assert_equal("running", runs["name"], to.inspect)
      assert_in_delta(to["ts"], runs["ts"], 0.002)
      ready = before.reverse.take_while { |slice| %w[native_thread stopped].include?(slice["name"]) }
      assert_equal("native_thread", ready.last&.fetch("name"), to.inspect)
      assert_in_delta(from["ts"], ready.last["ts"], 0.002)
      assert_include(%w[receive take yield], before[-ready.size - 1]["name"], to.inspect)
    end
  end

  # From where one asks all to stand to where another one does.
  def test_arrows_of_stops
    events = trace(PROGRAM)
    stops = arrows(events, "stop")
    assert_operator(stops.size, :>=, 5)
    stops.each do |from, to|
      assert_include(at(events, from).map { |slice| slice["name"] }, "stopping", from.inspect)
      assert_not_include(to.map { |event| event["tid"] }, from["tid"])
      to.each do |event|
        assert_operator(from["ts"], :<=, event["ts"])
        assert_include(at(events, event).map { |slice| slice["name"] }, "stopped", event.inspect)
      end
    end
  end

  # A pipe that nobody reads holds nobody but, for a while, main at its end.
  FULL = <<~'RUBY'
    Array.new(2) { Ractor.new(ARGV[0].to_i) { |n| n.times { File.stat("/") } } }.each(&:take)
    GC.start
    $stdout.puts "done"
    $stdout.flush
  RUBY

  def with_pipe(count)
    omit "no FIFO here" unless File.respond_to?(:mkfifo)
    Dir.mktmpdir do |dir|
      file = File.join(dir, "trace.pipe")
      File.mkfifo(file)
      command = [EnvUtil.rubybin, "-W:no-experimental", "--disable-gems", "--ractor-trace=#{file}", "-e", FULL, count.to_s]
      Open3.popen3(*command) do |_, out, err, process|
        File.open(file, encoding: "UTF-8") do |pipe|
          assert_equal(out, IO.select([out], nil, nil, 40)&.dig(0, 0), "hangs")
          assert_equal("done\n", out.gets)
          yield pipe, err, process
        end
      ensure
        Process.kill(:KILL, process.pid) if process.alive?
      end
    end
  end

  def test_full_pipe
    { 3_000 => /\Awhole\z/, 60_000 => /\A\d+ events left out: / }.each do |count, label|
      with_pipe(count) do |pipe, err, process|
        events = JSON.parse(pipe.read)
        assert_equal([true, ""], [process.value.success?, err.read])
        assert_match(label, events.last["args"]["labels"])
        all = slices(events).size + events.last["args"]["labels"].to_i
        assert_operator(all, :>=, count * 4) # two Ractors, each blocks and runs
      end
    end
  end

  def test_pipe_that_nobody_reads
    with_pipe(3_000) do |_, err, process|
      assert_predicate(process.value, :success?)
      assert_match(/^ruby: --ractor-trace: .* takes no more, the end is left out$/, err.read)
    end
  end

  def test_full_disk
    omit "no full disk here" unless File.exist?("/dev/full")
    _, err, status = EnvUtil.invoke_ruby(["--disable-gems", "--ractor-trace=/dev/full", "-e", "exit 3"], "", true, true)
    assert_equal([3, "ruby: --ractor-trace: cannot write /dev/full: No space left on device\n"], [status.exitstatus, err])
  end

  # Neither what is no UTF-8 nor what is cut makes it invalid.
  def test_names_and_paths
    events = trace(<<~'RUBY')
      # encoding: utf-8
      eval("sleep 0.001", nil, "quo\"te\\ \n\xff.rb")
      eval("sleep 0.001", nil, "long" + "\u00e4" * 600)
      eval("sleep 0.001", nil, "x\xff" * 600)
      Ractor.new(name: "n\xe3\x81" + "\u3042" * 20) { sleep 0.001 }.take
    RUBY
    paths = slices(events).filter_map { |slice| slice["args"]["at"] }
    assert_include(paths, "quo\"te\\ \n\u00ff.rb:1")
    assert_match(/\Along\u00e4+:1\z/, paths.find { |path| path.start_with?("long") })
    assert_match(/\A(x\u00ff)+x?:1\z/, paths.find { |path| path.start_with?("x") })
    assert_include(events.filter_map { |event| event.dig("args", "name") }, "Ractor 2 n\u00e3\u0081#{"\u3042" * 14}")
  end

  # Who sends much may wait for nothing.
  def test_arrows_of_who_only_sends
    events = trace("r = Ractor.new { nil while Ractor.receive }; 4000.times { r << true; x = 0; x += 1 while x < 3000 }; r << nil; r.take")
    ends = events.select { |event| event["name"] == "message" }.group_by { |event| event["id"] }.values.map(&:size)
    assert_equal([2], ends.uniq)
    assert_operator(ends.size, :>, 300) # of 4,000: who is busy when it is sent to has none
  end

  # Each has little to tell, and hands it over at the same moments.
  def test_many_tracks
    events = trace("rs = Array.new(400) { Ractor.new { 2.times { Ractor.receive } } }; 2.times { rs.each { _1.send(1) }; sleep 0.2 }; rs.each(&:take)")
    assert_equal("whole", events.last["args"]["labels"])
    assert_equal(401, slices(events).map { |slice| slice["tid"] }.uniq.size)
  end

  def test_a_ruby_that_this_one_starts
    Dir.mktmpdir do |dir|
      file = File.join(dir, "trace.json")
      program = "3000.times { sleep 0.00001 }; pid = spawn(ARGV[0], '--disable-gems', '-e', 'sleep 0.01'); Process.wait(pid); p pid"
      out, err, = EnvUtil.invoke_ruby([{ "RUBYOPT" => "--ractor-trace=#{file}" }, "--disable-gems", "-e", program, EnvUtil.rubybin], "", true, true)
      assert_equal("", err)
      assert_equal([file, "#{file}.#{out.to_i}"], Dir[File.join(dir, "*")].sort)
      few, many = [file, "#{file}.#{out.to_i}"].map { |path| slices(JSON.parse(File.read(path))).size }.minmax
      assert_operator(few, :<, 100)
      assert_operator(many, :>, 3000)
    end
  end

  # As daemons do: what is opened next would get the number of the trace, and its lines.
  def test_a_program_that_closes_all_descriptors
    Dir.mktmpdir do |dir|
      traced, written = %w[trace.json written].map { |name| File.join(dir, name) }
      program = <<~'RUBY'
        (3..30).each { |fd| IO.for_fd(fd).close rescue nil }
        file = File.open(ARGV[0], "w")
        300.times { sleep 0.001 }
        file << "whole"
        file.close
      RUBY
      _, err, = EnvUtil.invoke_ruby(["--disable-gems", "--ractor-trace=#{traced}", "-e", program, written], "", true, true)
      assert_equal(["", "whole"], [err, File.read(written)])
      assert_equal("whole", JSON.parse(File.read(traced)).last["args"]["labels"])
    end
  end

  def test_who_stopped_whom
    stopped = slices(trace(PROGRAM)).select { |slice| slice["name"] == "stopped" && slice["args"]["cause"] == "collect" }
    assert_equal(["-e:2"], stopped.map { |slice| slice["args"]["by"] }.uniq)
  end

  # What was written lasts: all but the last tenth of a second.
  def test_killed
    events = trace("2000.times { |i| sleep 0.0005; Process.kill(:KILL, $$) if i == 600 }", whole: false)
    assert_operator(slices(events).count { |slice| slice["name"] == "blocked" }, :>, 200)
  end

  def test_a_child_writes_its_own_file
    omit "no fork here" unless Process.respond_to?(:fork)
    trace("Ractor.new { 5.times { sleep 0.001 } }.take; Process.wait(fork { Ractor.new { sleep 0.01 }.take })") do |dir,|
      files = Dir[File.join(dir, "trace.json*")].sort
      assert_equal(2, files.size)
      ids = files.map { |file| JSON.parse(File.read(file)).map { |event| event["pid"] }.uniq }
      assert_equal([1, 1], ids.map(&:size))
      assert_equal(ids[1][0].to_s, files[1][/\d+\z/])
    end
  end

  def test_with_statistics
    Dir.mktmpdir do |dir|
      files = %w[stats trace].map { |name| File.join(dir, name) }
      EnvUtil.invoke_ruby(["-W:no-experimental", "--disable-gems", "--ractor-stats=#{files[0]}", "--ractor-trace=#{files[1]}", "-e", PROGRAM])
      stats, trace = files.map { |file| JSON.parse(File.read(file)) }
      traced = slices(trace).group_by { |slice| slice["tid"] }.transform_values { |some| some.sum { |slice| slice["dur"] } / 1e6 }
      main, *others = stats["ractors"].sort_by { |ractor| ractor["id"] }
      others.each { |ractor| assert_in_delta(ractor["seconds"], traced[ractor["id"]], 0.001 + ractor["seconds"] * 0.02) }
      assert_operator(traced[1], :>, main["seconds"] * 0.98) # it writes the report before the timeline ends
    end
  end

  def test_a_file_that_cannot_be_written
    _, err, status = EnvUtil.invoke_ruby(["--disable-gems", "--ractor-trace=/nowhere/trace.json", "-e", "exit 3"], "", true, true)
    assert_equal([3, "ruby: --ractor-trace: cannot write /nowhere/trace.json: No such file or directory\n"], [status.exitstatus, err])
  end
end
