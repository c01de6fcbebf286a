# class_new.rb - everything one Ractor can see of Class#new, printed.
#
# Stock and ours must print the same, interpreted and compiled.  Written in plain Ruby, so that miniruby runs it.
#
#   ruby class_new.rb [--stress]
#
# --stress collects at each allocation that can: fewer rounds.

STRESS = ARGV.include?("--stress")
ROUNDS = STRESS ? 3 : 6
Warning[:deprecated] = Warning[:experimental] = false

# What a block gives, in each of some rounds: the last ones are compiled.
def show(label, rounds = ROUNDS)
  values = Array.new(rounds) do
    text(yield)
  rescue Exception => error
    "#{error.class}: #{text(error.message)} #{text(places(error))}"
  end
  puts "#{label}: #{values.chunk_while { |a, b| a == b }.map { |same| "#{same.size} x #{same[0]}" }.join(' | ')}"
end

def text(value) = value.inspect.gsub(/0x\h+/, "0x")
def place(location) = "#{location.lineno}:#{location.label}"
def places(error) = error.backtrace_locations&.map { |location| place(location) } || error.backtrace&.map { |one| one[/:\d+:.*/] }

class Point
  def initialize(x, y)
    @x = x
    @y = y
  end
  attr_reader :x, :y
  def to_a = [@x, @y]
end

def point(x, y) = Point.new(x, y)

# ---- arguments

class None; end
class Nothing; def initialize; end; end
class Optional; def initialize(a, b = 2, c = a) = @all = [a, b, c]; end
class Rest; def initialize(a, *b) = @all = [a, b]; end
class Post; def initialize(*a, b) = @all = [a, b]; end
class Keywords; def initialize(a, k: 1, z: k) = @all = [a, k, z]; end
class Required; def initialize(k:) = @all = k; end
class KeywordRest; def initialize(a = nil, **k) = @all = [a, k]; end
class NoKeywords; def initialize(a = nil, **nil) = @all = a; end
class Forward; def initialize(...) = @all = [*collect(...)]; def collect(*a, **k, &b) = [a, k, b&.call]; end
class Block; def initialize(a = nil, &b) = @all = [a, b&.call(3), b.class, b&.lambda?]; end
class Yield; def initialize(a = nil) = @all = [a, block_given?, block_given? && yield(4)]; end
class NoBlock; def initialize(a) = @all = a; end
class Destructure; def initialize((a, b), c) = @all = [a, b, c]; end
class Locals; def initialize(a); b = a; c = nil; 3.times { |i| c = [c, i] }; @all = [a, b, c, binding.local_variables]; end; end
class Ruby2; ruby2_keywords def initialize(*a) = @all = Hash.ruby2_keywords_hash?(a.last); end
class Object; def all = @all; end

show("two") { point(1, 2).to_a }
show("none") { [None.new.class, Nothing.new.class, Object.new.class, BasicObject.new.then { 1 }] }
show("none, given one") { None.new(1) }
show("none, given a keyword") { None.new(k: 1) }
show("nothing, given one") { Nothing.new(1) }
show("two, given one") { Point.new(1) }
show("two, given three") { Point.new(1, 2, 3) }
show("two, given an array") { Point.new(*[1, 2]).to_a }
show("two, given too long an array") { Point.new(*[1, 2, 3]).to_a }
show("two, given keywords") { Point.new(1, k: 2).to_a }
show("two, given only keywords") { Point.new(k: 2).to_a }
show("two, given no keywords") { Point.new(1, 2, **{}).to_a }
show("optional") { [Optional.new(1).all, Optional.new(1, 3).all, Optional.new(1, 3, 4).all] }
show("optional, none") { Optional.new }
show("rest") { [Rest.new(1).all, Rest.new(1, 2, 3).all, Rest.new(*[1, 2]).all, Post.new(1).all, Post.new(1, 2, 3).all] }
show("keywords") { [Keywords.new(1).all, Keywords.new(1, z: 2).all, Keywords.new(1, **{ k: 3 }).all] }
show("unknown keyword") { Keywords.new(1, y: 2) }
show("required keyword") { [Required.new(k: 4).all, Required.new(**{ k: 5 }).all] }
show("missing keyword") { Required.new }
show("a hash for keywords") { Required.new({ k: 1 }) }
show("keyword rest") { [KeywordRest.new(1, a: 2).all, KeywordRest.new({ a: 2 }).all, KeywordRest.new("s" => 1).all] }
show("no keywords") { [NoKeywords.new(1).all, NoKeywords.new({ a: 1 }).all] }
show("no keywords, given") { NoKeywords.new(a: 1) }
show("forward") { [Forward.new.all, Forward.new(1, k: 2) { 3 }.all, Forward.new(*[1], **{ k: 1 }).all] }
show("block") { [Block.new(1) { |x| x + 1 }.all, Block.new.all, Block.new(&:succ).all, Block.new(2, &->(x) { -x }).all] }
show("yield") { [Yield.new { |x| x * 2 }.all, Yield.new.all, Yield.new(1, &:succ).all, NoBlock.new(1) { 2 }.all] }
show("destructure") { Destructure.new([1, 2], 3).all }
show("locals") { Locals.new(1).all }
show("ruby2_keywords") { [Ruby2.new(1).all, Ruby2.new(k: 1).all] }
def forward(...) = Point.new(...).to_a
def anonymous(*, **, &) = Block.new(*, **, &).all
show("forwarded") { [forward(1, 2), anonymous(1) { 5 }, anonymous(2)] }
show("evaluated in order") { seen = []; Point.new((seen << 1; 1), (seen << 2; 2)); seen }
show("many arguments") { Rest.new(*(1..200)).all.last.size }
show("as a block") { [[1, 2].each_slice(2).map(&Point.method(:new)).size, [None, Nothing].map(&:new).map(&:class)] }
def yield_class(c) = yield(c)
show("yield to a symbol") { [yield_class(Nothing, &:new).class, yield_class(None, &:new).class, yield_class(Locals) { |c| c.new(1).all.size }] }
show("send") { [Point.send(:new, 1, 2).to_a, Point.__send__(:new, 3, 4).to_a, Point.public_send(:new, 5, 6).to_a] }
show("method objects") { [Point.method(:new).call(1, 2).to_a, Point.method(:new).unbind.bind_call(Optional, 1).all, :new.to_proc.call(Nothing).class] }
show("safe navigation") { [Point&.new(1, 2).to_a] }
show("negative operands") { [Point.new(-1, nil).to_a, Point.new("a", :b).to_a] }
show("initialize's value") { [Class.new { def initialize = 5 }.new.class.class, Class.new { def initialize = return(6) }.new.class.class] }

# ---- what is seen

class Seen
  def initialize(what)
    @all = case what
           when :caller then caller(0, 4).map { |one| one[/:\d+:.*/] }
           when :locations then caller_locations(0, 4).map { |one| [one.lineno, one.label, one.base_label, one.path == __FILE__] }
           when :method then [__method__, __callee__]
           when :binding then binding.then { |b| [b.local_variables, b.receiver.equal?(self), b.source_location[1]] }
           when :raise then raise "raised"
           when :throw then throw :thrown, 7
           when :frozen then (freeze; 1)
           when :exit then exit(3)
           when :nested then [Seen.new(:caller).all, Seen.new(:method).all]
           when :fiber then Fiber.new { Fiber.yield(caller(0, 2).size); Point.new(1, 2).to_a }.then { |f| [f.resume, f.resume] }
           when :thread then Thread.new { Point.new(3, 4).to_a }.value
           when :eval then eval("caller(0, 3).map { |one| one[/:\\d+:.*/] }")
           when :each then [1].each { return }
           when :ensure then begin; return; ensure; @ensured = 1; end
           when :retry then begin; @tries = (@tries || 0) + 1; raise if @tries < 3; @tries; rescue; retry; end
           when :proc then proc { |x| [x, what, self.class] }.call(1)
           when :lambda then -> { return 4 }.call
           when :catch then catch(:tag) { Seen.new(:throw_tag) }
           when :throw_tag then throw :tag, 8
           when :gc then (GC.start; [what, self.class])
           when :define then Seen.class_eval { def defined_late = 9 }; defined_late
           end
  end
end

def seen(what) = Seen.new(what).all
%i[caller locations method binding raise frozen nested fiber thread eval each ensure retry proc lambda catch gc define].each do |what|
  show("seen, #{what}") { seen(what) }
end
show("seen, throw") { catch(:thrown) { seen(:throw) } }
show("seen, exit") { seen(:exit) }
show("uncaught throw") { seen(:throw_tag) }
show("seen in a block of new") { Yield.new { caller(0, 5).map { |one| one[/:\d+:.*/] } }.all }
show("break") { Yield.new { break 5 } }
show("next") { Yield.new { next 6 }.all }
def returning = (Yield.new { return 7 }; 8)
show("return from the block") { returning }
show("raise in the block") { Yield.new { raise "from the block" } }
show("redo") { tries = 0; Yield.new { tries += 1; redo if tries < 3; tries }.all }
show("break from a proc of the block") { Block.new { break 9 } }
show("rescued around") { begin; seen(:raise); rescue => error; [error.message, places(error)]; end }
show("ensure around") { order = []; begin; begin; seen(:raise); ensure; order << 1; end; rescue; order << 2; end; order }
show("frozen") { begin; Class.new { def initialize = (freeze; @a = 1) }.new; rescue => error; error.class; end }
def deep(n) = n.zero? ? Seen.new(:caller).all.size : Yield.new { deep(n - 1) }.all.last
show("deep") { deep(200) }
class Recursive; def initialize = @all = Recursive.new; end
show("stack overflow", 2) { begin; Recursive.new; rescue SystemStackError => error; [error.message, error.backtrace.uniq.size]; end } unless STRESS
show("after it", 2) { point(1, 2).to_a }
class Linked; def initialize(n) = @all = n.zero? ? nil : Linked.new(n - 1); end
show("linked") { n = 0; l = Linked.new(300); n += 1 while (l = l.all); n }
class Looping; def initialize(n); s = 0; i = 0; while i < n; s += i; i += 1; end; @all = s; end; end
show("a loop in it") { Looping.new(STRESS ? 10 : 3000).all }
class Rescuing; def initialize(n); raise "in it" if n.odd?; @all = n; rescue => error; @all = [n, error.message]; end; end
show("rescues in it") { 8.times.map { |n| Rescuing.new(n).all } }
class Big; def initialize(n) = n.times { |i| instance_variable_set(:"@v#{i}", i) }; end
show("many variables") { [Big.new(40).instance_variables.size, Big.new(3).instance_variables] }
class Wide; def initialize(a, b, c, d, e, f, g, h); @a = a; @b = b; @c = c; @d = d; @e = e; @f = f; @g = g; @h = h; end; end
show("eight variables") { Wide.new(1, 2, 3, 4, 5, 6, 7, 8).instance_variables.size }

# ---- kinds of classes

class Child < Point; def initialize(x, y, z); super(x, y); @z = z; end; def to_a = super + [@z]; end
class Implicit < Point; def initialize(x, y); super; @z = 1; end; end
class Inherits < Point; end
class Blank < BasicObject; def initialize(x); @x = x; end; def x = @x; end
class Own < Point; def self.new(*all) = super.freeze; end
class OwnBlock < Yield; def self.new = super() { |x| x + 1 }; end
class Counted; @n = 0; class << self; attr_accessor :n; def new(...) = (self.n += 1; super); end; end
class Alias < Point; class << self; alias make new; alias_method :build, :new; end; end
class Private < Point; private_class_method :new; def self.make = new(8, 9); end
class Allocates < Point; def self.allocate = raise("not called"); end
class Undefined < Point; undef_method :initialize; end
class Missing < Undefined; def method_missing(name, *all) = @all = [name, all]; def respond_to_missing?(*) = true; end
class Aliased; def setup(a) = @all = [a, __method__]; alias initialize setup; end
class Defined; define_method(:initialize) { |a| @all = [a, __method__] }; end
class Attribute; attr_writer :initialize; alias initialize initialize=; end
class Public; public def initialize(a = 1) = @all = a; end
module Before; def initialize(*all) = (super; @before = all); attr_reader :before; end
class Prepended < Point; prepend Before; end
module Included; def initialize(a = 5) = @all = a; end
class Includes; include Included; end
class Duplicate < Point; end
Struct2 = Struct.new(:a, :b)
class Struct3 < Struct2; def initialize(a) = super(a, a + 1); end
Data2 = Data.define(:a, :b) do
  def initialize(a:, b: 2) = super
end
class Failure < StandardError; def initialize(a = 1) = super("failure #{a}"); end
class Text < String; def initialize(a) = super(a * 2); end
class List < Array; def initialize(*a) = super(a); end
class Table < Hash; def initialize(a) = (super(); self[:a] = a); end

show("child") { [Child.new(1, 2, 3).to_a, Implicit.new(1, 2).to_a, Inherits.new(3, 4).to_a, Inherits.new(1, 2).class] }
show("basic object") { Blank.new(3).x }
show("own new") { [Own.new(1, 2).frozen?, OwnBlock.new.all, Counted.new.class, Counted.n.class] }
show("alias of new") { [Alias.make(1, 2).to_a, Alias.build(3, 4).class, Alias.new(5, 6).to_a] }
show("private new") { [Private.make.to_a, Private.send(:new, 1, 2).to_a] }
show("private new, called") { Private.new(1, 2) }
show("own allocate") { Allocates.new(1, 2).to_a }
show("undefined") { Undefined.new(1, 2) }
show("missing") { Missing.new(1, 2).all }
show("aliased") { Aliased.new(1).all }
show("defined by a block") { Defined.new(1).all }
show("defined by a block, given two") { Defined.new(1, 2).all }
show("attribute") { Attribute.new(5).instance_variables }
show("public") { [Public.new.all, Public.new(2).all] }
show("prepended") { [Prepended.new(1, 2).to_a, Prepended.new(3, 4).before, Includes.new.all, Includes.new(6).all] }
show("struct") { [Struct2.new(1, 2).to_a, Struct3.new(1).to_a, Struct2[3, 4].to_a, Data2.new(a: 1).to_h, Data2.new(1, 3).to_h] }
show("struct, too many") { Struct2.new(1, 2, 3) }
show("exception") { [Failure.new.message, Failure.new(3).message, RuntimeError.new("x").message, (raise Failure rescue $!.message)] }
show("core classes") { [Text.new("ab"), List.new(1, 2), Table.new(1), String.new("a"), Array.new(2, 0), Hash.new(1)[0], Range.new(1, 2), Regexp.new("a"), Regexp.compile("b")] }
show("no allocator") { Integer.new(1) }
show("no allocator, class") { Class.new(Integer).new }
show("a singleton class") { Object.new.singleton_class.new }
show("an uninitialized class") { Class.allocate.new }
show("a class") { [Class.new(Point).new(1, 2).to_a, Class.new { def initialize(a) = @all = a }.new(1).all, Module.new.class] }
show("a copy") { [Duplicate.dup.new(1, 2).to_a, Duplicate.clone.new(3, 4).to_a] }
show("many classes") { [Point, Child, Inherits, Own, Alias, Prepended, Allocates, Implicit].map { |c| c == Child ? 1 : c.new(1, 2).to_a } }
show("more at one site") { Array.new(30) { |i| Class.new(Point) }.map { |c| c.new(1, 2).to_a }.uniq }
show("a comparison with new as operator") { Class.new { singleton_class.alias_method(:[], :new); def initialize(a) = @all = a }[7].all }
show("operators") { Class.new { singleton_class.alias_method(:+, :new); singleton_class.alias_method(:<<, :new); singleton_class.alias_method(:==, :new); def initialize(a) = @all = a }.then { |c| [(c + 1).all, (c << 2).all, (c == 3).all] } }
show("stack") { [1, point(2, 3).to_a, [4, Point.new(5, Point.new(6, 7)).y.to_a], Optional.new(8).all] }
show("hash") { { Point.new(1, 2).x => Point.new(3, 4).y, **{ a: Nothing.new.class } } }
show("interpolated") { "#{Point.new(1, 2).to_a} #{Text.new("z")}" }
show("condition") { Nothing.new ? 1 : 2 }

# ---- changed while sites are in use

def changing(label, klass, site)
  calls = -> { Array.new(4) { site.(klass) rescue "#{$!.class} #{text(places($!))}" }.map { |value| text(value) }.uniq }
  before = calls.()
  yield klass
  puts "changed, #{label}: #{before} #{calls.()}"
end

def fresh(superclass = Object)
  Class.new(superclass) do
    def initialize(a, b) = @all = [:first, a, b]
  end
end

SITES = [
  eval("->(c) { c.new(1, 2).all }"), eval("->(c) { c.new(1, *[2]).all }"), eval("->(c) { c.send(:new, 1, 2).all }"),
  eval("def changing_site(c) = c.new(1, 2).all\n->(c) { changing_site(c) }"),
]
{
  "initialize redefined" => ->(c) { c.class_eval { def initialize(a, b) = @all = [:second, b, a] } },
  "initialize of other arity" => ->(c) { c.class_eval { def initialize(a) = @all = [:second, a] } },
  "initialize with optional" => ->(c) { c.class_eval { def initialize(a, b, c = 3) = @all = [:second, a, b, c] } },
  "initialize removed" => ->(c) { c.send(:remove_method, :initialize) },
  "initialize undefined" => ->(c) { c.send(:undef_method, :initialize) },
  "initialize by a block" => ->(c) { c.define_method(:initialize) { |a, b| @all = [:block, a, b] } },
  "initialize aliased" => ->(c) { c.class_eval { def other(a, b) = @all = [:other, a, b]; alias initialize other } },
  "initialize made public" => ->(c) { c.class_eval { public :initialize } },
  "initialize prepended" => ->(c) { c.prepend(Module.new { def initialize(a, b) = super(b, a) }) },
  "included" => ->(c) { c.include(Module.new { def initialize(a, b) = raise }) },
  "new redefined" => ->(c) { c.define_singleton_method(:new) { |a, b| Struct.new(:all).new([:mine, a, b]) } },
  "new redefined with super" => ->(c) { c.singleton_class.class_eval { def new(a, b) = super(b, a) } },
  "new undefined" => ->(c) { c.singleton_class.send(:undef_method, :new) },
  "new private" => ->(c) { c.private_class_method(:new) },
  "new prepended" => ->(c) { c.singleton_class.prepend(Module.new { def new(a, b) = super(a, [b]) }) },
  "extended" => ->(c) { c.extend(Module.new { def new(a, b) = super([a], b) }) },
  "allocate redefined" => ->(c) { c.define_singleton_method(:allocate) { raise } },
  "superclass's initialize" => ->(c) { Object.class_eval { def unrelated_initialize = 1 } },
  "variables added" => ->(c) { c.allocate.instance_variable_set(:@more, 1) },
  "refined, not used" => ->(c) { Module.new { refine(c) { def initialize(a, b) = raise } } },
  "refined new, not used" => ->(c) { Module.new { refine(c.singleton_class) { def new(a, b) = raise } } },
  "frozen class" => ->(c) { c.freeze },
  "removed and defined again" => ->(c) { c.send(:remove_method, :initialize); c.class_eval { def initialize(a, b) = @all = [:again, a] } },
}.each do |label, change|
  SITES.each_with_index { |site, i| changing("#{label}, site #{i}", fresh, site, &change) }
  changing("#{label}, inherited", Class.new(fresh), SITES[0]) { |c| change.(c.superclass) }
  changing("#{label}, below", Class.new(fresh), SITES[0], &change) unless label["removed"]
end

# what changes it meanwhile
class Meanwhile
  def initialize(what, n = 0)
    @all = [what, n]
    case what
    when :redefine then Meanwhile.class_eval { def self.mark = 1; def initialize(what, n = 1) = @all = [:new_one, what, n] }
    when :new then Meanwhile.singleton_class.class_eval { def new(*all) = [:other_new, *all] }
    when :undefine then Meanwhile.singleton_class.send(:undef_method, :new)
    end
  end
end
def meanwhile(what) = Meanwhile.new(what).then { |one| one.is_a?(Array) ? one : one.all }
show("meanwhile, redefine") { meanwhile(:redefine) }
show("meanwhile, again") { meanwhile(:new) }

module Refining
  refine(Point) { def initialize(x, y) = raise("not called from new") }
  refine(Nothing.singleton_class) { def new = :refined_new }
end
using Refining
show("refined initialize") { Point.new(1, 2).to_a }
show("refined new") { [Nothing.new, Nothing.send(:new), [Nothing].map(&:new)] }

# ---- TracePoint

def traced(*events, where: nil)
  log = []
  trace = TracePoint.new(*events) do |tp|
    next unless tp.path == __FILE__
    value = tp.event.to_s.end_with?("return") ? text(tp.return_value).sub(/#<(\w+).*/, '\1') : nil
    log << [tp.event, tp.lineno, tp.method_id, tp.callee_id, tp.defined_class.inspect[/\w+/], value].compact unless tp.method_id == :disable
  end
  yield trace, log
ensure
  trace.disable
end

class Traced
  def initialize(trace = nil, raises = false)
    @a = 1
    trace&.enable
    raise "traced" if raises
    @b = Nothing2.new
  end
end
class Nothing2; def initialize; end; end

[%i[c_call c_return], %i[call return], %i[c_return], %i[line], %i[call return c_call c_return b_call b_return raise]].each do |events|
  show("traced, #{events}") { traced(*events) { |trace, log| trace.enable { Traced.new; point(1, 2); Optional.new(1) }; log } }
  show("traced later, #{events}") { traced(*events) { |trace, log| Traced.new(trace); trace.disable; log } }
  show("traced later, raises, #{events}") { traced(*events) { |trace, log| (Traced.new(trace, true) rescue 0); trace.disable; log } }
  show("traced later, by a block, #{events}") { traced(*events) { |trace, log| Yield.new { trace.enable; 1 }; trace.disable; log } }
  show("traced later, struct, #{events}") { traced(*events) { |trace, log| Struct4.new(trace); trace.disable; log } } if (Struct4 ||= Struct.new(:a) { def initialize(a) = (super; a.enable) })
end
show("not traced any more") { [point(1, 2).to_a, Traced.new.class] }
show("traced, value") do
  value = nil
  trace = TracePoint.new(:c_return) { |tp| value = [tp.return_value.class, tp.self, tp.binding.class, caller_locations(1, 2).map(&:label)] if tp.method_id == :new }
  one = Traced.new(trace)
  trace.disable
  [one.class, value]
end
show("raise in a hook") do
  trace = TracePoint.new(:c_return) { |tp| raise "in a hook" if tp.method_id == :new }
  begin
    Traced.new(trace)
  rescue => error
    trace.disable
    [error.message, places(error).last(2)]
  end
end
show("hook makes objects") do
  made = []
  trace = TracePoint.new(:c_return) { |tp| made << (1..50).map { |i| Point.new(i, [i] * 3).to_a.size } if tp.method_id == :new }
  one = Traced.new(trace)
  trace.disable
  [one.class, one.instance_variables, made.flatten.sum]
end
show("set_trace_func") do
  log = []
  set_trace_func(->(event, _, line, id, _, klass) { log << [event, line, id, klass.inspect[/\w+/]] if id && id != :set_trace_func })
  point(1, 2)
  set_trace_func(nil)
  log
end
show("method added as a call is traced") { traced(:c_call) { |trace, log| trace.enable { Class.new { def initialize(a) = a }.new(1) }; log } }

# ---- the rest

show("callcc") do
  next :none unless respond_to?(:callcc, true)
end
show("interrupted") do
  thread = Thread.new { begin; Yield.new { sleep }; rescue => error; [error.message, places(error).first(3)]; end }
  Thread.pass until thread.stop?
  thread.raise("stop")
  thread.value
end
show("killed") do
  order = []
  thread = Thread.new { begin; Yield.new { sleep }; ensure; order << 1; end }
  Thread.pass until thread.stop?
  thread.kill.join
  order
end
show("shapes") { Array.new(5) { Point.new(1, 2).instance_variables }.uniq }
show("collected") { 200.times { Point.new(1, 2) }; GC.start; Point.new(Point.new(1, 2), "a" * 3).to_a.map(&:class) }
show("compacted", 2) { GC.compact if GC.respond_to?(:compact); [point(1, 2).to_a, Child.new(1, 2, 3).to_a] } unless STRESS
if STRESS
  [Point, Child, Optional, Keywords, Yield, Nothing, None].each do |klass|
    show("stress, #{klass}", 4) do
      GC.stress = true
      klass.new(*[1, 2, 3].first(klass.instance_method(:initialize).arity.abs.clamp(..3))).instance_variables
    ensure
      GC.stress = false
    end
  end
end
