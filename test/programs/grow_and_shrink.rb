# grow_and_shrink.rb - a module and a class through every slot size and back, old ones with young values, printed.
#
# Short enough to run with GC.stress.

[Module.new, Class.new].each do |mod|
  100.times { |i| mod.instance_variable_set(:"@g#{i}", "value #{i}") }
  copy = mod.dup
  puts copy.instance_variables.map { |name| copy.instance_variable_get(name) }.join(",")
  4.times { GC.start }
  copy.instance_variable_set(:@g3, "young")
  GC.start(full_mark: false)
  puts copy.instance_variable_get(:@g3)
  mod.instance_variables.each_slice(7) { |names| mod.remove_instance_variable(names.first) }
  puts mod.instance_variables.map { |name| mod.instance_variable_get(name) }.join(",")
end
