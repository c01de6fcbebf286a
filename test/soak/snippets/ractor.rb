Ractor.new { 5 }.take
Ractor.new(1, 2) { |a, b| a + b }.take
r = Ractor.new { Ractor.receive * 2 }; r.send(4); r.take
r = Ractor.new { Ractor.recv.upcase }; r << "ab"; r.take
r = Ractor.new { Ractor.yield 1; Ractor.yield [2]; 3 }; [r.take, r.take, r.take]
r = Ractor.new { raise "inside" }; begin; r.take; rescue Ractor::RemoteError => e; [e.message, e.cause.message, e.ractor == r]; end
r = Ractor.new(name: "nm") { Ractor.current.name }; [r.name, r.take, r.inspect.class, r.to_s.class]
[Ractor.current.class, Ractor.main.class, Ractor.count > 0, Ractor.main?.!.!.class.name.size > 3]
a = Array.new(3) { |i| Ractor.new(i) { |x| x * 10 } }; a.map(&:take).sort
rs = Array.new(3) { |i| Ractor.new(i) { |x| x } }; out = []; until rs.empty?; r, v = Ractor.select(*rs); rs.delete(r); out << v; end; out.sort
r = Ractor.new { Ractor.receive_if { |m| m.is_a?(String) } }; r << 1; r << "s"; r.take
[Ractor.make_shareable([1, ["a"]]).frozen?, Ractor.make_shareable("x", copy: true), Ractor.shareable?([]), Ractor.shareable?(1), Ractor.shareable?("a".freeze), Ractor.shareable?(Object), Ractor.make_shareable({ a: [1] })]
Ractor.current[:soak] = 1; [Ractor.current[:soak], Ractor[:soak], (Ractor[:soak] = 2), Ractor[:soak], Ractor.store_if_absent(:soak_new) { 3 }]
r = Ractor.new { Ractor.receive }; r.send([1, "x"], move: true); r.take
s = "moved"; r = Ractor.new { Ractor.receive }; r.send(s, move: true); [r.take, (s.size rescue $!.class)]
r = Ractor.new { :x }; r.take; (r.take rescue $!.class)
r = Ractor.new { Ractor.receive }; r.close_incoming; (r << 1 rescue $!.class)
r = Ractor.new { begin; Ractor.yield 1; rescue Ractor::ClosedError; 0; end }; r.close_outgoing; (r.take rescue $!.class)
x = 5; (Ractor.new { x } rescue $!.message)
(Ractor.new rescue $!.message)
r = Ractor.new { Ractor.receive.then { |h| h.merge(b: 2) } }; r << { a: 1 }; r.take
r = Ractor.new { loop { m = Ractor.receive; break if m == :stop; Ractor.yield m + 1 }; :ended }; r << 1; a = r.take; r << 2; b = r.take; r << :stop; [a, b, r.take]
r = Ractor.new { Array.new(100) { |i| i.to_s } }; r.take.size
r = Ractor.new { Thread.new { 3 }.value }; r.take
r = Ractor.new { Ractor.new { 9 }.take + 1 }; r.take
(Ractor.new { Ractor.receive }.send(Thread.current) rescue $!.class)
(Ractor.make_shareable(proc { self }) rescue $!.class)
pr = Ractor.make_shareable(nil.instance_eval { proc { |x| x + 1 } }); Ractor.new(pr) { |q| q.call(1) }.take
Ractor.new { $stdout.class.name }.take
Ractor.new { s = 0; 1000.times { s += _1 }; s }.take
Ractor.new { "x".to_sym.to_proc.call("x") rescue $!.class }.take
o = Object.new; r = Ractor.new { Ractor.receive }; r.send(o, move: true); r.take; [(o.inspect rescue $!.class), (o == 1 rescue $!.class), (!o rescue $!.class), (o != 1 rescue $!.class), (o.__id__ rescue $!.class), (o.__send__(:x) rescue $!.class), (o.equal?(1) rescue $!.class), (o.instance_eval { } rescue $!.class), (o.instance_exec { } rescue $!.class), (o.zork rescue $!.class)]
Ractor.new { Ractor.main? }.take
# Called in another Ractor than the one whose calls are written down.
# covers Ractor.receive Ractor.recv Ractor.receive_if Ractor.yield Ractor::RemoteError#ractor Ractor.select
