# compiled_reads.rb - reads of class variables that are compiled, guarded, refused, and outdated again, printed.
#
# Compiled at the first call, or interpreted: the same.

$VERBOSE = nil

class Config
  @a = 1
  @b = [2].freeze
  @c = [3]
  class << self
    attr_reader :a, :c

    def get = [@a, @b, @missing, defined?(@a), defined?(@missing)]
    def unshareable = @c
  end
end

def refused
  yield
rescue Ractor::IsolationError => error
  error.message
end

def heat = 20.times { Config.get; Config.unshareable; Config.a; Config.c }

heat
subclasses = Array.new(20) { |i| Class.new(Config) { @a = i; @b = i } }
other_layouts = Array.new(20) { |i| Class.new(Config) { instance_variable_set(:"@x#{i}", 0); @a = i } }
empty = Class.new(Config)
all = [Config, empty, *subclasses, *other_layouts]
3.times { p all.map(&:get) }
p all.map(&:a)

p(Ractor.new { 20.times.map { Config.get + [Config.a] }.uniq }.take)
p(Ractor.new { 20.times.map { [refused { Config.unshareable }, refused { Config.c }] }.uniq }.take)
heat
p Config.get, Config.unshareable, Config.c

big = Module.new do
  100.times { |i| instance_variable_set(:"@v#{i}", i) }
  def self.some() = [@v0, @v99, @v50]
end
20.times { big.some }
p big.some
big.instance_variable_set(:@v50, "overwritten")
p big.some
GC.compact if GC.respond_to?(:compact)
p big.some, all.map(&:get)

Config.remove_instance_variable(:@a)
p Config.get
Config.instance_variable_set(:@missing, 1)
p Config.get
20.times { |i| Config.instance_variable_set(:"@more#{i}", i); Config.get }
p Config.get, empty.get

# The last variable goes between two reads of one method that were compiled while it stayed.
class Emptied
  @a = 1
  class << self
    def nothing = 0
    def strip = remove_instance_variable(:@a)
    def around(act) = [@a, send(act), @a, defined?(@a), (@a = 1), @a]
  end
end
20.times { Emptied.around(:nothing) }
Twin = Class.new(Emptied) { @a = 2 }
p Emptied.around(:nothing), Emptied.around(:strip), Twin.around(:strip), Twin.around(:nothing)
Twin.strip
p Twin.instance_variables, Ractor.new { refused { Twin.around(:nothing) } }.take

# A class without variables, and with some, at one site; the first is set between two reads, removed, and set by another Ractor.
class Unset
  class << self
    def get = @a
    def set? = defined?(@a)
    def fill = (@a = 3)
    def between = [@a, defined?(@a), fill, @a, defined?(@a)]
  end
end
unset = Array.new(4) { |i| Object.const_set("Unset#{i}", Class.new(Unset)) }
20.times { unset.each { |klass| klass.get; klass.set? } }
p unset.map { |klass| [klass.get, klass.set?] }, unset[0].between, unset[0].between, unset[1].between
unset[0].remove_instance_variable(:@a)
p [unset[0].get, unset[0].set?, unset[1].get, unset[1].set?]
Unset.class_variable_set(:@@b, 1)
unset[2].const_set(:C, 1)
p [unset[2].get, unset[2].set?, Unset.get, Unset.set?]
p Ractor.new(unset[2]) { |klass| 20.times { klass.get }; (klass.fill rescue $!.class) || klass.get }.take
unset[2].instance_variable_set(:@a, ["unshareable"])
p Ractor.new(unset[2]) { |klass| [refused { klass.get }, klass.set?] }.take, unset[2].get

# What one Ractor reads and computes with changes its kind, both ways.
module Kinds
  class << self
    attr_accessor :n
    def get = @n
    def twice = @n + @n
  end
end
[[1, 2.5, "a".freeze, nil, 3, ["unshareable"], 2**70, :symbol, 4], [2.5, 1, nil, 2]].each do |values|
  asker = Ractor.new do
    ask = -> { [refused { Kinds.get }, refused { Kinds.n }, (refused { Kinds.twice } rescue $!.class)] }
    Ractor.yield(Array.new(20) { ask.() }.uniq) while Ractor.receive
  end
  values.each do |value|
    Kinds.n = value
    asker << true
    p asker.take
  end
  asker << false
  asker.take
end
