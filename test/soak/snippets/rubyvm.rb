i = RubyVM::InstructionSequence.compile("x = 1; x + 2"); [i.eval, i.disasm.class, i.disassemble.class, i.to_a.class, i.label, i.base_label, i.path, i.absolute_path, i.first_lineno, i.inspect.class, i.each_child { }.class, i.trace_points.class, i.script_lines]
i = RubyVM::InstructionSequence.compile("def soak_compiled = 1; 7"); b = i.to_binary; [RubyVM::InstructionSequence.load_from_binary(b).eval, RubyVM::InstructionSequence.load_from_binary_extra_data(i.to_binary("x"))]
[RubyVM::InstructionSequence.of(proc { 1 }).class, RubyVM::InstructionSequence.disasm(proc { 1 }).class, RubyVM::InstructionSequence.disassemble(proc { 1 }).class, RubyVM::InstructionSequence.compile_option.class, RubyVM::InstructionSequence.new("1").eval, RubyVM::InstructionSequence.compile_prism("1").eval, RubyVM::InstructionSequence.compile_parsey("1").eval]
l = RubyVM::Lockfree; [l.waits_enable, l.waits.keys.size, l.waits(Ractor.current)[:ractors].size <= 1, l.waits_reset, l.waits[:dropped].keys, l.waits_disable]
file("5 + 5") { |f| [RubyVM::InstructionSequence.compile_file(f).eval, RubyVM::InstructionSequence.compile_file_prism(f).eval] }
n = RubyVM::AbstractSyntaxTree.parse("a = 1\nb(a)", keep_tokens: true, keep_script_lines: true); [n.type, n.children.size, n.first_lineno, n.last_lineno, n.first_column, n.last_column, n.node_id.class, n.inspect, n.source, n.script_lines, n.tokens.size, n.all_tokens.size, n.locations.class]
file("x = 1") { |f| RubyVM::AbstractSyntaxTree.parse_file(f).type }
RubyVM::AbstractSyntaxTree.parse("1").locations[0].then { |l| [l.first_column, l.first_lineno, l.last_column, l.last_lineno, l.inspect] }
RubyVM::AbstractSyntaxTree.of(proc { 1 }) rescue $!.class
begin; raise "x"; rescue => e; RubyVM::AbstractSyntaxTree.node_id_for_backtrace_location(e.backtrace_locations[0]).class; end
eval("[1, 2].map { |x| x * 3 }.sum")
eval("def zork_#{Random.rand(10**12)}(a, b: 2) = a + b").class
eval("case [1, {a: 2}]; in [Integer => x, {a:}] then x + a end")
eval('<<~X + "#{1 + 1}"' + "\n  heredoc\nX\n")
eval("->(x, y = 2, *z, k: 3, **o, &b) { [x, y, z, k, o] }.(1)")
eval("class << Object.new; def x = 1; self; end.instance_methods(false)")
eval("begin; raise 'q'; rescue => e; e.message; ensure; 1; end")
eval("x = 5; while x > 0; x -= 1; next if x == 3; end; x")
eval("if false then 1 elsif true then 2 end")
eval("BEGIN { }; __LINE__")
eval("[*1..5, *'a'..'c'].each_slice(3).to_a")
raised { eval("zork +", nil, "name", 5) }.message.lines.size > 0
Array.new(10) { |i| eval("#{i} + #{i}") }.sum
eval("module_eval rescue 1; self.class.name")
[true, false].include?(RubyVM::YJIT.enabled?)
RubyVM::YJIT.runtime_stats.class.name.size > 0
RubyVM::RJIT.enabled?.class
RubyVM.stat.class
t = TracePoint.new(:call, :return) { |tp| @m ||= [tp.event, tp.method_id, tp.callee_id, tp.defined_class.class, tp.path.class, tp.lineno.class, tp.self.class, tp.binding.class, tp.parameters, tp.inspect.class] }; def traced = 5; t.enable { traced }; [@m.first(3), t.enabled?, t.enable, t.enabled?, t.disable, t.inspect]
t = TracePoint.new(:return) { |tp| @v = tp.return_value }; def traced2 = 6; t.enable { traced2 }; @v
t = TracePoint.new(:raise) { |tp| @r = tp.raised_exception.message }; t.enable { raise "tr" rescue 1 }; @r
t = TracePoint.new(:line) { |tp| @n = (@n || 0) + 1 }; t.enable { x = 1; y = 2 }; @n.class
t = TracePoint.new(:c_call) { |tp| @c = tp.method_id }; t.enable { "a".upcase }; @c
t = TracePoint.new(:script_compiled) { |tp| @s = [tp.eval_script, tp.instruction_sequence.class] }; t.enable { eval("1") }; @s
t = TracePoint.new(:call) { |tp| @t = tp.method_id }; def targ = 1; t.enable(target: method(:targ)) { targ }; @t
t = TracePoint.trace(:class) { }; t.disable; [TracePoint.stat.class, (TracePoint.allow_reentry { } rescue $!.class), (TracePoint.new(:zork) { } rescue $!.message)]
t = TracePoint.new(:b_call, :b_return) { @b = (@b || 0) + 1 }; t.enable { [1].each { } }; @b.class
# Called in the hook of a TracePoint.
# covers TracePoint#event TracePoint#path TracePoint#callee_id TracePoint#method_id TracePoint#self TracePoint#defined_class
# covers TracePoint#raised_exception TracePoint#return_value TracePoint#instruction_sequence TracePoint#eval_script
# covers TracePoint#binding TracePoint#parameters TracePoint#lineno
