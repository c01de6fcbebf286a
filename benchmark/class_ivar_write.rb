# class_ivar_write.rb - main writes the instance variables of a class.
#
#   ruby [--yjit] class_ivar_write.rb overwrite|append|remove VARIABLES READERS WRITES
#
# WRITES, rounded up to a multiple of VARIABLES, go to classes of VARIABLES variables each: one class for overwrite; append
# fills empty ones, remove empties full ones. Meanwhile READERS Ractors read a variable of another class.
# Prints the seconds of the writes; JSON as in measure.rb.

require_relative "measure"

class Config
  @limit = 1
  @on = true

  class << self
    attr_reader :limit, :on
    attr_writer :on
  end
end

def filled(names) = Class.new.tap { |klass| names.each { |name| klass.instance_variable_set(name, 0) } }

def write(operation, klass, names, value)
  case operation
  when "overwrite", "append" then names.each { |name| klass.instance_variable_set(name, value) }
  when "remove" then names.each { |name| klass.remove_instance_variable(name) }
  end
end

operation, variables, readers, writes = Measure.arguments(4)
names = Array.new(variables.to_i) { |i| :"@variable#{i}" }
rounds = (writes.to_f / names.size).ceil
classes = case operation
          when "overwrite" then [filled(names)] * rounds
          when "append" then Array.new(rounds) { Class.new }
          when "remove" then Array.new(rounds) { filled(names) }
          else abort "class_ivar_write.rb: overwrite, append or remove, not #{operation.inspect}"
          end

others = Array.new(readers.to_i) do
  Ractor.new do
    Ractor.yield :ready
    100.times { Config.limit } while Config.on
  end
end
others.each(&:take)
GC.start
taken = Measure.seconds { classes.each_with_index { |klass, i| write(operation, klass, names, i) } }
Config.on = false
others.each(&:take)
Measure.print("time" => [taken, "s"], "a write" => [taken / (rounds * names.size) * 1e9, "ns"])
