# class_ivar_read.rb - reads of the instance variables of modules and classes.
#
#   ruby [--yjit] class_ivar_read.rb CASE serial|ractors|threads WORKERS READS
#
# CASE: Mod.compute (mod_compute.rb), or "RECEIVER WAY": RECEIVER is module, class, 100-subclasses or complex-class, WAY
# is literal, attr_reader, instance_variable_get or defined. READS (Mod.compute: turns) are cut into WORKERS equal parts.
# Prints the seconds of READS, after some to warm up; a multiple is timed where they take too little. JSON as in measure.rb.

require_relative "measure"
require_relative "mod_compute"

WAYS = {
  "literal" => "@x", "attr_reader" => "x", "instance_variable_get" => "instance_variable_get(:@x)",
  "defined" => "(defined?(@x) ? 1 : 0)",
}.freeze
READS_A_TURN = 10

# getivar-module of ruby-bench: a loop that reads the same variable ten times a turn, through RECEIVERS in turn.
module Reads
  def self.call(count)
    turns = count / READS_A_TURN / RECEIVERS.size
    turn = 0
    while turn < turns
      i = 0
      while i < RECEIVERS.size
        RECEIVERS[i].read
        i += 1
      end
      turn += 1
    end
  end
end

module Compute
  def self.call(count) = Mod.compute(count)
end

# A class has a table in place of a shape once there are no more shapes to be had: until then, new orders of variables.
def complex_class
  names = Array.new(20) { |i| :"@exhaust#{i}" }
  random = Random.new(1)
  shapes = nil
  until shapes == (shapes = RubyVM.stat(:next_shape_id))
    1000.times do
      string = +""
      names.shuffle!(random: random).each { |name| string.instance_variable_set(name, 1) }
    end
  end
  Class.new.tap { |klass| names.each { |name| klass.instance_variable_set(name, 1) } }
end

def receivers(name)
  case name
  when "module" then [Module.new]
  when "class" then [Class.new]
  when "100-subclasses" then Class.new.then { |parent| Array.new(100) { Class.new(parent) } }
  when "complex-class" then [complex_class]
  else abort "class_ivar_read.rb: no receiver #{name.inspect}"
  end
end

# Every receiver gets an @x; `read` is defined once, where all receivers find it.
def prepare(receivers, way)
  expression = WAYS.fetch(way) { abort "class_ivar_read.rb: no way #{way.inspect}; there are: #{WAYS.keys.join(', ')}" }
  receivers.each_with_index { |receiver, i| receiver.instance_variable_set(:@x, i) }
  owner = receivers.size > 1 ? receivers[0].superclass : receivers[0]
  owner.singleton_class.attr_reader :x
  owner.singleton_class.class_eval("def read = #{Array.new(READS_A_TURN, expression).join(' + ')}")
  Ractor.make_shareable(receivers) if defined?(Ractor)
end

name, kind, workers, reads = Measure.arguments(4)
work = Compute
if name != "Mod.compute"
  receiver, way = name.split
  RECEIVERS = prepare(receivers(receiver), way)
  work = Reads
end
part = reads.to_i / workers.to_i
3.times { work.call(reads.to_i / 10) }
GC.start
taken, times = Measure.long_enough { |times| Measure.parts(kind, work, [part * times] * workers.to_i).first }
Measure.print({ "time" => [taken / times, "s"] }, times)
