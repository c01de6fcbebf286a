# sharing.rb - one row of the map in many Ractors at once, recording which cache lines they share.
#
#   sharing-ruby sharing.rb ROW RACTORS OUTPUT
#
# For a binary of the builds `sharing` and `sharing-stock` (tool/build). All Ractors run the row until it is warm, meet at a
# message, and record some turns each. Then the heap is large enough and the GC is off: what a collection shares is told by
# `make scaling`.
# OUTPUT gets what Sharing.report writes; standard output a line of JSON.

require "json"
require_relative "lib/map_rows"

module SharingRow
  SECONDS = 0.002      # of a thread's recorded turns, at most
  TURNS = (4..128)
  SIZES = { 8 => 1_500_000, 40 => 400_000, 100 => 300_000, 200 => 100_000, 600 => 100_000 }.freeze # bytes of Strings, and how many at most
  PASSES = 3           # warm, after the last collection, recorded

  module_function

  def compile(row)
    RubyVM::InstructionSequence.compile(<<~RUBY, "row", "row", 1).eval
      #{row.once}
      module SharingUnit
        # So many turns, as often; the block is called before each time, and the last one is recorded. Whether that was on
        # one native thread.
        def self.unit(turns, times)
          #{row.setup}
          i = 0
          value = nil
          while times > 0
            yield if block_given?
            Sharing.begin if times == 1 && block_given?
            stop = i + turns
            while i < stop
              value = (#{row.code})
              i += 1
            end
            times -= 1
            same = Sharing.end # each time, so that the last one finds all caches filled
          end
          same
        end
      end
    RUBY
  end

  def turns
    turns = TURNS.first
    turns *= 2 while turns < TURNS.last && time(turns) < SECONDS
    turns
  end

  def time(turns)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    SharingUnit.unit(turns, 1)
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end

  # How many one thread makes.
  def objects(turns)
    before = GC.stat(:total_allocated_objects)
    SharingUnit.unit(turns, 1)
    GC.stat(:total_allocated_objects) - before
  end

  def ractor(turns)
    Ractor.new(turns) do |turns|
      Thread.current.report_on_exception = false
      same = SharingUnit.unit(turns, PASSES) do
        Ractor.yield(:ready)
        Ractor.receive
      end
      Ractor.yield(same)
      Ractor.receive
    end
  end

  # Free slots of each size for as many objects as are made until the end, whatever their size, and no GC any more.
  def room(objects)
    SIZES.each { |bytes, most| Array.new([objects, most].min) { "x" * bytes } }
    GC.start
    GC.disable
  end

  def measure(name, number, output)
    compile(MapRows.named(name) || abort("sharing.rb: there is no row #{name.inspect}"))
    turns = self.turns
    made = objects(turns)
    ractors = Array.new(number) { ractor(turns) }
    PASSES.times do |pass|
      ractors.each(&:take)
      room(made * number * PASSES) if pass == 1
      ractors.each { |ractor| ractor.send(:go) }
    end
    same = ractors.map(&:take)
    Sharing.report(output)
    finish(turns: turns, moved: same.count(false))
  rescue Ractor::RemoteError => error
    finish(failed: "#{error.cause.class}: #{error.cause.message}")
  end

  # The Ractors wait for a message, and are not waited for.
  def finish(found)
    puts JSON.generate(found)
    $stdout.flush
    exit!(true)
  end
end

$VERBOSE = nil # Ractor's warning that it is experimental
SharingRow.measure(ARGV[0], Integer(ARGV[1]), ARGV[2])
