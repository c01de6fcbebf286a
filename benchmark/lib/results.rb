# results.rb - the measurements as rows, and as JSON: what the page, the plots, the summary and bench-compare read.
#
# A row is one value of one case on one binary; its samples are one process each. `error` says why it has none or too few;
# `waited` what it waited for, in one word, where that was asked (make map).

require "json"
require_relative "statistics"

class Results
  FORMAT = 1
  Row = Struct.new(:workload, :case, :workers, :value, :unit, :binary, :jit, :base, :samples, :user, :system, :rss, :error,
                   :waited, keyword_init: true) do
    # What is compared: the same row on another binary, or of another run.
    def key = [workload, self.case, workers, value, jit]
    def measured? = !samples.empty?
    def mean = Statistics.mean(samples)
    def deviation = Statistics.deviation(samples)
  end

  # What is wrong with a file that was given.
  Unreadable = Class.new(StandardError)

  attr_reader :head, :rows

  # head: a hash of what the run was; see benchmark/report.
  def initialize(head, rows)
    @head = head
    @rows = rows
    @index = rows.to_h { |row| [[*row.key, row.binary], row] }
  end

  def self.of(head, measurements) = new(head, measurements.flat_map { |one| rows_of(one) })

  def self.rows_of(one)
    common = { workload: one.workload.id, case: one.case.name, workers: one.case.workers, base: one.case.base,
               binary: one.binary.name, jit: one.jit, error: one.error }
    %i[user system rss].each { |name| common[name] = one.samples.map { |sample| sample[name.to_s] } }
    return [Row.new(**common, value: "time", unit: "s", samples: [])] if one.samples.empty?

    one.samples.first["values"].map do |value, (_, unit)|
      Row.new(**common, value: value, unit: unit, samples: one.samples.map { |sample| sample["values"].fetch(value).first })
    end
  end

  def self.load(path)
    data = JSON.parse(File.read(path))
    raise ArgumentError unless report?(data)

    new(data["head"], data["rows"].map { |row| Row.new(**row.transform_keys(&:to_sym)) })
  rescue Errno::ENOENT
    raise Unreadable, "there is no file #{path}"
  rescue Errno::EISDIR, Errno::EACCES => error
    raise Unreadable, "#{path} cannot be read (#{error.class.name[/\w+\z/]})"
  rescue JSON::ParserError, ArgumentError, TypeError
    raise Unreadable, "#{path} is not a report's results.json"
  end

  def self.report?(data)
    data.is_a?(Hash) && data["format"] == FORMAT && data.dig("head", "machine").is_a?(Hash) && data["rows"].is_a?(Array) &&
      data["rows"].all? { |row| row.is_a?(Hash) && row["workers"].is_a?(Integer) && row["samples"].is_a?(Array) }
  end

  def save(path)
    File.write("#{path}.new", JSON.pretty_generate(format: FORMAT, head: @head, rows: @rows.map { |row| row.to_h.compact }) << "\n")
    File.rename("#{path}.new", path)
  end

  def find(workload, name, workers, value, jit, binary)
    row = @index[[workload, name, workers, value, jit, binary]]
    row if row&.measured?
  end

  # How many times stock needs of what this row needs: [ratio, low, high]. JRuby is compared with stock's Ractors on YJIT.
  def to_stock(row)
    stock = if row.binary == "jruby"
              find(row.case == "Mod.compute" ? "reads" : "sum", row.case, row.workers, row.value, "YJIT", "stock")
            elsif row.binary != "stock"
              find(*row.key, "stock")
            end
    Statistics.ratio(stock.samples, row.samples) if stock && row.measured?
  end

  # Time of one thread over this row's, same binary: [ratio, low, high].
  def speed_up(row)
    return unless row.base && %w[s ns].include?(row.unit) && row.measured? && row.workers.positive?

    serial = find(row.workload, row.base, 0, row.value, row.jit, row.binary)
    Statistics.ratio(serial.samples, row.samples) if serial
  end
end
