# scaling.rb - what N Ractors do against one thread, in one process, warmed up; starting the Ractors is not counted.
#
#   ruby --disable-all [--yjit] scaling.rb CASE      RACTORS=8 RUNS=10 by default; no CASE: lists them
#
# In each run the same work is done on main, in one go, and cut into equal parts, one for each Ractor; on main it takes
# LEAST milliseconds at least, since the kernel needs some to spread threads over cores, and at the end one core is done
# before the other.  Prints nanoseconds a turn: case, serial mean ± deviation, Ractors mean ± deviation, serial/Ractors.
# One case a process, since what one makes megamorphic (Integer#times) would slow the next.

RACTORS = (ENV["RACTORS"] || 8).to_i
RUNS = (ENV["RUNS"] || 10).to_i
LEAST = 800

module Mod
  @a = 1
  @b = 2
  @c = 3

  # Three instance variables of a module.
  module Compute
    def self.call(count) = Mod.compute(count)
  end

  def self.compute(count)
    count.times { @a + @b + @c }
  end

  # The same loop over local variables.
  module Locals
    def self.call(count)
      a, b, c = 1, 2, 3
      count.times { a + b + c }
    end
  end
end

# One reader, inherited by a hundred classes, each with a value of its own.
class Base
  def self.config = @config
  singleton_class.attr_reader :settings

  CHILDREN = Ractor.make_shareable(Array.new(100) do |i|
    Class.new(self) do
      @config = i
      @settings = i
    end
  end)

  module Reader
    def self.call(count) = (count / 100).times { CHILDREN.each { |child| child.config } }
  end

  module AttrReader
    def self.call(count) = (count / 100).times { CHILDREN.each { |child| child.settings } }
  end
end

module Constant
  LIMIT = [1, 2, 3].freeze

  def self.call(count) = count.times { LIMIT }
end

class ClassVariable
  @@limit = 3

  def self.call(count) = count.times { @@limit }
end

module Lambda
  def self.call(count) = count.times { |i| lambda { i } }
end

CASES = {
  "Mod.compute" => Mod::Compute, "locals" => Mod::Locals, "reader of 100 classes" => Base::Reader,
  "attr_reader of 100 classes" => Base::AttrReader, "constant" => Constant, "@@x" => ClassVariable, "lambda" => Lambda,
}.freeze

def milliseconds
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1000
end

# A plain loop: the blocks of others would make Integer#times a call with many blocks.
def warm_up(work)
  i = 0
  while i < 50
    work.call(1000)
    i += 1
  end
end

# Ractors that have run the case, and wait to be sent a count.
def start_ractors(work)
  ractors = Array.new(RACTORS) do
    Ractor.new(work) do |work|
      Thread.current.report_on_exception = false
      warm_up(work)
      Ractor.yield :ready
      work.call(Ractor.receive)
      :done
    end
  end
  ractors.each(&:take)
end

# How many turns take LEAST milliseconds; the parts are whole hundreds.
def enough_turns(work)
  warm_up(work)
  turns = 100_000 * RACTORS
  turns *= 2 while milliseconds { work.call(turns) } < LEAST
  turns
end

def measure(work, turns)
  warm_up(work)
  serial = milliseconds { work.call(turns) }
  ractors = start_ractors(work)
  GC.start
  [serial, milliseconds { ractors.each { |ractor| ractor.send(turns / RACTORS) }.each(&:take) }]
end

def mean(numbers) = numbers.sum / numbers.size
def deviation(numbers) = Math.sqrt(numbers.sum { |n| (n - mean(numbers))**2 } / [numbers.size - 1, 1].max)

$VERBOSE = nil # Ractor's warning that it is experimental
name = ARGV[0] or abort "cases: #{CASES.keys.join(', ')}"
work = CASES.fetch(name) { abort "scaling.rb: no case #{name.inspect}; there are: #{CASES.keys.join(', ')}" }
begin
  turns = enough_turns(work)
  serial, parallel = Array.new(RUNS) { measure(work, turns).map { |ms| ms * 1e6 / turns } }.transpose
  puts format("| %-26s | %6.2f ± %-5.2f | %7.2f ± %-6.2f | %5.2f |", name, mean(serial), deviation(serial),
              mean(parallel), deviation(parallel), mean(serial) / mean(parallel))
rescue Ractor::RemoteError => error
  puts "| #{name} | #{error.cause.class}: #{error.cause.message} |"
end
