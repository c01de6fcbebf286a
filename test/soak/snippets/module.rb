c = Class.new; d = Class.new(c); [d < c, c <= c, c > d, c >= d, c <=> d, c == c, c === d.new, d.superclass == c, c.subclasses == [d], d.ancestors.first(2) == [d, c], c.name, c.instance_methods(false), d.allocate.class == d, c.singleton_class?, c.singleton_class.singleton_class?]
c = Class.new { def a = 1; alias_method :b, :a; alias c a; remove_method :a }; [c.new.b, c.new.c, (c.new.a rescue $!.class), c.method_defined?(:b), c.instance_method(:b).name]
c = Class.new { attr_accessor :a; attr_reader :b; attr_writer :c; attr :d }; o = c.new; o.a = 1; o.c = 3; [o.a, o.b, o.d, c.instance_methods(false).sort]
c = Class.new { def a = 1; def b = 2; private def c = 3; protected def d = 4; undef_method :b }; [c.private_instance_methods(false), c.protected_instance_methods(false), c.public_instance_methods(false), c.private_method_defined?(:c), c.protected_method_defined?(:d), c.public_method_defined?(:a), c.undefined_instance_methods, c.public_instance_method(:a).name, (c.new.c rescue $!.message[/private/]), (c.new.d rescue $!.message[/protected/]), (c.new.b rescue $!.class)]
m = Module.new { def x = :m }; n = Module.new { def x = [:n, super] }; c = Class.new { include m; prepend n }; [c.new.x, c.include?(m), c.included_modules.first(2) == [n, m], c.ancestors[0] == n]
m = Module.new { def self.included(b) = (@b = b); def self.extended(b) = @e = b; def self.prepended(b) = @p = b; singleton_class.attr_reader :b, :e, :p }; c = Class.new { include m; prepend m; extend m }; [m.b == c, m.e == c, m.p == c]  #: the variables of a class are the main Ractor's to set
m = Module.new; [m.const_set(:A, 1), m.const_get(:A), m.const_defined?(:A), m.constants, m.const_source_location(:A).class, (m.const_get(:B) rescue $!.class), m.send(:remove_const, :A), m.const_defined?(:A), (m.const_missing(:Z) rescue $!.class)]
m = Module.new { const_set(:A, 1); private_constant :A }; [(m::A rescue $!.class), m.constants, m.public_constant(:A), m::A, m.deprecate_constant(:A).class]
m = Module.new { def self.const_missing(n) = n.to_s }; [m::Zork, m.const_get(:Zap)]
c = Class.new { class_variable_set(:@@a, 1) }; [c.class_variable_get(:@@a), c.class_variable_defined?(:@@a), c.class_variables, c.remove_class_variable(:@@a), c.class_variables]  #: class variables are set by the main Ractor
c = Class.new; c.class_eval { def a = 1 }; c.class_eval("def b = 2"); c.module_eval { def d = 3 }; c.class_exec(4) { |x| define_method(:e) { x } }; c.module_exec { def f = 5 }; o = c.new; [o.a, o.b, o.d, o.e, o.f]
c = Class.new { define_method(:a) { |x = 1, *y, k: 2| [x, y, k] }; define_method(:b, instance_method(:a)) }; [c.new.a, c.new.b(5, 6, k: 7)]
c = Class.new { def self.s = 1; private_class_method :s }; [(c.s rescue $!.class), c.public_class_method(:s), c.s]
c = Class.new; [c.set_temporary_name("fake<x>").name, c.inspect, c.to_s, c.new.inspect.sub(/:0x\h+/, "")]
c = Class.new { def self.inherited(k) = (@k = k; super); def self.k = @k }; d = Class.new(c); [c.k == d, c.attached_object] rescue $!.class  #: the variables of a class are the main Ractor's to set
o = Object.new; [o.singleton_class.attached_object.equal?(o), (String.attached_object rescue $!.class), o.singleton_class.singleton_class?]
c = Class.new { def self.method_added(n) = (@a ||= []) << n; def self.added = @a; def x; end; def y; end }; c.added  #: the variables of a class are the main Ractor's to set
c = Class.new { def self.singleton_method_added(n) = (@s ||= []) << n; def self.s1 = 1; def self.s = @s }; c.s.size  #: the variables of a class are the main Ractor's to set
c = Class.new { def self.method_removed(n) = @r = n; def x; end; remove_method :x; def self.r = @r }; c.r  #: the variables of a class are the main Ractor's to set
[Module.new.name, Module.new.instance_method(:zz)] rescue $!.class
[Module.nesting, Module.used_modules, Module.used_refinements, Module.constants.size > 50]
[String.instance_method(:upcase).owner, String.instance_methods(false).size > 100, String.name, String.to_s, String.inspect, Comparable.instance_methods.size, Kernel.instance_method(:puts).name]
[Class.new.freeze.frozen?, (Class.new.freeze.class_eval { def a = 1 } rescue $!.class), (Class.new(Class) rescue $!.message), (Class.new(1) rescue $!.message), (Class.allocate.new rescue $!.class)]
m = Module.new { refine(String) { def zork = 1 } }; [m.refinements.size, m.refinements[0].target, m.refinements[0].class]
m = Module.new { refine(Integer) { import_methods Module.new { def dbl = self * 2 } } }; m.refinements[0].instance_methods(false)
m = Module.new { refine(String) { def shout = upcase + "!" } }; eval("Module.new { using(ObjectSpace.each_object(Module).first) }") rescue 1
Module.new { module_function; def helper = 5 }.helper
m = Module.new { def a = 1; module_function :a }; [m.a, m.respond_to?(:a)]
Module.new { autoload :Zork, "zork_none" }.then { |m| [m.autoload?(:Zork), m.constants] }
c = Class.new { autoload(:Zap, "zap_none"); def self.t = autoload?(:Zap) }; c.t
c = Class.new { def respond_to_missing?(*) = true; def method_missing(n, *a, **k, &b) = [n, a, k, b&.call] }; c.new.zork(1, k: 2) { 3 }
c = Class.new { ruby2_keywords def a(*x) = b(*x); def b(*x, **k) = [x, k] }; c.new.a(1, z: 2)
c = Class.new { def initialize(a, b: 2) = (@a, @b = a, b); attr_reader :a, :b }; o = c.new(1, b: 3); [o.a, o.b, (c.new rescue $!.message)]
c = Class.new { def ==(o) = true; def hash = 1; def eql?(o) = true }; [c.new == c.new, { c.new => 1 }[c.new], [c.new, c.new].uniq.size]
c = Class.new { def to_str = "s"; def to_ary = [1, 2]; def to_proc = proc { 9 }; def coerce(o) = [o, 1]; def to_int = 3 }; a, b = c.new; ["x" + c.new, a, b, [1].map(&c.new), 1 + c.new, [1, 2, 3, 4][c.new]]
m = 1.method(:+); [m.call(1), m.(2), m[3], m === 1, m.arity, m.name, m.owner, m.receiver, m.original_name, m.parameters, m.source_location, m.super_method, m.to_proc.call(5), m.unbind.class, m.inspect, m.to_s, m.eql?(1.method(:+)), m == 1.method(:+), m.hash == 1.method(:+).hash, m.clone.call(1), m.dup.call(1), m.curry.class]
f = 2.method(:*) >> 3.method(:+); g = 2.method(:*) << 3.method(:+); [f.call(5), g.call(5), [1, 2].map(&2.method(:+)), [1].each(&[].method(:push))]
u = Array.instance_method(:size); [u.bind([1]).call, u.bind_call([1, 2]), u.arity, u.name, u.original_name, u.owner, u.parameters, u.source_location, u.super_method, u.inspect, u.to_s, u == Array.instance_method(:size), u.eql?(u.dup), u.hash == u.clone.hash, (u.bind(1) rescue $!.message)]
c = Class.new { def a(x, y = 1, *z, w, k:, l: 2, **o, &b) = 1 }; [c.instance_method(:a).parameters, c.instance_method(:a).arity, c.new.method(:a).source_location.class]
c = Class.new { def a = 1 }; d = Class.new(c) { def a = super + 1 }; [d.new.a, d.new.method(:a).super_method.call, d.instance_method(:a).super_method.owner == c]
m = Object.new.method(:define_singleton_method); m.unbind.bind(Object.new).call(:x) { 1 }
pr = proc { |a, b = 2, *c, d:, e: 5, **f, &g| [a, b] }; [pr.arity, pr.parameters, pr.parameters(lambda: true), pr.lambda?, pr.call(1, d: 1), pr.(1, d: 1), pr[1, d: 2], pr.yield(3, d: 1), pr.curry.class, pr.source_location.class, pr.inspect.class, pr.to_s.class, pr.to_proc.equal?(pr), pr.hash == pr.hash, pr == pr.dup, pr.eql?(pr.clone), pr.binding.class]
l = ->(a, b) { a + b }; [l.curry[1][2], l.curry.(1, 2), (l.(1) rescue $!.message), l.lambda?, (l === 1 rescue $!.class), (->(x) { x > 1 } === 2), (l >> :to_s.to_proc).call(1, 2), (method(:Integer) << :to_s.to_proc).call(5)]
pr = proc { |(a, b), c| [a, b, c] }; [pr.call([1, 2], 3), pr.call([[1, 2], 3]), proc { |a,| a }.call([5, 6]), proc { _1 + _2 }.call(1, 2), proc { it }.call(7), proc { |*a, **k| [a, k] }.call(1, z: 2), proc { |x| x }.ruby2_keywords.class, Proc.new { 1 }.call]
x = 1; b = binding; b.local_variable_set(:x, 2); b.local_variable_set(:nw, 3); [x, b.local_variable_get(:x), b.local_variable_defined?(:x), b.local_variables.sort, b.receiver.class, b.eval("x"), b.source_location.class, b.dup.local_variable_get(:x), b.clone.eval("x + 1")]
counter = 0; inc = -> { counter += 1 }; 5.times(&inc) rescue 5.times { inc.() }; counter
def rec(n, &b) = n.zero? ? b.call : rec(n - 1, &b); rec(50) { :end }
def opt(a, b = a + 1, *c, d: b + 1, **e) = [a, b, c, d, e]; [opt(1), opt(1, 2, 3, d: 4, f: 5), opt(*[1, 2], **{ z: 1 })]
def fwd(...) = tgt(...); def tgt(*a, **k, &b) = [a, k, b&.call]; fwd(1, x: 2) { 3 }
def anon(*, **, &) = tgt2(*, **, &); def tgt2(*a, **k, &b) = [a, k, b.call]; anon(1, y: 2) { 4 }
def multi = return 1, 2; multi
def ens = (begin; return 1; ensure; @e = 2; end); [ens, @e]
def ret_from_proc = [1, 2].each { |x| return x }; ret_from_proc
pr = proc { next 5; 6 }; pr.call
pr = Snippets.new.then { |s| def s.mk = proc { return 1 }; s.mk }; (pr.call rescue $!.class)
o = Object.new; o.instance_eval { def self.zz = 3 }; o.singleton_class.class_eval { attr_accessor :q }; o.q = 1; [o.zz, o.q]
c = Class.new { @a = 1; @b = [1].freeze; class << self; attr_reader :a, :b; end }; [c.a, c.b, c.instance_variables]  #: the variables of a class are the main Ractor's to set
c = Class.new { @@soak = 1 rescue $!.class }; c.class_variables  #: class variables are set by the main Ractor
Class.new(StandardError) { def message = "mine" }.new.message
Class.new(Array) { def x = size }.new(3).x
Class.new(String).new("a").upcase.class
Class.new(Hash).new(1)[:a]
Class.new(Module).new.name
10.times.map { Class.new { def a = 1 } }.map { _1.new.a }.sum
cs = Array.new(5) { |i| Class.new { define_method(:v) { i } } }; 3.times.flat_map { cs.map { _1.new.v } }
b = Class.new; l = 20.times.map { Class.new(b) }; [b.subclasses.size, l.size]
c = Class.new { def a = 1 }; o = c.new; r = [o.a]; c.class_eval { remove_method :a; def a = 2 }; r << o.a; c.class_eval { def a = 3 } ; r << o.a
c = Class.new; o = c.new; m = Module.new { def z = 1 }; r = [(o.z rescue :none)]; c.include(m); r << o.z; m.define_method(:z) { 2 }; r << o.z; m.remove_method(:z); r << (o.z rescue :none)
c = Class.new { def method_missing(n, *) = n }; o = c.new; 5.times.map { |i| o.send("m#{i}") }
Object.const_get("String").equal?(String) && Object.const_defined?("File::Stat") && Object.const_get("File::Stat").name
SoakConst ||= 1
[Object.const_source_location("Zork"), Object.constants.size > 100, Object.include?(Kernel), Math.constants.sort]
Refinement.instance_methods(false)
[Warning[:deprecated], Warning[:experimental], Warning.categories.sort, (Warning[:zork] rescue $!.message)]
Warning[:performance] = false
Warning.warn("") rescue $!.class
[(proc { |x| x + 1 } << proc { |x| x * 2 }).call(5), (:to_s.to_proc << proc { |x| x * 2 }).call(5)]
