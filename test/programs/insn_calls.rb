# insn_calls.rb - prints what instructions give that compiled code has the VM do: vm/insn_calls.h.

def first(list) = (a, *rest = list; [a, rest])
def last(list) = (*rest, a, b = list; [rest, a, b])
def middle(list) = (a, *rest, b = list; [a, rest, b])
def nested(list) = (a, (b, *c), d = list; [a, b, c, d])
def only(list) = (*all = list; all)
def nothing(list) = (* = list)
def ten(list) = (a, b, c, d, e, f, g, h, i, j, *k = list; [j, i, h, g, f, e, d, c, b, a, k])
def attribute(object, list) = (object.first, *object.rest = list; [object.first, object.rest])
def among(list) = 1 + [5, (a, *b = list; b).size, a].size

class Taken; def to_ary = [7, 8, 9]; end
class Bare; def to_ary = nil; end
class Refusing; def to_ary = raise("refused at #{caller(0, 1)[0][/\d+/]}"); end
class Wrong; def to_ary = 3; end
Place = Struct.new(:first, :rest)

LISTS = [[], [1], [1, 2], [1, [2, 3, 4], 5], (1..20).to_a, nil, 5, "text", Taken.new, Bare.new, [nil, nil]]

def shown(value) = value.inspect.gsub(/0x\h+/, "0x")

def tried
  shown(yield)
rescue StandardError
  "#{$!.class}: #{shown($!.message)} #{$!.backtrace.first(2).map { |line| line[/\d+:.*/] }}"
end

def taken_apart
  (LISTS + [Refusing.new, Wrong.new]).map do |list|
    %i[first last middle nested only nothing ten among].map { |name| tried { __send__(name, list) } } <<
      tried { attribute(Place.new, list) }
  end
end

class Index
  def [](key) = [:got, key, key.frozen?]
  def []=(key, value)
    @set = [key, key.frozen?, value]
  end
  attr_reader :set
end
class Missing; def method_missing(name, *args) = [name, *args]; def respond_to_missing?(*) = true; end
class Closed
  private def [](key) = key
  def own = self["own"]
end

def get(from) = from["name"]
def set(to, value) = (to["name"] = value)

def looked_up
  default = Hash.new { |hash, key| [key, key.frozen?, hash.size] }
  index = Index.new
  [{ "name" => 1 }, {}, default, Hash.new(4), { "name" => 1 }.compare_by_identity, index, "a name", Missing.new, Closed.new, nil, 5, [1]].map do |from|
    tried { get(from) }
  end + [tried { Closed.new.own }, tried { get(proc { |key| key * 2 }) }]
end

def stored
  index = Index.new
  identity = {}.compare_by_identity
  [{}, Hash.new { raise }, identity, index, +"a name", Missing.new, {}.freeze, nil, 5, [1]].map { |to| [tried { set(to, 3) }, shown(to)] } <<
    shown(index.set) << identity.keys << set({}, :value)
end

def environment = (ENV["OF_INSN_CALLS"] = "set"; [ENV["OF_INSN_CALLS"], ENV["NOT_" "THERE"]])

def all = [taken_apart, looked_up, stored, environment]

expected = all
200.times { all == expected or abort "changed: #{all.inspect}" }
puts expected.flatten

module Refined
  refine(Index) { def [](key) = "refined" }
end
refined = eval("using Refined; ->(from) { from['name'] }", TOPLEVEL_BINDING.dup)
p 40.times.map { refined.(Index.new) }.uniq

# What they call changes, in the middle of it as well.
class Changing
  def [](key) = (Changing.class_eval("def [](key) = :second"); :first)
  def to_ary = (Changing.class_eval("def to_ary = [2, 3]"); [1])
end
changing = Changing.new
p [get(changing), get(changing), first(changing), first(changing)]
class Hash; def [](key) = "redefined"; end
p get({ "name" => 1 }), get({})
class Hash; def []=(key, value); @set = value; end; end
hash = {}
p set(hash, 4), hash.size

events = []
TracePoint.new(:call, :c_call) { |event| events << event.method_id if %i[[] []= to_ary first get].include?(event.method_id) }.enable do
  get(Index.new)
  first(Taken.new)
end
p events

locals = ->(list) { a, *b = list; binding.local_variables.size + b.size }
p 40.times.map { locals.([1, 2, 3]) }.uniq
p Thread.new { Thread.current["name"] = 1; get(Thread.current) }.value
GC.stress = true
p first([1, 2, 3]), nested([1, [2, 3], 4]), get(Index.new), set(Index.new, 3)
GC.stress = false
