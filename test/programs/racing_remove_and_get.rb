# racing_remove_and_get.rb - main removes variables of modules, a Ractor reads one that stays.
#
#   ruby racing_remove_and_get.rb [modules [variables]]
#
# Each module has VARIABLES variables to be removed, then @kept, then @after, which nobody touches.  A removal moves
# @kept to the next lower index.  A reader that is given @after's value for @kept, or none, has put an old layout and
# new values together.  Prints "reads: N, wrong: N" and a count of each wrong value.

$VERBOSE = nil
modules, variables = (ARGV[0] || 100).to_i, (ARGV[1] || 200).to_i
names = Array.new(variables) { |i| :"@removed#{i}" }.freeze

MODULES = Array.new(modules) do
  Module.new do
    names.each { |name| instance_variable_set(name, name) }
    @kept = :kept
    @after = :after
    def self.kept = @kept
  end
end.freeze

reader = Ractor.new do
  reads = 0
  wrong = Hash.new(0)
  MODULES.each do |mod|
    Ractor.yield(:ready)
    until (kept = mod.kept) == :stop
      wrong[kept] += 1 unless kept == :kept
      reads += 1
    end
  end
  [reads, wrong]
end

MODULES.each do |mod|
  reader.take
  names.each { |name| mod.remove_instance_variable(name) }
  mod.instance_variable_set(:@kept, :stop)
end

reads, wrong = reader.take
puts "reads: #{reads}, wrong: #{wrong.values.sum} #{wrong.inspect unless wrong.empty?}"
