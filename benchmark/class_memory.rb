# class_memory.rb - what classes cost: resident memory, and time in the garbage collector.
#
#   ruby [--yjit] class_memory.rb VARIABLES CLASSES
#
# Makes CLASSES classes of VARIABLES instance variables each. Prints the resident set after boot and with the classes, in
# kB, what a class adds to it, in bytes, and the time of a full collection, in ms; JSON as in measure.rb.

require_relative "measure"

FULL_COLLECTIONS = 5

variables, count = Measure.arguments(2).map(&:to_i)
names = Array.new(variables) { |i| :"@variable#{i}" }
GC.start
boot = Measure.resident
classes = Array.new(count) { Class.new.tap { |klass| names.each { |name| klass.instance_variable_set(name, 1) } } }
GC.start
full = Measure.resident
collections = Measure.seconds { FULL_COLLECTIONS.times { GC.start } }
classes.size == count or abort "class_memory.rb: lost classes"
Measure.print("RSS after boot" => [boot, "kB"], "RSS with #{count} classes" => [full, "kB"],
              "a class" => [(full - boot) * 1024.0 / count, "B"],
              "full GC with #{count} classes" => [collections / FULL_COLLECTIONS * 1000, "ms"])
