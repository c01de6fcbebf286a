# exhaust_shapes.rb - defines exhaust_shapes, for programs about classes that are too complex.

# Leaves no shape, by 735 * 735 layouts of few names: all that is appended to becomes too complex from here on, unless it
# has a layout that there is already.
def exhaust_shapes
  names = Array.new(735) { |i| :"@exhaust#{i}" }
  names.each { |a| names.each { |b| (+"").tap { |s| s.instance_variable_set(a, 1); s.instance_variable_set(b, 1) } } }
end
