# cases.rb - runs cases on the Ruby that runs this, and looks for an order that explains what was observed.
#
# Usage: ruby cases.rb SEED REPEATS FIRST LAST STEP [complex] [first] [without=KIND,...]
#
# Runs the cases FIRST, FIRST + STEP ... LAST, each REPEATS times; with `complex`, in a VM without shapes left, so that
# a class becomes too complex as it is appended to; KIND as in Generator.  Prints `case N` before each; `unexplained N`,
# the case made small and what was observed, for one without such an order; and a line of totals.  With `first`, it
# stops at the first of these, as it is.

require_relative "generate"
require_relative "self_check"
require_relative "../programs/exhaust_shapes"

$VERBOSE = nil
$stdout.sync = true
Warning[:experimental] = false

# ---- what operations are done to

# Gives +mod+ methods that get, know and set the variable +name+.
def self.define_sites(mod, name)
  plain = name.to_s.delete("@")
  mod.module_eval(<<~RUBY)
    def get_#{plain} = #{name}
    def known_#{plain} = !!defined?(#{name})
    def set_#{plain}(value)
      #{name} = value
    end
  RUBY
end

module Reads
  Generator::FIXED.each do |name|
    plain = name.to_s.delete("@")
    attr_accessor plain
    module_eval("def call_#{plain} = #{plain}")
  end
end
Generator::FIXED.each { |name| define_sites(Reads, name) }

class Base
  extend Reads
end

# Clones share the sites of class variables.
class Template < Base
end
Generator::FIXED_CVARS.each { |name| define_sites(Template, name) }

TARGETS = {
  class: -> { Class.new(Base) },
  module: -> { Module.new.extend(Reads) },
  clone: -> { Template.clone },
  singleton: -> { Base.new.singleton_class },
}.freeze

# ---- the barrier: the only memory that Ractors share is the variables of a module, and main alone writes

module Barrier
  @go = @over = 0
  class << self
    attr_accessor :go, :over
  end
end

# Does a job when it is given one: +code+ for each of +targets+, all of them let go by main at a moment of its choice,
# and what is looked at when main is through.  Sends main its number when it stands at the barrier, and all
# observations in the end.  What main looks at belongs to what it does: it does not wait for the Ractors before.
WORKER = proc do |index, main|
  loop do
    code, targets, names, delays, turn = Ractor.receive
    observed = targets.each_index.map do |k|
      main.send(index)
      Ractor.receive
      nil until Barrier.go > turn + k
      delays[k].times {}
      during = code.run(targets[k], names[k])
      nil until Barrier.over > turn + k
      [during, code.look(targets[k], names[k])]
    end
    main.send([index, observed])
  end
rescue Exception => error
  main.send(error.full_message)
end

class Runner
  NAME_SETS = 4       # so many sets of fresh names does a case have
  SHRINK_TIME = 30    # seconds
  DELAYS = [0, 0, 1, 2, 4, 8, 16, 32].freeze

  def initialize(seed, repeats)
    @random, @repeats = Random.new(seed), repeats
    @turn = @fresh = 0
    @workers = Array.new(3) { |i| Ractor.new(i, Ractor.current, &WORKER) }
  end

  # A history of +kase+ that nothing explains, as [operations and observations], or nil.
  def unexplained(kase, repeats = @repeats)
    histories(kase, repeats).uniq.find { |phases| !History.new(*phases).explained? }
  end

  # The smallest case that was found to fail by +deadline+, and its history.
  def shrink(kase, history, deadline = now + SHRINK_TIME)
    kase.smaller.each do |smaller|
      10.times do
        return [kase, history] if now > deadline

        found = unexplained(smaller) or next
        return shrink(smaller, found, deadline)
      end
    end
    [kase, history]
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def receive
    message = Ractor.receive
    message.is_a?(String) ? abort("a Ractor died: #{message}") : message
  end

  # A module whose +run+ does +operations+, and whose +look+ does +suffix+.
  def compile(operations, suffix)
    list = ->(all) { all.map { |operation| "(#{operation.code} rescue $!.class)" }.join(", ") }
    Module.new.tap do |code|
      code.module_eval("def self.run(m, n) = [#{list.(operations)}]\ndef self.look(m, n) = [#{list.(suffix)}]")
    end
  end

  # Names that are written in a text have an ID from the start; one that is not known to be a name is refused as such,
  # whoever asks.
  def new_names(repeats)
    sets = Array.new(NAME_SETS) { @fresh += 1; eval("%i[#{Case::FRESH.map { |name| "#{name}_#{@fresh}" }.join(" ")}]") }
    Array.new(repeats) { |k| sets[k % NAME_SETS] }
  end

  def histories(kase, repeats)
    names = new_names(repeats)
    targets = Array.new(repeats) { TARGETS.fetch(kase.kind).call }
    setup = compile(kase.prefix, [])
    before = targets.zip(names).map { |target, n| setup.run(target, n) }
    start(kase, Ractor.make_shareable(targets), Ractor.make_shareable(names))
    observed = race(compile(kase.threads[0], kase.suffix), targets, names, kase.threads.size - 1)
    @turn += repeats
    targets.each_index.map { |k| phases(kase, before[k], observed.map { |all| all[k] }, names[k]) }
  end

  def start(kase, targets, names)
    kase.threads.drop(1).each_with_index do |operations, i|
      delays = Array.new(targets.size) { DELAYS.sample(random: @random) }
      @workers[i].send(Ractor.make_shareable([compile(operations, kase.suffix), targets, names, delays, @turn]))
    end
  end

  # What main and the Ractors have observed: for each an array of [during, after].
  def race(code, targets, names, workers)
    main = targets.each_index.map do |k|
      workers.times { receive }
      @workers.first(workers).each { |worker| worker.send(nil) }
      1000.times {}
      Barrier.go = @turn + k + 1
      DELAYS.sample(random: @random).times {}
      during = code.run(targets[k], names[k]) + code.look(targets[k], names[k])
      Barrier.over = @turn + k + 1
      [during, []]
    end
    [main, *Array.new(workers) { receive }.sort_by(&:first).map(&:last)]
  end

  def phases(kase, before, observed, names)
    original = names.zip(Case::FRESH).to_h
    pairs = lambda do |operations, observations|
      operations.zip(observations).map { |operation, seen| [operation, rename(operation, seen, original)] }
    end
    main, *workers = kase.threads
    [[pairs.(kase.prefix, before)],
     [main + kase.suffix, *workers].zip(observed).map { |operations, (during, _)| pairs.(operations, during) },
     [[], *observed.drop(1).map { |_, after| pairs.(kase.suffix, after) }]]
  end

  # Names in observations: the fresh ones of a repeat back to those of the case.
  def rename(operation, seen, original)
    return seen unless seen.is_a?(Array)

    case operation.kind
    when :list, :clist then seen.map { |name| original.fetch(name, name) }
    when :copy then seen.map { |name, value| [original.fetch(name, name), value] }
    else seen
    end
  end
end

def show(kase, history)
  puts "  m: TARGETS[#{kase.kind.inspect}].call; n: #{Case::FRESH.first} ..., new names in each repeat"
  titles = [["before"], ["main", *1..3], ["", *(1..3).map { |i| "#{i}, after" }]]
  titles.zip(history) do |names, threads|
    names.zip(threads) do |name, pairs|
      pairs&.each { |operation, seen| puts format("  %-8s %-60s => %p", name, operation.code, seen) }
    end
  end
end

wrong = SelfCheck.failures
abort "the checker is wrong about: #{wrong.join('; ')}" unless wrong.empty?

seed, repeats, first, last, step = ARGV.first(5).map(&:to_i)
without = ARGV.grep(/\Awithout=/).flat_map { |argument| argument.delete_prefix("without=").split(",").map(&:to_sym) }
if ARGV.include?("complex")
  # a few layouts exist, so that a class has one before it becomes too complex
  3.times { |i| Class.new { Generator::FIXED.rotate(i).each { |name| instance_variable_set(name, 1) } } }
  exhaust_shapes
end
runner = Runner.new(seed, repeats)
failed = 0
first.step(last, step) do |number|
  break if failed == (ARGV.include?("first") ? 1 : 3)

  puts "case #{number}"
  kase = Generator.new(seed, number, without: without).make
  history = runner.unexplained(kase) or next

  failed += 1
  puts "unexplained #{number}"
  show(*(ARGV.include?("first") ? [kase, history] : runner.shrink(kase, history)))
end
puts "done, #{failed} unexplained"
exit failed.zero?
