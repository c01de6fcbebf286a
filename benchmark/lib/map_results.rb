# map_results.rb - the measurements of the map as rows of results.json, and what each waited for.
#
# A row of results.json is one stage of one row of the map: an operation in nanoseconds of the wall clock, in one thread (no
# workers), in Ractors, and, as a case of its own, in processes; and the same of the processor. So less is better, and bench-compare reads it like a report.

require_relative "map_rows"
require_relative "map_runner"
require_relative "results"
require_relative "statistics"

module MapResults
  OPERATION = "an operation"
  PROCESSOR = "an operation, of the processor"
  SWITCH = 5e-6      # seconds that a sleep and the waking cost at least
  SWITCHES = 100     # of a stop of 8 Ractors, at most; stock takes some 80
  ENOUGH = 0.9       # of what processes do: nothing was waited for

  module_function

  def of(head, measurements) = Results.new(head, measurements.flat_map { |one| rows_of(one) })

  def rows_of(one)
    MapRunner::STAGES.flat_map do |stage, (suffix, workers)|
      records = one.samples.filter_map { |sample| sample["stages"][stage] }.select { |record| record["ns"] && !record["failed"] }
      next [] if records.empty? && !one.error # nobody has asked for it
      row = Results::Row.new(workload: one.workload.id, case: one.case.name + suffix, workers: workers, value: OPERATION, unit: "ns",
                             binary: one.binary.name, jit: one.jit, base: one.case.name,
                             samples: records.map { |record| record["ns"] }, user: [], system: [], rss: [],
                             error: error(one, stage), waited: waited(one, stage, workers))
      used = records.filter_map { |record| processor(record, [workers, 1].max) }
      used.empty? ? [row] : [row, Results::Row.new(**row.to_h, value: PROCESSOR, samples: used, error: nil, waited: nil)]
    end
  end

  # Nanoseconds of the processor for an operation; of processes it is not known.
  def processor(record, workers)
    (record["user"] + record["system"]) * 1e9 / (record["turns"] * workers) if record["user"]
  end

  # What happened at the end, or where no stage was reached, belongs to the last stage.
  def error(one, stage)
    return unless one.error

    found = one.error[stage]
    found ||= one.error["end"]&.then { |text| "#{text} (at the end)" } if stage == MapRunner::STAGES.keys.last
    found || ("not reached" if one.samples.none? { |sample| sample["stages"].key?(stage) })
  end

  # What kept it from the processes' speed, in the word of most samples: doc/benchmarks.md says how it is found.
  def waited(one, stage, workers)
    return unless stage == "#{workers} Ractors"

    words = one.samples.filter_map do |sample|
      records = [MapRunner::SERIAL, "#{workers} processes", stage].map { |name| sample["stages"][name] }
      word(*records, workers, Etc.nprocessors) if records.all? { |record| record && record["ns"] && !record["failed"] }
    end
    words.tally.max_by(&:last)&.first
  end

  def word(serial, processes, ractors, workers, cores)
    turns = workers * ractors["turns"]
    lost = ractors["wall"] - turns * processes["ns"] / 1e9
    return "nothing" if lost < (1 - ENOUGH) * ractors["wall"]

    # Beyond what so many turns take in one thread.
    more = %w[switches collecting system user].to_h { |name| [name, ractors[name] - turns * serial[name] / serial["turns"]] }
    if more["switches"] * SWITCH > 0.1 * lost * [workers, cores].min
      return ractors["collections"] * SWITCHES > more["switches"] / 2 ? "collector" : "lock"
    end
    return "collector" if more["collecting"] > lost / 4

    used = ractors["user"] + ractors["system"]
    return "kernel" if more["system"] > 0.3 * used

    more["user"] > 0.25 * used ? "memory" : "processor"
  end

  # A failure in one word.
  def failure(text)
    return text[/\A(crash|hang|wrong|error|not reached)/] || text[/\A(?:[A-Z]\w*::)*([A-Z]\w*)/, 1] || "error" if text
  end

  # Whether the row fails for no reason that lies in Ractors' rules.
  def bad?(row) = row.error && (row.workers.zero? || %w[crash hang wrong error].include?(failure(row.error)))
end
