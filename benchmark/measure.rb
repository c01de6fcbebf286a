# measure.rb - what the workload programs share: timing, cutting work into parts, one line of results.
#
# A program prints one line of JSON: "values", a name to [number, unit] each; user and system time of what was timed, in
# seconds, children included; "rss", the process's highest resident set so far, in kB.

require "json"

module Measure
  LEAST = 0.05 # seconds
  @user = @system = 0.0

  # Seconds that the block took; its processor time is added up.
  def self.seconds
    before = Process.times
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    taken = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    after = Process.times
    @user += after.utime + after.cutime - before.utime - before.cutime
    @system += after.stime + after.cstime - before.stime - before.cstime
    taken
  end

  # values are of one time, what was timed since the start are `times`.
  def self.print(values, times = 1)
    puts JSON.generate(values: values, user: @user / times, system: @system / times, rss: resident("VmHWM"))
  end

  # [seconds, times]: the block's seconds for as many times the work that they are worth measuring.
  def self.long_enough
    times = 1
    while (taken = yield(times)) < LEAST
      times *= [(LEAST * 1.2 / taken).ceil, 2].max
      @user = @system = 0.0
    end
    [taken, times]
  end

  # kB of VmRSS (now) or VmHWM (highest so far).
  def self.resident(which = "VmRSS") = File.read("/proc/self/status")[/^#{which}:\s*(\d+)/, 1].to_i

  # [seconds, results] of work.call(part) for each part: one after the other, or each in a Ractor or a thread of its own.
  # Starting these is not counted.
  def self.parts(kind, work, parts)
    workers = parts.map { |part| worker(kind, work, part) }
    results = nil
    [seconds { results = workers.each(&:go).map(&:result) }, results]
  end

  def self.worker(kind, work, part)
    case kind
    when "serial" then InTurn.new(work, part)
    when "ractors" then InRactor.new(work, part)
    when "threads" then InThread.new(work, part)
    else abort "#{$PROGRAM_NAME}: serial, ractors or threads, not #{kind.inspect}"
    end
  end

  InTurn = Struct.new(:work, :part) do
    def go = nil
    def result = work.call(part)
  end

  class InRactor
    def initialize(work, part)
      @ractor = Ractor.new(work, part) do |work, part|
        Ractor.yield :ready
        Ractor.receive
        work.call(part)
      end
      @ractor.take
    end

    def go = @ractor.send(:go)
    def result = @ractor.take
  end

  class InThread
    def initialize(work, part)
      @gate = Queue.new
      @thread = Thread.new do
        @gate.pop
        work.call(part)
      end
    end

    def go = @gate << :go
    def result = @thread.value
  end

  # The program's arguments; without enough of them, its head comment, where the usage stands.
  def self.arguments(needed)
    return ARGV if ARGV.size >= needed

    abort File.foreach($PROGRAM_NAME).take_while { |line| line.start_with?("#") }.join.gsub(/^# ?/, "")
  end
end

$VERBOSE = nil # Ractor's warning that it is experimental
Thread.report_on_exception = false # the program ends with the error all the same
