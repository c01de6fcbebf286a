# page.rb - the page (page.html.erb) and the Markdown summary, written from the results.

require "cgi"
require "erb"
require_relative "plots"
require_relative "map_waits"
require_relative "suite"
require_relative "waits_states"

class Page
  def initialize(results, workloads, skipped, plots, folder)
    @results = results
    @workloads = workloads
    @skipped = skipped
    @plots = plots
    @folder = folder
    @head = results.head
  end

  def html = ERB.new(File.read(File.join(__dir__, "page.html.erb")), trim_mode: "-").result(binding)

  def markdown
    lines = ["![Mod.compute: speed-up over the number of Ractors](doc/speedup.svg)", "",
             "#{machine}, #{@head['date']}, by `make report#{' QUICK=1' if @head['quick']}`:",
             "mean ± σ, and stock/ours with its 95% confidence interval; above 1 ours needs less.", "",
             "| | | stock | ours | stock/ours |", "|---|---|---:|---:|---:|"]
    lines.insert(1, "", "**To be refreshed:** #{others}.") if busy?
    headlines.each { |cells| lines << "| #{cells.join(' | ')} |" }
    lines.join("\n") << "\n"
  end

  private

  def h(text) = CGI.escapeHTML(text.to_s)
  def svg(plot) = File.read(File.join(@folder, "plots", "#{plot.name}.svg")).sub(/\A.*?(?=<svg)/m, "")
  def machine = @head["machine"].then { |m| "#{m['cpu']}, #{m['cores']} cores, #{m['system']}" }
  def rows(workload) = @results.rows.select { |row| row.workload == workload.id }

  # The rows of a case together, as its program prints them; stock above ours.
  def ordered(workload)
    rows = rows(workload)
    cases = workload.cases.map { |one| [one.name, one.workers] }
    values = rows.map(&:value).uniq
    binaries = Suite::JITS.product(Suite::CRUBY)
    rows.sort_by do |row|
      [cases.index([row.case, row.workers]), values.index(row.value), binaries.index([row.jit, row.binary]) || 0]
    end
  end

  # [label, jit, stock, ours, ratio] for each headline that was measured.
  def headlines
    Suite::HEADLINES.product(Suite::JITS).filter_map do |(label, workload, name, workers, value), jit|
      stock, ours = %w[stock ours].map { |binary| @results.find(workload, name, workers, value, jit, binary) }
      next unless stock && ours

      [label, jit, quantity(stock), quantity(ours), interval(@results.to_stock(ours))]
    end
  end

  # What its Ractors waited for, a case each; report_waits.rb.
  def waits(workload) = @head["waits"].fetch(workload.id, [])

  def busy? = @head["machine"]["others"] > 0.1
  def others = "other programs used #{@head['machine']['others']} of #{@head['machine']['cores']} cores meanwhile"

  # [unit, factor] that the row is shown in.
  def scale(row) = row.unit == "s" ? ["ms", 1000.0] : [row.unit, 1.0]

  # 12.3 ± 0.4 ms
  def quantity(row)
    unit, factor = scale(row)
    digits = digits(row.mean * factor)
    "#{number(row.mean * factor, digits)} ± #{number(row.deviation * factor, digits)} #{unit == 'count' ? '' : unit}".strip
  end

  def milliseconds(seconds) = seconds.empty? ? "" : number(Statistics.mean(seconds) * 1000)
  def megabytes(kilobytes) = kilobytes.empty? ? "" : number(Statistics.mean(kilobytes) / 1024.0)

  def digits(value) = value.abs >= 100 ? 0 : value.abs >= 10 ? 1 : 2
  def number(value, digits = digits(value)) = digits.zero? ? Suite.count(value.round) : format("%.#{digits}f", value)

  # 1.23 [1.20, 1.26]
  def interval(ratio)
    return "" unless ratio

    value, low, high = ratio.map { |part| part && format(part >= 100 ? "%.0f" : "%.2f", part) }
    low ? "#{value} [#{low}, #{high}]" : "#{value} [open]"
  end

  # Whether ours needs less or more, beyond noise.
  def verdict(ratio)
    return "" unless ratio && ratio[1] && ratio[0].round(2) != 1

    ratio[1] > 1 ? "better" : ratio[2] < 1 ? "worse" : ""
  end
end
