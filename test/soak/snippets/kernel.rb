["a" !~ /b/, 1 <=> 1, Object.new <=> 1, Integer === 1, 1.class, 1.frozen?, nil.nil?, Object.new.nil?, 1.itself, 1.then { _1 + 1 }, 1.yield_self { _1 }, 1.tap { }, 1.hash == 1.hash, Object.new.eql?(1), Object.new.__send__(:eql?, 2), 3.send(:yield_self) { 1 }]
o = Object.new; [o.clone.class, o.dup.class, o.freeze.frozen?, o.clone.frozen?, o.clone(freeze: false).frozen?, o.dup.frozen?, o.inspect, o.to_s]
o = Object.new; o.define_singleton_method(:x) { 5 }; def o.y = 6; [o.x, o.y, o.singleton_methods.sort, o.singleton_method(:x).call, o.singleton_class.instance_methods(false).sort, o.methods(false).sort]
o = Object.new.extend(Module.new { def z = 7 }); [o.z, o.is_a?(Kernel), o.kind_of?(Object), o.instance_of?(Object), o.respond_to?(:z), o.respond_to?(:puts), o.respond_to?(:puts, true)]
o = Object.new; o.instance_variable_set(:@a, 1); [o.instance_variable_get(:@a), o.instance_variable_defined?(:@a), o.instance_variables, o.remove_instance_variable(:@a), o.instance_variables, (o.remove_instance_variable(:@a) rescue $!.class), (o.instance_variable_get("a") rescue $!.class)]
o = Object.new; 20.times { o.instance_variable_set("@v#{_1}", _1) }; o.instance_variables.sum { o.instance_variable_get(_1) }
[1.method(:+).call(2), 1.public_method(:-).call(1), 1.send(:+, 2), 1.public_send(:*, 3), 1.__send__(:/, 1), (1.public_send(:puts) rescue $!.class), (1.send(:zork) rescue $!.message)]
[1.methods.size > 50, 1.public_methods.size > 50, Object.new.private_methods.include?(:puts), Object.new.protected_methods, 1.singleton_methods]
[[1, 2].to_enum(:each_slice, 1).to_a, [3].enum_for.to_a, 5.to_enum(:times).size, 1.object_id == 1.object_id, Object.new.object_id.class, Object.new.display.class]
[sprintf("%d", 1), format("%05.1f", 2.25), String(1), Array(1), Hash([]), Rational(1), Complex(1), Integer("1"), Float("1")]
[__method__.class, __callee__.class, __dir__, binding.class, local_variables.class]
global_variables.include?(:$stdout) #: global variables are the main Ractor's
[caller.class, caller(0).size > 0, caller_locations(0).first.lineno, block_given?]
[lambda { |x| x }.call(1), proc { |x| x }.call(1, 2), (raise "x" rescue $!.message), (fail ArgumentError rescue $!.message), (raise ArgumentError, "m", [] rescue $!.backtrace), (raise Class.new(StandardError), "c" rescue $!.message)]
[catch(:a) { throw :a, 1 }, catch { |t| throw t, 2 }, (throw :nope rescue $!.message), catch(:a) { catch(:b) { throw :a, 3 } }]
r = []; loop { r << 1; break if r.size > 2 }; r
[eval("1 + 1"), eval("x = 5; x * 2"), binding.eval("[1]"), instance_eval { self.class.name }, instance_exec(3) { |x| x }, eval("__FILE__", nil, "f", 3), raised { eval("1 +") }.class, (eval("zork") rescue $!.class)]
[Kernel.Integer("5"), Kernel.format("%x", 255), Kernel.Array(nil), Kernel.lambda { 1 }.call, Kernel.catch(:x) { 1 }, Kernel.rand(1), Kernel.binding.class, Kernel.proc { }.class, Kernel.loop { break 3 }]
[sleep(0).class, sleep(0.0001).class, (sleep(-1) rescue $!.message), (sleep("x") rescue $!.message)]
$stdout.then { |io| o = IO.pipe; o[1].puts("x", [1, [nil]]); o[1].print("a", "b"); o[1].printf("%d", 5); o[1].putc("c"); o[1].putc(65); o[1].close; o[0].read }
$stdout = File.open(File::NULL, "w"); begin; puts "x"; print "y"; p 1; pp({ a: 1 }); putc "z"; printf("%d\n", 1); warn "w"; 1.display; "x".display ensure $stdout = STDOUT rescue $stdout = IO.for_fd(1, autoclose: false); end
$stderr.class
[require("rbconfig").!.!.class.name.size > 3, raised { require("zork_none") }.class, raised { load("zork_none") }.class, raised { require_relative("zork_none") }.class]
file("1 + 1") { |f| load(File.expand_path(f)) }
autoload?(:ZorkNone).class
file("abc\nd") { |f| [open(f, &:read), File.open(f) { |io| io.readlines }, test(?e, f), test(?d, f), test(?s, f)] }
[`echo hi`, $?.success?, system("exit 3"), $?.exitstatus, Process.wait2(spawn("exit 2"))[1].exitstatus]
kept = IO.pipe; [select([kept[0]], nil, nil, 0), (r, w = IO.pipe; w << "x"; select([r], [w], nil, 1).map(&:size))]
[srand(3).class, rand.class, Random.rand(1)]
trap("USR2", "IGNORE").class
nil.instance_eval { at_exit { } }.class
trace_var(:$soak) { } #: global variables are the main Ractor's
(trace_var(:$soak2) { }; untrace_var(:$soak2).size) #: global variables are the main Ractor's
set_trace_func(nil)
raised { exit }.class
begin; exit(3); rescue SystemExit => e; [e.status, e.success?, e.message]; end
begin; abort; rescue SystemExit => e; e.status; end
begin; exec("/zork/none"); rescue SystemCallError => e; e.class; end
begin; Process.exec("/zork/none"); rescue SystemCallError => e; e.class; end
begin; spawn("/zork/none"); rescue SystemCallError => e; e.class; end
begin; syscall(39).class; rescue => e; e.class; end
gets rescue $!.class
readline rescue $!.class
readlines rescue $!.class
warn("x", uplevel: 0) && 1 if false
o = Object.new; def o.method_missing(n, *a) = n == :zip ? [n, a] : super; def o.respond_to_missing?(n, p = false) = n == :zip; [o.zip(1), o.respond_to?(:zip), o.method(:zip).call(2), (o.zap rescue $!.class)]
o = BasicObject.new; [(o.inspect rescue $!.class), !o, o == o, o != o, o.equal?(o), o.__id__.class, o.instance_eval { 1 }, o.instance_exec(2) { |x| x }, o.__send__(:==, 1)]
o = Object.new; def o.initialize_copy(x) = @c = 1; def o.initialize_dup(x) = (super; @d = 2); def o.initialize_clone(x, freeze: nil) = (super(x); @e = 3); [o.dup.instance_variables, o.clone.instance_variables.sort]
def block_or_not = block_given? ? yield : :none; [block_or_not, block_or_not { 1 }]
begin; begin; raise "a"; ensure; @z = 1; end; rescue; @z; end
x = 0; begin; x += 1; raise "again" if x < 3; x; rescue; retry; end
[defined?(x), defined?(String), defined?(@z), defined?(puts), defined?(yield), defined?(3 + 3), defined?(Zork::None)]
[__LINE__, __FILE__.class, __ENCODING__]
[nil & 1, nil === nil, nil =~ 1, nil ^ 1, nil.inspect, nil.rationalize, nil.to_a, nil.to_c, nil.to_f, nil.to_h, nil.to_i, nil.to_r, nil.to_s, nil | 1, nil.dup]
[true & 1, true === true, true ^ true, true.inspect, true.to_s, true | nil, !true, false & 1, false === false, false ^ 1, false.inspect, false.to_s, false | 1]
defined?($zork) #: global variables are the main Ractor's
$;.class #: global variables are the main Ractor's
$0.class #: global variables are the main Ractor's
$,.class #: global variables are the main Ractor's
$/.class #: global variables are the main Ractor's
[$$.class, $~, $!, $@, $_]
$soak_global = 1 #: global variables are the main Ractor's
$LOAD_PATH.class #: global variables are the main Ractor's
$VERBOSE.class
$DEBUG.class
ObjectSpace.each_object(Class).first.class
[ObjectSpace.count_objects.class, ObjectSpace.garbage_collect, ObjectSpace.define_finalizer(Object.new, nil.instance_eval { proc { } })[0]]
o = Object.new; ObjectSpace.define_finalizer(o, nil.instance_eval { proc { } }); ObjectSpace.undefine_finalizer(o).equal?(o)
o = Object.new; ObjectSpace._id2ref(o.object_id).equal?(o) rescue $!.class.name.size > 0
w = ObjectSpace::WeakMap.new; k = "key"; v = "value"; w[k] = v; [w[k], w.key?(k), w.include?(k), w.member?(k), w.size, w.length, w.keys, w.values, w.each { }.class, w.each_pair { }.class, w.each_key { }.class, w.each_value { }.class, w.inspect.class, w.delete(k), w.size]
w = ObjectSpace::WeakKeyMap.new; k = "key"; w[k] = 1; [w["key"], w.key?("key"), w.getkey("key").equal?(k), w.inspect.class, w.delete("key"), w.clear.class]
w = ObjectSpace::WeakMap.new; 100.times { |i| w["k#{i}"] = "v#{i}" }; GC.start; w.size <= 100
w = ObjectSpace::WeakKeyMap.new; 100.times { |i| w["k#{i}"] = i }; GC.start; w["k50"].class.then { 1 }
[GC.count.class, GC.stat.class, GC.stat(:count).class, GC.stat_heap.class, GC.stat_heap(0, :slot_size), GC.start, GC.stress, GC.measure_total_time, GC.total_time.class, GC.latest_gc_info.class, GC.config.class, GC.auto_compact, GC.latest_compact_info.class]
[GC.disable, GC.enable].size
[Object.new.garbage_collect.class] rescue $!.class
Object.new.extend(GC).garbage_collect
[GC.compact.class, GC.verify_compaction_references(double_heap: false).class].size
GC.verify_internal_consistency
[GC::Profiler.enabled?, GC::Profiler.enable, GC::Profiler.raw_data.class, GC::Profiler.result.class, GC::Profiler.total_time.class, GC::Profiler.clear, GC::Profiler.disable].size
[ObjectSpace::WeakMap.new.inspect.class, RubyVM.stat.class, RubyVM.stat(:constant_cache_invalidations).class, RubyVM.keep_script_lines]
# covers Kernel#send BasicObject#__send__ Proc#call Proc#[] Proc#yield Proc#=== Kernel#respond_to_missing? Kernel#yield_self
[1.send(:+, 2), 1.__send__(:-, 1), proc { 1 }.call, proc { 2 }[], proc { 3 }.yield, proc { |x| x } === 4, 1.respond_to?(:zork)]
