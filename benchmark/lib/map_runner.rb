# map_runner.rb - runs the rows of the map as Runner runs a suite, and keeps what crashes and hangs as it keeps a time.
#
# A sample is one process: what each stage printed. A row that has failed on a binary is not tried again, in this run or a later
# one, unless it is told to; what decides its outcome is the binary, map.rb, and the row's own source: an edit of one row measures
# that row anew.

require_relative "map_rows"
require_relative "results"
require_relative "runner"
require_relative "suite"

class MapRunner < Runner
  SERIAL = "serial"
  # Stage: what the rows of results.json call it, workers.
  STAGES = { SERIAL => ["", 0], "2 processes" => [", in processes", 2], "8 processes" => [", in processes", 8],
             "2 Ractors" => ["", 2], "8 Ractors" => ["", 8] }.freeze

  ONE_THREAD = "--one-thread" # as map.rb has it

  def self.workload(rows, binaries, jits, runs, arguments, one_thread: false)
    first = one_thread ? [ONE_THREAD] : []
    cases = rows.map { |row| Suite::Case.new(name: row.name, workers: 0, base: row.name, arguments: [*first, row.name, *arguments]) }
    Suite::Workload.new(id: "map", title: "The map", program: "map.rb", binaries: binaries, jits: jits, rounds: runs, cases: cases)
  end

  def initialize(folder, workload, binaries, limit, again)
    @again = again
    super(folder, [workload], binaries, { workload.id => [] }, limit)
  end

  private

  def sources(program, one) = [File.read(program), MapRows.named(one.name).source]

  def measurement(*)
    super.tap { |one| one.error = failed_before(one.file) }
  end

  def kept(file) = @again ? [] : super

  def failed_before(file)
    JSON.parse(File.read(file))["error"] unless @again
  rescue Errno::ENOENT, JSON::ParserError
    nil
  end

  # The error of a measurement is {stage => what happened}.
  def take(one, output, errors, status, used)
    stages = output.lines.filter_map { |line| parsed(line) }.to_h { |record| [record.delete("stage"), record] }
    one.samples << { "stages" => stages, **used }
    failed = failures(one, stages, errors, status)
    one.error = failed unless failed.empty?
    keep(one)
  end

  # A process that was killed may have left half a line.
  def parsed(line)
    record = JSON.parse(line)
    record if record.is_a?(Hash) && record["stage"]
  rescue JSON::ParserError
    nil
  end

  def failures(one, stages, errors, status)
    failed = stages.filter_map { |name, record| [name, record["failed"]] if record["failed"] }.to_h
    at = stages_of(one).find { |name| !stages.key?(name) } || "end"
    if !status
      failed[at] = "hang: not finished in #{@limit} s"
    elsif !status.success?
      failed[at] = "#{status.signaled? ? 'crash' : 'error'}: #{reason(errors, status).delete_prefix('crashed: ')}"
    elsif failed[SERIAL].nil? && at != "end"
      failed[at] = "error: nothing printed"
    end
    failed[SERIAL] ||= "error: YJIT is off" if one.jit == "YJIT" && stages.values.any? { |record| !record["yjit"] }
    failed
  end

  def stages_of(one) = one.case.arguments.first == ONE_THREAD ? [SERIAL] : STAGES.keys

  def where(round, one) = "map: run #{round} of #{@rounds}, #{MapRows.named(one.case.name).group}"
  def detail(one) = " (#{one.case.name}, #{one.jit}, #{one.binary.name})"
end
