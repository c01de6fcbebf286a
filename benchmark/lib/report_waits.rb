# report_waits.rb - what the Ractors of the report's workloads waited for, by --ractor-stats: of a run more, which is not timed.
#
# Ours, with YJIT, each case with the most workers that it has. What was found is kept beside the case's measurement. A case
# whose workers are no Ractors has nothing to show.

require "json"

class ReportWaits
  BINARY = "ours"
  JIT = "YJIT"

  def initialize(runner)
    @runner = runner
  end

  # workload id => what of_case gives for each of its cases; without those that have none.
  def by_workload
    $stderr.puts "report: what Ractors wait for"
    asked.group_by { |one| one.workload.id }.transform_values { |some| some.filter_map { |one| of_case(one) } }
         .reject { |_, found| found.empty? }
  end

  private

  def asked
    ours = @runner.measurements.select { |one| one.binary.name == BINARY && one.jit == JIT && one.case.workers.positive? && !one.samples.empty? }
    ours.group_by { |one| [one.workload.id, one.case.name] }.each_value.map { |some| some.max_by { |one| one.case.workers } }
  end

  # For results.json, the states' shares in the time of all Ractors but main, and seconds by line, the worst first.
  def of_case(one)
    stats = stats(one) or return
    ractors = stats["ractors"].reject { |ractor| ractor["id"] == 1 }
    return if ractors.empty?

    { "case" => one.case.name, "workers" => one.case.workers, "states" => shares(ractors),
      "culprits" => stats["culprits"].map { |culprit| [line(culprit), culprit["seconds"]] } }
  end

  def stats(one)
    file = one.file.sub(/\.json\z/, ".waits")
    unless File.exist?(file)
      first, *rest = one.command
      _, _, status = @runner.execute([first, "--ractor-stats=#{file}.new", *rest])
      return unless status&.success? && File.exist?("#{file}.new")

      File.rename("#{file}.new", file)
    end
    JSON.parse(File.read(file))
  end

  def shares(ractors)
    sums = ractors.map { |ractor| ractor["states"].transform_values { |state| state["seconds"] } }.reduce { |a, b| a.merge(b) { |_, x, y| x + y } }
    whole = sums.values.sum
    sums.transform_values { |sum| (sum / whole).round(4) }
  end

  # worker_pool.rb:12 split (sweep)
  def line(culprit)
    place = culprit["path"] ? "#{File.basename(culprit['path'])}:#{culprit['line']}" : "(no line)"
    [place, culprit["method"], "(#{culprit['cause']})"].compact.join(" ")
  end
end
