# kyoto_cabinet.rb - a C extension that leaves the interpreter's lock for each call: Kyoto Cabinet, in memory.
#
#   ruby [--yjit] -I FOLDER_OF_THE_EXTENSION kyoto_cabinet.rb WAY WORKERS RECORDS
#
# WAY: serial; threads; ractors; or ractors-by-main. The gem, kyotocabinet-ruby, does not declare itself safe for Ractors,
# so in a Ractor any call raises Ractor::UnsafeError, and `ractors` ends with it. The way round it: the Ractors prepare the
# keys, and main, which owns the database, makes the calls for them, a thousand to a message.
# Prints the seconds to set, get and remove RECORDS records; JSON as in measure.rb.

require_relative "measure"
begin
  require "kyotocabinet"
rescue LoadError => error
  abort "kyoto_cabinet.rb: #{error.message}: give the folder of the extension with -I"
end

BATCH = 1000
OPERATIONS = {
  "set" => ->(database, key) { database.set(key, key) },
  "get" => ->(database, key) { database.get(key) },
  "remove" => ->(database, key) { database.remove(key) },
}.freeze

def open_database(records)
  database = KyotoCabinet::DB.new
  mode = KyotoCabinet::DB::OWRITER | KyotoCabinet::DB::OCREATE
  database.open("*#bnum=#{2 * records}", mode) or abort "kyoto_cabinet.rb: #{database.error}"
  database
end

module Ways
  def self.serial(database, ranges, call) = ranges.each { |range| range.each { |i| call.(database, i.to_s) } }

  def self.threads(database, ranges, call)
    ranges.map { |range| Thread.new { range.each { |i| call.(database, i.to_s) } } }.each(&:join)
  end

  def self.ractors(*) = Ractor.new { KyotoCabinet::DB.new }.take

  def self.ractors_by_main(database, ranges, call)
    ractors = ranges.map do |range|
      Ractor.new(range, BATCH) do |range, batch|
        range.each_slice(batch) do |some|
          Ractor.yield Ractor.make_shareable(some.map(&:to_s))
          Ractor.receive # what the calls returned
        end
        nil
      end
    end
    until ractors.empty?
      ractor, keys = Ractor.select(*ractors)
      keys ? ractor.send(keys.map { |key| call.(database, key) }) : ractors.delete(ractor)
    end
  end
end

way, workers, records = Measure.arguments(3)
workers, records = workers.to_i, records.to_i
ways = %w[serial threads ractors ractors-by-main]
abort "kyoto_cabinet.rb: no way #{way.inspect}; there are: #{ways.join(', ')}" unless ways.include?(way)
ranges = Array.new(workers) { |i| (records * i / workers...records * (i + 1) / workers).freeze }
database = open_database(records)
counts = []
taken = OPERATIONS.to_h do |name, call|
  time = Measure.seconds { Ways.public_send(way.tr("-", "_"), database, ranges, call) }
  counts << database.count
  [name, [time, "s"]]
end
counts == [records, records, 0] or abort "kyoto_cabinet.rb: #{counts} records after set, get and remove"
Measure.print(taken)
