# map_waits.rb - what the Ractors of the slow rows of the map waited for, as --ractor-stats would tell: a table.

require_relative "map_runner"
require_relative "statistics"

module MapWaits
  SLOW = 1.8 # over one thread
  SHOWN = 4  # states and lines of a row

  module_function

  # Of the binaries that count it, the worst first.
  def markdown(measurements)
    rows = measurements.filter_map { |one| row(one) }.sort_by { |_, _, speed_up| speed_up }
    return "" if rows.empty?

    ["## What 8 Ractors waited for, where they are below #{SLOW}", "",
     "| row | mode | 8 Ractors | their time, % | lines of the row that made others wait, ms |", "|---|---|---:|---|---|",
     *rows.map { |name, jit, speed_up, *texts| "| #{[name, jit, format('%.2f', speed_up), *texts].map { |text| text.gsub('|', '\|') }.join(' | ')} |" },
     ""].join("\n")
  end

  def row(one)
    stages = one.samples.map { |sample| sample["stages"].values_at(MapRunner::SERIAL, "8 Ractors") }
    stages.select! { |both| both.all? { |stage| stage && stage["ns"] && !stage["failed"] } && both[1]["waits"] }
    return if stages.empty?

    speed_up = Statistics.median(stages.map { |serial, ractors| serial["ns"] / ractors["ns"] })
    [one.case.name, one.jit, speed_up, *texts(stages.last[1]["waits"])] if speed_up < SLOW
  end

  # Both as text: the states that had most of the time, and the lines.
  def texts(waits)
    states = waits["states"].max_by(SHOWN) { |_, share| share }.select { |_, share| share >= 0.005 }
    [states.map { |state, share| "#{state} #{(share * 100).round}" }.join(", "),
     waits["culprits"].first(SHOWN).map { |what, seconds| format("%s %.1f", what, seconds * 1e3) }.join(", ")]
  end
end
