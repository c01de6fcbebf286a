# sharing_table.rb - what Sharing.report wrote of a row (sharing.c), as a figure and names, and of all rows as a table.

require "json"

module SharingTable
  LEAST = 0.02    # lines an operation: what is less counts as none
  NAMED = 3       # places for a row
  # What is named by who calls it: locks, lists, atomic operations, copying, write barriers.
  PLUMBING = %r{vm_sync\.[ch]|vm/(lock|stop)\.h|atomic\.h|list\.h|string_fortified\.h|internal/gc\.h|fl_type\.h|gc/gc\.h|gc\.c:}

  # A line of memory that is shared: how often a Ractor touches it in a turn (1.0: in each, or oftener), from
  # where it is written: a place, and its callers.
  Line = Struct.new(:touched, :written, :touching)

  module_function

  # {"lines" => of an operation, "places" => [[where it is written, lines]]}
  def of(path, turns, ractors)
    lines = File.foreach(path).map(&:split).slice_when { |a, b| a[0] != b[0] }.map { |touches| line(touches, turns, ractors) }
    { "lines" => lines.sum(&:touched).round(3),
      "places" => largest(lines) { |line| [line.written, line.touching].map { |frames| place(frames) }.uniq.join(", read ") } }
  end

  # touches: [line, Ractor, reads, writes, place] each. A Ractor finds a line gone no oftener than others have
  # written it since, and has to take it from others no oftener than these have touched it; and once in a turn is enough.
  def line(touches, turns, ractors)
    sums = touches.group_by { |touch| touch[1] }.values.map { |some| [some.sum { |touch| touch[2].to_i }, some.sum { |touch| touch[3].to_i }] }
    reads, writes = sums.transpose.map(&:sum)
    taken = sums.sum do |read, written|
      [turns, [read, writes - written].min + [written, reads + writes - read - written].min].min
    end
    places = touches.group_by { |touch| touch[4..] }
    most = ->(column) { places.max_by { |_, some| some.sum { |touch| touch[column].to_i } }.first }
    Line.new(taken.fdiv(turns * ractors), most.(3), most.(2))
  end

  def place(frames)
    names = frames.map { |frame| Symbols.place(frame) }
    names.find { |name| !name.match?(PLUMBING) } || names.first
  end

  def largest(lines)
    sums = lines.group_by { |line| yield line }.transform_values { |some| some.sum(&:touched).round(3) }
    sums.reject { |_, sum| sum < LEAST }.max_by(NAMED) { |_, sum| sum }
  end

  def shares?(found) = !found.is_a?(Hash) || found["lines"] >= LEAST

  def markdown(results, binaries)
    rows = results.map do |one|
      last = one[binaries.last]
      places = last.is_a?(Hash) ? last["places"].map { |place, lines| format("%s %.2f", place, lines) }.join("; ") : ""
      "| #{one['row']} | #{binaries.map { |name| figure(one[name]) }.join(' | ')} | #{places} |"
    end
    <<~MARKDOWN
      | row | #{binaries.join(' | ')} | written at, and lines of it |
      | --- |#{' ---: |' * binaries.size} --- |
      #{rows.join("\n")}
    MARKDOWN
  end

  def figure(found) = found.is_a?(Hash) ? format("%.2f", found["lines"]) : found.to_s

  # Names of places (FILE+OFFSET), by binutils.
  module Symbols
    @places = {}

    module_function

    # "function file:line"
    def place(where)
      return "?" if where == "-" # no program's, and no library's

      @places[where] ||= begin
        file, offset = where.split("+")
        function, line = IO.popen(["addr2line", "-f", "-e", file, offset], &:readlines).map(&:chomp)
        "`#{function}` #{line.to_s.sub(%r{.*/(?:tree|ruby)/}, '').sub(/ \(discriminator.*/, '')}"
      end
    end
  end
end
