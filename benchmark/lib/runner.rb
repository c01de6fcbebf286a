# runner.rb - runs the suite, round by round, and keeps each measurement in a file as soon as it is made.
#
# A measurement is one case on one binary, without or with YJIT: a file in FOLDER, with one sample a round. Its name has a
# digest of all that decides its outcome (the binary, the program, the arguments), so a run that was interrupted goes on
# where it stopped, and a binary that was built anew is measured anew.

require "digest"
require "etc"
require "fileutils"
require "json"

class Runner
  Measurement = Struct.new(:workload, :case, :binary, :jit, :command, :file, :samples, :error, keyword_init: true) do
    def pending?(round) = error.nil? && samples.size < round && workload.rounds >= round
  end

  Replaced = Class.new(StandardError)
  ENVIRONMENT = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil }.freeze
  PROGRAMS = File.expand_path("..", __dir__)
  SHARED = %w[measure.rb mod_compute.rb].freeze # what programs load

  attr_reader :measurements

  # binaries: name to Ruby or JRuby; folders: workload id to what -I gets; limit: seconds that a process may take.
  def initialize(folder, workloads, binaries, folders, limit)
    @folder = folder
    @limit = limit
    FileUtils.mkdir_p(folder)
    @measurements = workloads.flat_map do |workload|
      workload.cases.product(workload.jits, workload.binaries.map { |name| binaries.fetch(name) }).map do |one, jit, binary|
        measurement(workload, one, jit, binary, folders.fetch(workload.id))
      end
    end
    @workloads = workloads.map(&:id)
    @rounds = workloads.map(&:rounds).max
    @spent = Hash.new { |hash, id| hash[id] = [] } # seconds of the processes so far
  end

  def run
    1.upto(@rounds) do |round|
      pending = @measurements.select { |one| one.pending?(round) }
      pending.each_with_index do |one, i|
        raise Replaced, "#{one.binary.name} was built anew meanwhile" if one.binary.replaced?

        progress(round, one, pending.drop(i))
        measure(one)
      end
    end
    $stderr.puts
  end

  # How many cores other programs used while this was measured.
  def others
    samples = @measurements.flat_map(&:samples)
    samples.empty? ? 0.0 : samples.sum { |sample| sample["others"] } / samples.sum { |sample| sample["wall"] }
  end

  # [what it printed, its errors, its status; nil if it took too long]
  def execute(command)
    out, err = %w[out err].map { |name| File.join(@folder, ".#{name}") }
    pid = Process.spawn(ENVIRONMENT, *command, in: File::NULL, out: out, err: err, pgroup: true, rlimit_core: 0,
                        chdir: @folder)
    status = wait(pid)
    [File.read(out), File.read(err).scrub, status]
  ensure
    stop(pid) if pid && !status
    FileUtils.rm_f([out, err])
  end

  private

  def measurement(workload, one, jit, binary, folders)
    program = File.join(PROGRAMS, workload.program || one.arguments.first)
    arguments = workload.program ? one.arguments : one.arguments.drop(1)
    digest = Digest::SHA256.hexdigest([binary.identity, *sources(program, one), *arguments].join("\0"))
    name = [workload.id, one.name, one.workers, binary.name, jit, digest[0, 12]].join("-").gsub(/[^\w.]+/, "-")
    file = File.join(@folder, "#{name}.json")
    Measurement.new(workload: workload, case: one, binary: binary, jit: jit, file: file, samples: kept(file), error: nil,
                    command: binary.start(jit, program, folders, arguments))
  end

  # What decides the outcome beside the binary and the arguments.
  def sources(program, _case) = [program, *SHARED.map { |name| File.join(PROGRAMS, name) }].map { |path| File.read(path) }

  def kept(file)
    JSON.parse(File.read(file)).fetch("samples")
  rescue Errno::ENOENT, JSON::ParserError, KeyError
    []
  end

  # A case that fails is not tried again in this run. A sample gets what the process took in all, and what others used
  # of the processor meanwhile, in seconds.
  def measure(one)
    before = clocks
    output, errors, status = execute(one.command)
    wall, busy, own = clocks.zip(before).map { |now, then_| now - then_ }
    @spent[one.workload.id] << wall
    take(one, output, errors, status, "wall" => wall, "others" => [busy - own, 0.0].max)
  end

  def take(one, output, errors, status, used)
    if status&.success?
      one.samples << JSON.parse(output).merge(used)
      keep(one)
    else
      one.error = status ? reason(errors, status) : "not finished in #{@limit} s"
    end
  rescue JSON::ParserError
    one.error = "printed no result: #{output[0, 200].inspect}"
  end

  # Seconds: the clock, what all processes have used, what this one and its children have used.
  def clocks
    user, nice, system, _idle, _iowait, irq, softirq, steal = File.foreach("/proc/stat").first.scan(/\d+/).map(&:to_f)
    [Process.clock_gettime(Process::CLOCK_MONOTONIC),
     [user, nice, system, irq, softirq, steal].sum / Etc.sysconf(Etc::SC_CLK_TCK), Process.times.to_a.sum]
  end

  def wait(pid)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + @limit
    pause = 0.002
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline
      return $? if Process.wait(pid, Process::WNOHANG)

      sleep(pause)
      pause = [pause * 1.2, 0.05].min
    end
  end

  def stop(pid)
    Process.kill(:KILL, -pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil # it has ended meanwhile
  end

  # The last error that Ruby printed, or the signal that ended it.
  def reason(errors, status)
    return "crashed: #{errors[/\[BUG\].*/] || "signal #{Signal.signame(status.termsig)}"}" if status.signaled?

    lines = errors.lines.map(&:strip).reject(&:empty?)
    errors.scan(/: ([^\n]*\([A-Z][\w:]*\))$/).flatten.last || lines.last || "exit #{status.exitstatus}"
  end

  # A reader of the file sees the old one or the new one.
  def keep(one)
    record = { workload: one.workload.id, case: one.case.name, workers: one.case.workers, binary: one.binary.name, jit: one.jit,
               arguments: one.case.arguments, error: one.error, samples: one.samples }
    File.write("#{one.file}.new", JSON.pretty_generate(record) << "\n")
    File.rename("#{one.file}.new", one.file)
  end

  def progress(round, one, pending)
    stage = where(round, one)
    left = "about #{duration(left(round, pending))} left"
    if $stderr.tty?
      $stderr.print "\r\e[K#{stage}#{detail(one)}, #{left}"
    elsif stage != @stage
      $stderr.puts "#{stage}, #{left}"
    end
    @stage = stage
  end

  def where(round, one)
    k = @workloads.index(one.workload.id) + 1
    "report: round #{round} of #{@rounds}, workload #{k} of #{@workloads.size} (#{one.workload.id})"
  end

  # What only a terminal is shown, on one line that changes.
  def detail(_one) = ""

  # Seconds that the rest takes if its processes take as long as those of the same workload so far; a workload that has
  # not begun counts as the mean of the others.
  def left(round, pending)
    later = @measurements.sum do |one|
      one.error ? 0 : [one.workload.rounds - [round, one.samples.size].max, 0].max * expected(one)
    end
    later + pending.sum { |one| expected(one) }
  end

  def expected(one)
    spent = @spent[one.workload.id]
    spent = @spent.values.flatten if spent.empty?
    spent.empty? ? 0.3 : spent.sum / spent.size
  end

  def duration(seconds) = seconds < 90 ? "#{seconds.round} s" : "#{(seconds / 60).round} min"
end
