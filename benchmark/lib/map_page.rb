# map_page.rb - the map as a table in Markdown, and as a picture: a bar for each row on stock and on ours.

require_relative "map_results"
require_relative "map_rows"
require_relative "plots"
require_relative "statistics"

class MapPage < Plots
  # What a row waited for, by colour.
  COLOURS = { "nothing" => GREEN, "collector" => ORANGE, "lock" => VERMILION, "kernel" => SKY, "memory" => PURPLE,
              "processor" => "#999999" }.freeze
  SHOWN = "ours"
  # A row of the table on one binary. speed_ups: {case suffix and workers => [median, lowest, highest]}
  # work: what an operation takes of the processor in 8 Ractors, over one thread
  Cell = Struct.new(:ns, :speed_ups, :work, :failed, :waited, keyword_init: true) do
    def speed_up = failed ? nil : speed_ups[["", 8]]&.first
  end
  Line = Struct.new(:name, :group, :cells, keyword_init: true)

  def initialize(results, rows)
    super(results)
    @rows = rows
    @stages = results.rows.group_by { |one| [one.base, one.jit, one.binary] }
    @binaries = results.rows.map(&:binary).uniq
    @jits = results.rows.map(&:jit).uniq
    @main = @binaries.include?(SHOWN) ? SHOWN : @binaries.last
  end

  def markdown = @jits.map { |jit| table(jit) }.join("\n")

  # The slowest against the other binary first.
  def one_thread = @jits.map { |jit| one_thread_table(jit) }.join("\n")

  # Draws FOLDER/map-JIT.svg and .png.
  def draw_all(folder) = @jits.each { |jit| draw_map(jit, folder) }

  private

  # The worst first; what failed before all.
  def lines(jit)
    lines = @rows.map do |row|
      Line.new(name: row.name, group: row.group, cells: @binaries.to_h { |binary| [binary, cell(row, jit, binary)] })
    end
    lines.sort_by { |line| [line.cells[@main].speed_up || -1, line.name] }
  end

  def cell(row, jit, binary)
    all = @stages.fetch([row.name, jit, binary], [])
    stages = all.select { |one| one.value == MapResults::OPERATION }
    work = [0, 8].map { |workers| all.find { |one| one.workers == workers && one.value == MapResults::PROCESSOR } }
    serial = stages.find { |one| one.workers.zero? }
    speed_ups = stages.reject { |one| one.workers.zero? }.to_h do |one|
      [[one.case.delete_prefix(row.name), one.workers], spread(serial, one)]
    end
    Cell.new(ns: serial&.measured? ? Statistics.median(serial.samples) : nil, speed_ups: speed_ups,
             work: work.all? ? spread(*work.reverse)&.first : nil, failed: MapResults.failure(stages.filter_map(&:error).first),
             waited: stages.find { |one| one.case == row.name && one.workers == 8 }&.waited)
  end

  # Of the processes that came that far, each beside its own one thread: [median, lowest, highest].
  def spread(serial, row)
    ratios = serial.samples.zip(row.samples).filter_map { |one, parallel| one / parallel if parallel }
    [Statistics.median(ratios), *ratios.minmax] unless ratios.empty?
  end

  # ---- the table

  def table(jit)
    head = ["row", "group", *@binaries.map { |name| "ns, #{name}" }, *@binaries.map { |name| "2 Ractors, #{name}" },
            *@binaries.map { |name| "8 Ractors, #{name}" }, "2 and 8 processes", *@binaries.map { |name| "work, #{name}" }, *@binaries.map { |name| "waited for, #{name}" }]
    lines = lines(jit)
    ["### #{jit}", "", *summary(lines), "", "| #{head.join(' | ')} |", "|---|---#{'|---:' * (@binaries.size * 4 + 1)}#{'|---' * @binaries.size}|",
     *lines.map { |line| "| #{cells(line).join(' | ')} |" }, ""].join("\n")
  end

  # Of one binary, what a row takes; of two, what ours takes over the other, with the 95% confidence interval, too.
  def one_thread_table(jit)
    lines = lines(jit)
    ratios = lines.to_h { |line| [line.name, serial_interval(line.name, jit)] }
    head = ["row", "group", *@binaries.map { |name| "ns, #{name}" }, *("#{@main} over the other" if @binaries.size > 1)]
    rows = lines.sort_by { |line| [-(ratios[line.name]&.first || 0), line.name] }.map do |line|
      all = line.cells.values
      [line.name.gsub("|", "\\|"), line.group, *all.map { |cell| cell.ns ? nanoseconds(cell.ns) : cell.failed.to_s },
       *(interval(ratios[line.name]) if @binaries.size > 1)]
    end
    ["### #{jit}", "", *serial_ratio(lines), "", "| #{head.join(' | ')} |", "|---|---#{'|---:' * (head.size - 2)}|",
     *rows.map { |row| "| #{row.join(' | ')} |" }, ""].join("\n")
  end

  def serial_interval(name, jit)
    ours, other = [@main, *@binaries - [@main]].map do |binary|
      @stages.fetch([name, jit, binary], []).find { |one| one.workers.zero? && one.value == MapResults::OPERATION && one.measured? }
    end
    Statistics.ratio(ours.samples, other.samples) if ours && other
  end

  def interval((middle, low, high)) = low ? format("%.2f [%.2f, %.2f]", middle, low, high) : number(middle)

  def cells(line)
    all = line.cells.values
    main = line.cells[@main]
    [line.name.gsub("|", "\\|"), line.group, *all.map { |cell| cell.ns ? nanoseconds(cell.ns) : "" },
     *all.map { |cell| ratio(cell, ["", 2]) }, *all.map { |cell| ratio(cell, ["", 8], true) },
     [2, 8].map { |workers| number(main.speed_ups[[", in processes", workers]]&.first) }.join(", "),
     *all.map { |cell| number(cell.work) }, *all.map { |cell| cell.failed || cell.waited || "" }]
  end

  def nanoseconds(ns) = ns < 100 ? format("%.1f", ns) : ns.round.to_s
  def number(value) = value ? format("%.2f", value) : ""

  # With the lowest and highest, where several processes were measured.
  def ratio(cell, key, whole = false)
    middle, low, high = cell.speed_ups[key]
    return cell.failed.to_s unless middle

    whole && low != high ? format("%.2f [%.2f, %.2f]", middle, low, high) : number(middle)
  end

  def summary(lines)
    @binaries.map do |binary|
      cells = lines.map { |line| line.cells[binary] }
      failed = cells.filter_map(&:failed).tally.map { |word, times| "#{times} #{word}" }
      known = cells.filter_map(&:speed_up)
      "* #{binary}: of #{cells.size} rows 8 Ractors are below 1.0 in #{known.count { |one| one < 1 }}, from 1.7 on in " \
        "#{known.count { |one| one >= 1.7 }}; failed: #{failed.empty? ? 'none' : failed.join(', ')}"
    end + serial_ratio(lines)
  end

  def serial_ratio(lines)
    return [] unless @binaries.size > 1

    ratios = lines.map { |line| line.cells.values_at(@main, (@binaries - [@main]).first).map(&:ns) }.select(&:all?)
                  .map { |ours, stock| ours / stock }
    return [] if ratios.empty?

    ["* in one thread #{@main} takes #{number(Statistics.geometric_mean(ratios))} of the other's time, geometric mean; above 1.02 in " \
      "#{ratios.count { |one| one > 1.02 }} rows"]
  end

  # ---- the picture

  # What is drawn in one way: points, and how gnuplot draws them.
  Series = Struct.new(:points, :style, keyword_init: true)

  def draw_map(jit, folder)
    lines = lines(jit).reverse # gnuplot counts from below
    plot = Plot.new(name: "map-#{jit}", title: "8 Ractors over one thread, #{jit}")
    all = series(lines).reject { |one| one.points.empty? } # labels without a point crash gnuplot 5.4
    path = File.join(folder, plot.name)
    height = 140 + lines.size * 16
    gnuplot(<<~SCRIPT)
      #{all.each_with_index.map { |one, k| ["$series#{k} << END", *one.points, "END"].join("\n") }.join("\n")}
      #{axes(lines, plot)}
      set terminal svg size 860,#{height} dynamic font "sans-serif,11" name "#{plot.name.tr('-', '_')}" noenhanced
      set output "#{path}.svg"
      plot #{all.each_with_index.map { |one, k| "$series#{k} #{one.style}" }.join(", \\\n")}
      set terminal pngcairo size 1290,#{height * 3 / 2} fontscale 1.0 noenhanced
      set output "#{path}.png"
      replot
    SCRIPT
    File.write("#{path}.svg", Plots.standalone(recoloured(File.read("#{path}.svg"), plot)))
  end

  def axes(lines, plot)
    tics = lines.each_with_index.map { |line, y| %("#{line.name.tr('"', "'").gsub('%', '%%')}" #{y}) }
    <<~SCRIPT
      set title "#{plot.title}"
      set xrange [0:2]
      set yrange [-0.7:#{lines.size - 0.3}]
      set xtics 0,0.5 mirror
      set grid xtics
      set border 1
      set ytics (#{tics.join(', ')}) scale 0
      set key outside top center maxcols 3 samplen 1
      set style line 100 lc rgb "black" lw 1.5
    SCRIPT
  end

  def series(lines) = [*bars(lines), ceiling(lines), *words(lines)]

  # A bar for each row, of one colour for each binary and word: ours above, stock paler below.
  def bars(lines)
    [@main, *@binaries - [@main]].product(COLOURS.to_a).map do |binary, (word, colour)|
      density, low, high = binary == @main ? [1.0, -0.05, 0.42] : [0.4, -0.42, -0.05]
      points = points(lines, binary) do |cell, y|
        [[cell.speed_up, 2].min, y + low, y + high] if cell.speed_up && cell.waited == word
      end
      style = "using (0):2:(0):1:2:3 with boxxyerror fs transparent solid #{density} noborder lc rgb \"#{colour}\" " \
              "title \"#{binary}, waited for: #{word}\""
      Series.new(points: points, style: style)
    end
  end

  # What as many processes do: a stroke across the bars.
  def ceiling(lines)
    points = points(lines, @main) { |cell, y| cell.speed_ups[[", in processes", 8]]&.first&.then { |value| [[value, 2].min, y - 0.42] } }
    Series.new(points: points, style: 'using 1:2:(0):(0.84) with vectors nohead ls 100 title "8 processes"')
  end

  # Of the rows that failed, in place of a bar.
  def words(lines)
    @binaries.map do |binary|
      points = points(lines, binary) { |cell, y| [0.01, binary == @main ? y + 0.2 : y - 0.24, %("#{binary}: #{cell.failed}")] if cell.failed }
      Series.new(points: points, style: 'using 1:2:3 with labels left font ",8" notitle')
    end
  end

  def points(lines, binary)
    lines.each_with_index.filter_map { |line, y| yield(line.cells[binary], y)&.join(" ") }
  end
end
