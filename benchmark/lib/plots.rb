# plots.rb - the plots, drawn by gnuplot: each as SVG, for the page, and as PNG.
#
# Colours are Okabe and Ito's, which the colour-blind tell apart; each line has a marker of its own. In the SVG what is
# black becomes currentColor, so that the page's colours hold in dark mode too.

require_relative "statistics"

class Plots
  Plot = Struct.new(:name, :workload, :title, :x, :y, :log, :ideal, :lines, keyword_init: true)
  # points: [x, y, low, high]
  Line = Struct.new(:label, :style, :points, keyword_init: true)

  ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
  # binary, JIT, colour, marker
  BINARIES = [["stock", "interpreter", ORANGE, 4], ["stock", "YJIT", VERMILION, 5],
              ["ours", "interpreter", SKY, 6], ["ours", "YJIT", BLUE, 7]].freeze
  JRUBY = ["jruby", "JVM", PURPLE, 9].freeze
  WAYS = { "threads" => [ORANGE, 4], "processes" => [GREEN, 9], "ractors-copy" => [SKY, 6],
           "ractors-shareable" => [BLUE, 7], "ractors-move" => [PURPLE, 11] }.freeze
  SPEED_UP = { y: "times as fast as one thread", ideal: true }.freeze
  SCHEMES = "<style>svg { color: #1f2328; background: #fff }\n" \
            "@media (prefers-color-scheme: dark) { svg { color: #d1d7e0; background: #0d1117 } }</style>".freeze

  def initialize(results)
    @results = results
    @cores = results.head["machine"]["cores"]
  end

  def all = speed_ups("reads") + speed_ups("sum") + writes + pool + memory + jruby

  # Draws a plot as FOLDER/name.svg and .png.
  def draw(plot, folder)
    path = File.join(folder, plot.name)
    gnuplot(<<~SCRIPT)
      #{settings(plot)}
      set terminal svg size 460,340 dynamic font "sans-serif,13" name "#{plot.name.tr('-', '_')}"
      set output "#{path}.svg"
      plot #{curves(plot)}
      set terminal pngcairo size 920,680 fontscale 1.5 linewidth 1.6 pointscale 1.6
      set output "#{path}.png"
      replot
    SCRIPT
    File.write("#{path}.svg", recoloured(File.read("#{path}.svg"), plot))
  end

  # An SVG that stands alone, as in a README: it takes the reader's scheme.
  def self.standalone(svg) = svg.sub(/<svg\b[^>]*>/m) { |tag| "#{tag}\n#{SCHEMES}" }

  private

  def rows(workload, value) = @results.rows.select { |row| row.measured? && row.workload == workload && row.value == value }
  def of(rows, binary, jit) = rows.select { |row| row.binary == binary && row.jit == jit }
  def file_name(*parts) = parts.join("-").gsub(/\W+/, "-")

  # One plot for each case of the workload: a line for each binary.
  def speed_ups(workload)
    rows(workload, "time").group_by(&:case).map do |name, rows|
      lines = BINARIES.map { |binary, jit, *style| speed_up("#{binary}, #{jit}", style, of(rows, binary, jit)) }
      Plot.new(name: file_name(workload, name), workload: workload, title: name, x: "Ractors", lines: lines, **SPEED_UP)
    end
  end

  # One plot for each binary: a line for each way.
  def pool
    BINARIES.map do |binary, jit, *|
      ways = of(rows("pool", "time"), binary, jit).group_by(&:case)
      lines = WAYS.map { |way, style| speed_up(way, style, ways.fetch(way, [])) }
      Plot.new(name: file_name("pool", binary, jit), workload: "pool", title: "#{binary}, #{jit}", x: "workers", lines: lines,
               **SPEED_UP)
    end
  end

  def speed_up(label, style, rows)
    points = rows.filter_map do |row|
      ratio, low, high = @results.speed_up(row)
      [row.workers, ratio, low || ratio, high || ratio] if ratio
    end
    Line.new(label: label, style: style, points: points)
  end

  def writes
    ["", ", a Ractor reads"].product(%w[overwrite append remove]).map do |readers, operation|
      lines = by_binary(rows("writes", "a write")) { |row| row.case[/\A#{operation} (\d+)#{readers}\z/, 1]&.to_i }
      Plot.new(name: file_name("writes", operation, *("reader" unless readers.empty?)), workload: "writes",
               title: "#{operation}#{readers}", x: "variables of the class", y: "ns a write", log: "xy", lines: lines)
    end
  end

  def memory
    lines = by_binary(rows("memory", "a class")) { |row| row.case.to_i }
    [Plot.new(name: "memory", workload: "memory", title: "what a class adds to the resident set", x: "instance variables",
              y: "bytes a class", lines: lines)]
  end

  # Seconds, since each has another start: JRuby's threads beside the Ractors on YJIT.
  def jruby
    { "Mod.compute" => "reads", "sum of squares" => "sum" }.map do |name, twin|
      all = (rows(twin, "time") + rows("jruby", "time")).select { |row| row.case == name && row.workers.positive? }
      lines = [BINARIES[1], BINARIES[3], JRUBY].map do |binary, jit, *style|
        Line.new(label: "#{binary}, #{binary == 'jruby' ? 'threads' : 'Ractors'}", style: style,
                 points: of(all, binary, jit).map { |row| point(row.workers, row) })
      end
      Plot.new(name: file_name("jruby", name), workload: "jruby", title: name, x: "Ractors or threads", y: "seconds",
               log: "y", lines: lines)
    end
  end

  # A line for each binary of the rows for which the block gives an x.
  def by_binary(rows)
    BINARIES.map do |binary, jit, *style|
      points = of(rows, binary, jit).filter_map { |row| x = yield(row) and point(x, row) }
      Line.new(label: "#{binary}, #{jit}", style: style, points: points)
    end
  end

  def point(x, row) = [x, row.mean, [row.mean - row.deviation, row.mean / 10].max, row.mean + row.deviation]

  def settings(plot)
    plot.lines.reject! { |line| line.points.empty? }
    data = plot.lines.each_with_index.map do |line, i|
      ["$line#{i} << END", *line.points.sort.map { |point| point.join(" ") }, "END"].join("\n")
    end
    most, highest = plot.lines.flat_map(&:points).transpose.first(2).map(&:max)
    range = case plot.log
            when "xy" then "set logscale xy; set xrange [7:#{most * 1.4}]"
            when "y" then "set logscale y; set xrange [0:#{most + 0.5}]"
            else "set xrange [0:#{most + 0.5}]; set yrange [0:#{[highest, plot.ideal ? @cores : 0].max * 1.15}]"
            end
    <<~SCRIPT
      #{data.join("\n")}
      #{range}
      set xlabel "#{plot.x}" offset 0,0.3
      #{"set xtics (#{(plot.lines.flat_map(&:points).map(&:first) | [1]).sort.join(', ')})" if plot.ideal}
      set ylabel "#{plot.y}"
      set grid ytics
      set border 3
      set tics nomirror
      set key outside below Left reverse maxcols 2 samplen 2
      set format "%g"
      set style line 100 lc rgb "black" dt (6,4) lw 1.5
    SCRIPT
  end

  def curves(plot)
    curves = plot.lines.each_with_index.map do |line, i|
      colour, marker = line.style
      %($line#{i} using 1:2:3:4 with yerrorlines lw 2 lc rgb "#{colour}" pt #{marker} ps 0.9 title "#{line.label}")
    end
    most = plot.lines.flat_map(&:points).map(&:first).max
    curves << %([1:#{most}] (x < #{@cores} ? x : #{@cores}) with lines ls 100 title "ideal, #{@cores} cores") if plot.ideal
    curves.join(", \\\n")
  end

  def gnuplot(script)
    errors = IO.popen(["gnuplot", { err: %i[child out] }], "r+") do |pipe|
      pipe.write(script)
      pipe.close_write
      pipe.read
    end
    $?.success? or abort "report: gnuplot failed:\n#{errors}"
  rescue Errno::ENOENT
    abort "report: gnuplot is missing (Debian: gnuplot-nox); install it and run again, what was measured is kept"
  end

  # Black and grey become the page's; ids become the plot's own, since a page has many plots.
  def recoloured(svg, plot)
    svg.gsub(/\bcolor="(black|white|gray)"/, "")
       .gsub(/(['"])(black|rgb\(\s*0,\s*0,\s*0\))\1/, "'currentColor'")
       .gsub(/(['"])(gray|grey)\1/, "'currentColor' stroke-opacity='0.35'")
       .gsub(/gp(Pt|Dot)/, "#{plot.name}-\\0")
       .sub(%r{<desc>.*?</desc>}m, "").sub(%r{<filter.*</filter>}m, "")
       .sub("<title>Gnuplot</title>", "<title>#{plot.title}</title>").sub("<svg", "<svg role='img'").gsub(/[ \t]+$/, "")
  end
end
