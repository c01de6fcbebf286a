# map.rb - one row of the map: an operation in one thread, in forked processes and in Ractors, warm.
#
#   ruby [--yjit] map.rb ROW [MILLISECONDS [LIVING [FILE]]]   measures it; with --one-thread first, no more than that
#   ruby map.rb --check [PATTERN [FILE]]                      runs each row a few times in one thread: it gives the same twice
#   ruby [--yjit] map.rb --counting PAIRS [PATTERN [FILE]]    what it costs to count what Ractors wait for: doc/waits.md
#
# ROW is a name of lib/map_rows.rb, or of FILE, which has rows in the same form. A unit is as many turns as take MILLISECONDS
# (25) in one thread; each process and each Ractor does one, and starting these is not counted: they run the row, meet at a
# message, and then the time goes from the first that starts to the last that ends. LIVING objects (0) live in main meanwhile.
# Prints a line of JSON for each stage as soon as it is done, so that what came before a crash is known: "stage", "ns" an
# operation, of the wall clock; and of the same span the seconds of the processor, voluntary switches of threads,
# page faults, collections and the seconds that they took. "failed" says what went wrong in it. "waits" has what 8 Ractors
# waited for, where this Ruby counts that: of a unit more, which is not timed.

require "etc"
require "json"
require_relative "lib/map_rows"
require_relative "lib/statistics"

module Map
  UNITS = 5     # timed in one thread; the median counts
  CALLS = 40    # of the loop before it is timed: YJIT compiles at the 30th
  VALUES = 20   # turns whose values are compared
  STAGES = [["processes", 2], ["processes", 8], ["Ractors", 2], ["Ractors", 8]].freeze

  class Wrong < StandardError; end

  module_function

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def load_row(name, file)
    MapRows.replace(file) if file
    row = MapRows.named(name) or abort "map.rb: there is no row #{name.inspect}; lib/map_rows.rb has them"
    compile(row)
    row
  end

  def compile(row) = RubyVM::InstructionSequence.compile(row.source, "row", "row", 1).eval

  def print_line(record)
    $stdout.puts(JSON.generate(record))
    $stdout.flush
  end

  # ---- one thread

  # [turns of a unit, seconds that it takes]
  def calibrate(seconds)
    CALLS.times { |k| MapUnit.unit(k % 3 + 1) }
    turns = 1
    turns *= 2 while (taken = time(turns)) < seconds / 8
    2.times do
      turns = [(turns * seconds / taken).round, 1].max
      taken = time(turns)
    end
    turns
  end

  # Without what the thread stood ready while other programs ran: a busy machine would make one thread slow, and so Ractors
  # fast. How much of the time of many threads others took cannot be told.
  def time(turns)
    start, stop, _, stood = MapUnit.unit(turns)
    [stop - start - stood, (stop - start) / 10].max
  end

  # Seconds that this thread was ready and did not run; 0 where the kernel does not tell.
  def stood
    File.read("/proc/thread-self/schedstat").split[1].to_i / 1e9
  rescue SystemCallError
    0.0
  end

  def serial(turns)
    before = counts
    taken = Array.new(UNITS) { time(turns) }
    { turns: turns, ns: Statistics.median(taken) * 1e9 / turns, **since(before, UNITS) }
  end

  # ---- forked processes: what this machine can do at best

  def processes(number, turns)
    gate, go = IO.pipe
    children = Array.new(number) { child(turns, gate, go) }
    gate.close
    children.each { |_, pipe| pipe.gets }
    go.close # all children see the end of the pipe
    answers = children.map { |_, pipe| Marshal.load(pipe) }
    { ns: wall(answers) * 1e9 / (number * turns) }
  ensure
    children&.each { |pid, pipe| pipe.close; Process.wait(pid) }
  end

  def child(turns, gate, go)
    reader, writer = IO.pipe
    pid = fork do
      [reader, go].each(&:close)
      MapUnit.unit(turns)
      writer.puts
      gate.read
      Marshal.dump(MapUnit.unit(turns), writer)
      writer.close
      exit!
    end
    writer.close
    [pid, reader]
  end

  def wall(answers) = answers.map { |_, stop| stop }.max - answers.map(&:first).min

  # ---- Ractors

  def ractors(number, turns, expected)
    answers = result = nil
    values = with_ractors(number, turns) do |go|
      before = counts
      answers = go.call
      result = { ns: wall(answers) * 1e9 / (number * turns), wall: wall(answers), turns: turns, **since(before, 1) }
    end
    compare(answers.map { |answer| answer[2] }, values, expected)
    result.merge(waits(number, turns))
  rescue Wrong => error
    result.merge(failed: "wrong: #{error.message}")
  end

  # What each state has of the Ractors' time, and which lines made others wait.
  def waits(number, turns)
    return {} unless number == 8 && defined?(RubyVM::Lockfree.waits)

    found = nil
    with_ractors(number, turns) do |go|
      RubyVM::Lockfree.waits_enable
      go.call
      found = RubyVM::Lockfree.waits
      RubyVM::Lockfree.waits_disable
      RubyVM::Lockfree.waits_reset
    end
    { waits: { states: shares(found[:ractors].reject { |one| one[:id] == 1 }), culprits: culprits(found) } }
  end

  # A Ractor that is done waits for the others, which is none of the row's.
  def shares(ractors)
    sums = Hash.new(0.0)
    ractors.each do |one|
      one[:states].each { |state, sum| sums[state] += sum[:seconds] unless %i[receive take yield].include?(state) }
    end
    whole = sums.values.sum
    sums.transform_values { |sum| (sum / whole).round(4) }
  end

  def culprits(found)
    found[:culprits].map { |one| [[one[:method], "(#{one[:cause]})"].compact.join(" "), one[:seconds]] }
                    .group_by(&:first).transform_values { |some| some.sum(&:last).round(6) }.sort_by { |_, seconds| -seconds }
  end

  # Yields, when they are warm, what has them all do a unit, and gives their answers; they live meanwhile. Gives their values.
  def with_ractors(number, turns)
    ractors = Array.new(number) { ractor(turns) }
    ractors.each(&:take)
    yield -> { ractors.each { |ractor| ractor.send(:go) }.map(&:take) }
    ractors.each { |ractor| ractor.send(:values) }.map(&:take)
  end

  # They live until all are done: what /proc counts of a thread goes with it.
  def ractor(turns)
    Ractor.new(turns, VALUES) do |turns, values|
      Thread.current.report_on_exception = false
      MapUnit.unit(turns) # the first ones compile again what was compiled for one Ractor, and their heap grows
      Ractor.yield(:ready)
      Ractor.receive
      Ractor.yield(MapUnit.unit(turns))
      Ractor.receive
      MapUnit.values(values)
    end
  end

  # What the last turn gave, and some turns that all Ractors made at once.
  def compare(lasts, values, expected)
    lasts.each { |last| differ(last, expected[:last]) }
    values.each { |seen| seen.zip(expected[:values]) { |value, wanted| differ(value, wanted) } }
  end

  def differ(value, wanted)
    raise Wrong, "#{value} in a Ractor, #{wanted} in one thread" if value != wanted
  end

  # ---- what a stage used

  def counts
    times = Process.times
    { user: times.utime, system: times.stime, switches: switches, faults: faults, collections: GC.count,
      collecting: GC.stat(:time) / 1e3 }
  end

  def since(before, parts) = counts.to_h { |name, count| [name, ((count - before[name]) / parts.to_f).round(6)] }

  # Of the threads that live; 0 where there is no /proc.
  def switches
    Dir.glob("/proc/self/task/*/status").sum { |file| File.read(file)[/^voluntary_ctxt_switches:\s+(\d+)/, 1].to_i }
  rescue SystemCallError
    0
  end

  def faults = File.exist?("/proc/self/stat") ? File.read("/proc/self/stat").rpartition(")").last.split[7].to_i : 0

  # ---- a row

  def measure(name, milliseconds, living, file, stages)
    load_row(name, file)
    kept = Array.new(living) { |k| "living #{k}" }
    GC.start
    values = turns = one = nil
    stage("serial") do
      values = MapUnit.values(VALUES)
      turns = calibrate(milliseconds / 1000.0)
      one = serial(turns)
    end
    return unless one

    stages.each do |kind, number|
      stage("#{number} #{kind}") do
        next processes(number, turns) if kind == "processes"

        share = share(turns)
        found = ractors(number, share, last: MapUnit.unit(share)[2], values: values)
        @speed_up = one[:ns] / found[:ns]
        found
      end
    end
    kept.size
  end

  # Where two Ractors take ten times as long as one thread, a tenth of the turns is enough for eight.
  def share(turns) = [(turns * (@speed_up || 1.0).clamp(0.05, 1.0)).round, 1].max

  def stage(name)
    print_line(stage: name, yjit: yjit?, **yield)
  rescue Ractor::RemoteError => error
    print_line(stage: name, yjit: yjit?, failed: "#{error.cause.class}: #{error.cause.message}")
  rescue StandardError => error
    print_line(stage: name, yjit: yjit?, failed: "#{error.class}: #{error.message}")
  end

  def yjit? = defined?(RubyVM::YJIT.enabled?) ? RubyVM::YJIT.enabled? : false

  # ---- counting on, over off

  # A line for each row: what the fastest tenth of +pairs+ units takes while waits are counted, over the same while they are
  # not, in one thread and in 8 Ractors; the two take turns. The fastest, since the machine's pace changes by two from moment to
  # moment. With --ractor-trace=FILE that is written, too.
  def counting(pairs, pattern = nil, file = nil)
    abort "map.rb: this Ruby does not count what Ractors wait for" unless defined?(RubyVM::Lockfree.waits)
    $stdout.sync = true
    puts "#{"row".ljust(48)} on/off in one thread, in 8 Ractors, of #{pairs} pairs"
    MapRows.replace(file) if file
    MapRows.matching(pattern && Regexp.new(pattern)).each do |row|
      Process.wait(fork { count_row(row, pairs) })
    end
  end

  def count_row(row, pairs)
    compile(row)
    turns = calibrate(0.01)
    share = [turns / 10, 1].max
    begun = -> { time([turns / 50, 1].max) } # for some moments: then its lines are known
    print "#{row.name.ljust(48)} #{on_over_off(pairs, begun) { time(turns) }.round(3)}"
    print "  #{on_over_off([pairs / 2, 1].max) { ractors_once(8, share) }.round(3)}"
  rescue Ractor::Error => error
    print "  #{error.cause.class}"
  ensure
    puts
  end

  def on_over_off(pairs, begun = nil, &work)
    RubyVM::Lockfree.waits_enable
    taken = { true => [], false => [] }
    pairs.times do |k|
      [k.odd?, k.even?].each do |on|
        on ? RubyVM::Lockfree.waits_enable : RubyVM::Lockfree.waits_disable
        begun&.call
        taken[on] << work.call
      end
    end
    fastest = taken.transform_values { |all| Statistics.mean(all.min([pairs / 10, 1].max)) }
    fastest[true] / fastest[false]
  end

  def ractors_once(number, turns)
    answers = nil
    with_ractors(number, turns) { |go| answers = go.call }
    wall(answers)
  end

  # ---- the rows themselves

  # Each in a process of its own; the rows that are wrong.
  def check(pattern = nil, file = nil)
    MapRows.replace(file) if file
    MapRows.matching(pattern && Regexp.new(pattern)).reject do |row|
      pid = fork { exit(same_twice?(row)) }
      Process.wait2(pid).last.success?
    end
  end

  def same_twice?(row)
    compile(row)
    first, second = Array.new(2) { MapUnit.values(VALUES) }
    MapUnit.unit(3)
    $stderr.puts "#{row.name}: not the same twice: #{first.zip(second).find { |a, b| a != b }.inspect}" if first != second
    first == second
  rescue StandardError, ScriptError => error
    $stderr.puts "#{row.name}: #{error.full_message(highlight: false)[0, 500]}"
    false
  end
end

$VERBOSE = nil # Ractor's warning that it is experimental
if ARGV[0] == "--counting"
  Map.counting(Integer(ARGV.fetch(1)), *ARGV.drop(2))
  exit
end
if ARGV[0] == "--check"
  wrong = Map.check(*ARGV.drop(1))
  puts "map: #{MapRows.rows.size} rows, #{wrong.size} of them wrong"
  exit wrong.empty?
end
one_thread = ARGV.delete("--one-thread")
name, milliseconds, living, file = ARGV
abort File.foreach(__FILE__).take_while { |line| line.start_with?("#") }.join.gsub(/^# ?/, "") unless name
Map.measure(name, (milliseconds || 25).to_f, living.to_i, file, one_thread ? [] : Map::STAGES)
