# What goes on besides: the GC, new Ractors and threads, exceptions, definitions.
GC.start
GC.compact.class
GC.start(full_mark: false)
Ractor.new { 1 + 1 }.take
Ractor.new { Ractor.receive }.send("x").take
Array.new(3) { |i| Ractor.new(i) { |x| x.to_s * 3 } }.map(&:take)
Ractor.new { raise "no" }.take rescue $!.class
Thread.new { 1 }.value
Array.new(4) { |i| Thread.new { i } }.map(&:value)
t = Thread.new { sleep }; Thread.pass; t.kill; t.join.status
t = Thread.new { Thread.current.report_on_exception = false; raise "x" }; (t.join rescue $!.message)
q = Queue.new; t = Thread.new { begin; q << 1; sleep; rescue => e; e.message; end }; q.pop; Thread.pass until t.stop?; t.raise("up"); t.value
c = Class.new { def a = 1 }; c.class_eval { def a = 2 }; c.new.a
Module.new { refine(String) { def soak = 1 } }.refinements.size
c = Class.new(String); c.include(Module.new { def x = 3 }); c.new.x
Class.new { attr_accessor :a, :b }.new.tap { |o| o.a = 1; o.b = o.a + 1 }.b
"sym#{rand(10**9)}".to_sym.class
Array.new(1000) { Object.new }.size
Array.new(200) { |i| "x" * i }.sum(&:size)
(1..50).map { |i| Class.new }.size
def (Object.new).x = 1
loop { raise StopIteration, 7 }
catch(:done) { 10.times { |i| throw :done, i if i == 5 } }
(def deep(n) = n.zero? ? 0 : 1 + deep(n - 1)); deep(500)
eval("1 + 2 * 3")
Object.new.instance_eval { @a = 1; @b = 2; instance_variables }
ObjectSpace.garbage_collect
