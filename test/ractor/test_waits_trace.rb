# frozen_string_literal: true
# ractor/test_waits_trace.rb - ractor/waits_trace.h: the file that --ractor-trace writes.

require "json"
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
      text = File.read(file)
      return JSON.parse(whole ? text : "#{text.chomp.chomp(',')}]")
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

  def test_tracks_have_names
    names = trace(PROGRAM).select { |event| event["name"] == "thread_name" }.map { |event| event["args"]["name"].strip }
    assert_equal(["Ractor 1", "Ractor 2 computing \"0\"", "Ractor 3 computing \"1\"", "Ractor 4", "Ractor 5"], names.sort)
  end

  # An arrow begins no later than it ends, and both ends lie in a slice of their tracks.
  def test_arrows
    events = trace(PROGRAM)
    tracks = slices(events).group_by { |slice| slice["tid"] }
    arrows = events.select { |event| %w[s f].include?(event["ph"]) }.group_by { |event| event["id"] }.select { |_, ends| ends.size > 1 }
    messages, stops = arrows.values.partition { |ends| ends[0]["name"] == "message" }
    assert_operator(messages.size, :>=, 20)
    assert_operator(stops.size, :>=, 5)
    arrows.each_value do |ends|
      from = ends.select { |event| event["ph"] == "s" }
      assert_equal(1, from.size, ends.inspect)
      ends.each do |event|
        assert_operator(from[0]["ts"], :<=, event["ts"])
        inside = tracks[event["tid"]].any? { |slice| event["ts"].between?(slice["ts"] - 0.01, slice["ts"] + slice["dur"] + 0.01) }
        assert(inside, event.inspect)
      end
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
      stats["ractors"].each { |ractor| assert_in_delta(ractor["seconds"], traced[ractor["id"]], 0.01 + ractor["seconds"] * 0.02) }
    end
  end

  def test_a_file_that_cannot_be_written
    _, err, status = EnvUtil.invoke_ruby(["--disable-gems", "--ractor-trace=/nowhere/trace.json", "-e", "exit 3"], "", true, true)
    assert_equal([3, "ruby: --ractor-trace: cannot write /nowhere/trace.json: No such file or directory\n"], [status.exitstatus, err])
  end
end
