# same_as_stock.rb - everything one Ractor can see of the variables of classes and modules, printed.
#
# Stock and ours must print the same.  Written in plain Ruby, so that miniruby runs it.
#
#   ruby same_as_stock.rb [--small]
#
# --small is for where each change of a class costs a GC: fewer random operations, and no class without a shape.

require_relative "exhaust_shapes"

SMALL = ARGV.include?("--small")

def show(label)
  value = yield
  puts "#{label}: #{value.inspect}"
rescue Exception => error
  puts "#{label}: #{error.class}: #{error.message[/\A[^\n]*/].gsub(/0x\h+/, '0x')}"
end

def ivars(mod) = mod.instance_variables.to_h { |name| [name, mod.instance_variable_get(name)] }

# ---- set, get, defined, remove, order

[Class.new, Module.new, Object.new.singleton_class, Class.new.singleton_class].each do |mod|
  show("empty") { ivars(mod) }
  show("unset") { [mod.instance_variable_get(:@a), mod.instance_variable_defined?(:@a)] }
  60.times { |i| mod.instance_variable_set(:"@v#{i}", i) }
  show("sixty") { ivars(mod) }
  show("remove first") { mod.remove_instance_variable(:@v0) }
  show("remove last") { mod.remove_instance_variable(:@v59) }
  show("remove middle") { mod.remove_instance_variable(:@v30) }
  show("remove again") { mod.remove_instance_variable(:@v30) }
  show("rest") { ivars(mod) }
  mod.instance_variable_set(:@v0, :back)
  mod.instance_variable_set(:@v1, nil)
  mod.instance_variable_set(:@v2, false)
  show("back") { ivars(mod) }
  show("defined") { (0..3).map { |i| mod.instance_variable_defined?(:"@v#{i}") } }
  mod.instance_variables.each { |name| mod.remove_instance_variable(name) }
  show("none left") { ivars(mod) }
  mod.instance_variable_set(:@again, 1)
  show("again") { ivars(mod) }
  show("bad name") { mod.instance_variable_set("v", 1) }
end

# ---- literal, attr, defined?, or-assignment

class Literal
  show("defined? unset") { defined?(@a) }
  @a = 1
  show("defined? set") { defined?(@a) }
  @b ||= 2
  @b ||= 3
  class << self
    attr_accessor :a, :b, :missing
    def get = [@a, @b, @missing]
    def known? = [defined?(@a), defined?(@missing)]
  end
end

class Inherits < Literal; end

3.times do |i|
  show("literal #{i}") { [Literal.get, Literal.a, Literal.b, Literal.missing, Literal.known?] }
  show("inherits #{i}") { [Inherits.get, Inherits.a, Inherits.b, Inherits.known?] }
  Literal.a = i
  Inherits.b = -i
end
many = Array.new(100) { |i| Class.new(Literal) { self.a = i; self.b = [i] } }
show("hundred subclasses") { many.map(&:get) }
show("the same method, other shapes") do
  many.each_with_index { |klass, i| klass.instance_variable_set(:"@x#{i % 7}", i) }.map { |klass| [klass.get, klass.known?] }
end

# ---- copy, freeze, marshal

module Original
  @a = [1]
  @b = :b
  @@cvar = 1
end

copies = { dup: Original.dup, clone: Original.clone }
copies.each do |how, copy|
  show("#{how}") { [ivars(copy), copy.class_variables, copy.instance_variable_get(:@a).equal?(ivars(Original)[:@a])] }
  copy.instance_variable_set(:@c, how)
  copy.remove_instance_variable(:@a)
  show("#{how} on its own") { [ivars(copy), ivars(Original)] }
end
Original.freeze
show("frozen set") { Original.instance_variable_set(:@a, 2) }
show("frozen append") { Original.instance_variable_set(:@z, 2) }
show("frozen remove") { Original.remove_instance_variable(:@a) }
show("frozen get") { ivars(Original) }
show("frozen dup") { copy = Original.dup; copy.instance_variable_set(:@z, 1); [copy.frozen?, ivars(copy)] }
show("frozen clone") { copy = Original.clone; [copy.frozen?, ivars(copy)] }
show("frozen clone, thawed") { copy = Original.clone(freeze: false); copy.instance_variable_set(:@z, 1); ivars(copy) }
show("clone, frozen") { Literal.clone(freeze: true).frozen? }
show("freeze of an empty one") { Class.new.freeze.instance_variable_set(:@a, 1) }
show("marshal") { Marshal.load(Marshal.dump(Literal)).equal?(Literal) }
show("singleton class of a clone") do
  object = Object.new
  object.singleton_class.instance_variable_set(:@s, 1)
  ivars(object.clone.singleton_class)
end

# ---- class variables, which are kept in the same place

class Cvar
  @@a = 1
  @a = :ivar
  def self.a = @@a
  def self.a=(value)
    @@a = value
  end
end

class CvarChild < Cvar
  @@b = 2
end

show("cvars") { [Cvar.class_variables, CvarChild.class_variables, CvarChild.class_variables(false), ivars(Cvar)] }
Cvar.a = 5
show("cvar set") { [Cvar.a, CvarChild.class_variable_get(:@@a)] }
show("cvar remove") { Cvar.remove_class_variable(:@@a) }
show("cvar gone") { Cvar.class_variable_get(:@@a) }
show("cvars left") { [Cvar.class_variables, Cvar.instance_variables] }

# ---- internal variables: Struct, autoload, refinements, temporary names

show("struct") { s = Struct.new(:x, :y); s.instance_variable_set(:@a, 1); [s.members, s.instance_variables, s.new(1, 2).to_a] }
show("struct dup") { Struct.new(:x, :y).dup.new(3, 4).to_a }
module Auto
  autoload :Missing, "./there_is_no_such_file"
  @a = 1
end
show("autoload") { [Auto.autoload?(:Missing), Auto.instance_variables] }
show("autoload fails") { Auto::Missing }
show("temporary name") { c = Class.new; c.set_temporary_name("fake<x>"); c.instance_variable_set(:@a, 1); [c.name, ivars(c)] }
show("set in an iteration") { Literal.instance_variables.each { |n| Literal.instance_variable_set(:"#{n}_copy", 1) }; ivars(Literal) }

# ---- random operations on each of fifty classes

names = Array.new(14) { |i| :"@r#{i}" }
50.times do |seed|
  random = Random.new(seed)
  mod = seed.even? ? Class.new : Module.new
  (SMALL ? 20 : 1_000).times do
    name = names[random.rand(names.size)]
    case random.rand(12)
    when 0..4 then mod.instance_variable_set(name, random.rand(100))
    when 5 then mod.instance_variable_set(:"@n#{random.rand(40)}", [1])
    when 6..7 then mod.remove_instance_variable(name) if mod.instance_variable_defined?(name)
    when 8 then mod = mod.dup
    when 9 then mod = mod.clone
    when 10 then GC.start if random.rand(50).zero?
    when 11 then mod.remove_instance_variable(mod.instance_variables.sample(random: random)) if mod.instance_variables.size > 10
    end
  end
  show("random #{seed}") { ivars(mod) }
end

# ---- too complex for a shape

unless SMALL
  exhaust_shapes
  mod = Module.new { @first = 1; @second = [2] }
  20.times { |i| mod.instance_variable_set(:"@complex#{i}", i) }
  show("complex") { ivars(mod) }
  show("complex remove") { [mod.remove_instance_variable(:@first), mod.remove_instance_variable(:@complex7), ivars(mod)] }
  show("complex remove again") { mod.remove_instance_variable(:@complex7) }
  mod.instance_variable_set(:@first, :last)
  mod.instance_variable_set(:@second, :overwritten)
  show("complex dup") { ivars(mod.dup) }
  show("complex clone") { ivars(mod.clone) }
  show("complex defined") { [mod.instance_variable_defined?(:@second), mod.instance_variable_defined?(:@complex7)] }
  GC.start
  show("complex after GC") { ivars(mod) }
  show("complex frozen") { mod.freeze.instance_variable_set(:@complex1, 1) }
  klass = Class.new { attr_reader :a; class << self; attr_accessor :q; def literal = [@q, defined?(@q), @never_set_before]; end }
  klass.q = 3
  show("complex literal") { 3.times.map { klass.literal + [klass.q] } }
  remove_all = Class.new
  200.times { |i| remove_all.instance_variable_set(:"@all#{i}", i) }
  remove_all.instance_variables.each { |name| remove_all.remove_instance_variable(name) }
  show("complex emptied") { [ivars(remove_all), remove_all.instance_variable_set(:@all3, 1), ivars(remove_all)] }
end
