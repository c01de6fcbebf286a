t = Thread.new { 5 }; [t.value, t.alive?, t.status, t.stop?, t.join.equal?(t), t.group, t.inspect.class, t.to_s.class, t.native_thread_id.class, t.backtrace, t.backtrace_locations]
t = Thread.current; [t.alive?, t.status, t.stop?, t.priority, t.group.class, t.name.class, t.native_thread_id.class, t.backtrace.class, t.backtrace_locations.class, t.pending_interrupt?, Thread.pending_interrupt?, t == Thread.main, Thread.main.alive?, Thread.list.size > 0].values_at(0, 1, 2, 4, 6, 7, 8, 9, 10, 12, 13)
t = Thread.new { Thread.current[:a] = 1; Thread.current["b"] = 2; Thread.current.thread_variable_set(:c, 3); c = Thread.current; [c[:a], c.key?(:a), c.keys.sort, c.fetch(:a), c.fetch(:z, 9), c.thread_variable_get(:c), c.thread_variable?(:c), c.thread_variables] }; t.value
t = Thread.new { Thread.current.name = "soak"; Thread.current.priority = 1; [Thread.current.name, Thread.current.priority, Thread.current.abort_on_exception = false, Thread.current.report_on_exception = false, Thread.current.abort_on_exception, Thread.current.report_on_exception] }; t.value
t = Thread.new { sleep }; Thread.pass until t.stop?; [t.status, t.wakeup.class, t.join.status]
t = Thread.new { sleep }; Thread.pass until t.stop?; t.run; t.join.status
t = Thread.new { Thread.stop; 3 }; Thread.pass until t.stop?; t.run; t.value
t = Thread.new { sleep }; t.kill; t.join; [t.status, t.alive?]
t = Thread.new { begin; sleep; ensure; Thread.current[:x] = 1; end }; Thread.pass until t.stop?; t.terminate; t.join; t[:x]
t = Thread.new { Thread.exit; 1 }; t.value
t = Thread.new { sleep }; t.exit; t.join.value
t = Thread.new { sleep }; Thread.kill(t); t.join.status
t = Thread.new { Thread.current.report_on_exception = false; begin; sleep; rescue => e; raise e; end }; Thread.pass until t.stop?; t.raise("x"); (t.value rescue $!.message)
t = Thread.new { Thread.current.report_on_exception = false; raise ArgumentError, "in" }; begin; t.join; rescue => e; [e.class, e.message, t.status]; end
Thread.new { Thread.handle_interrupt(RuntimeError => :never) { Thread.pass; Thread.pending_interrupt? } }.value
t = Thread.new { Thread.handle_interrupt(RuntimeError => :immediate) { begin; sleep; rescue => e; e.message; end } }; Thread.pass until t.stop?; t.raise("h"); t.value
[Thread.start(1) { |x| x }.value, Thread.fork { 2 }.value, Thread.pass, Thread.abort_on_exception, Thread.report_on_exception.class, Thread.ignore_deadlock, (Thread.new rescue $!.class)]
[Thread.report_on_exception = true, Thread.abort_on_exception = false, Thread.ignore_deadlock = false]
r = []; Thread.each_caller_location { |l| r << l.class }; r.size > 0
[Thread::Backtrace.limit, ThreadGroup.new.then { |g| t = Thread.new { sleep }; g.add(t); x = [g.list.size, g.enclosed?, g.enclose.class, g.enclosed?]; t.kill.join; x }]
Array.new(10) { |i| Thread.new { i * 2 } }.sum(&:value)
Array.new(3) { |i| Thread.new { 50.times { Thread.pass }; i } }.map(&:value)
m = Mutex.new; [m.lock.class, m.locked?, m.owned?, m.try_lock, m.unlock.class, m.synchronize { 5 }, (m.unlock rescue $!.message), m.try_lock, (m.lock rescue $!.message)]
m = Mutex.new; m.lock; [[NilClass, Integer].include?(m.sleep(0.001).class), m.owned?]
m = Mutex.new; n = 0; Array.new(4) { Thread.new { 50.times { m.synchronize { n += 1 } } } }.each(&:join); n
q = Queue.new; [q << 1, q.push(2), q.enq(3), q.size, q.length, q.empty?, q.pop, q.shift, q.deq, (q.pop(true) rescue $!.message), q.pop(timeout: 0), q.num_waiting, q.clear.class, q.closed?, q.close.class, q.pop, (q << 1 rescue $!.class), (q.freeze rescue $!.message.sub(/#<.*/, "")), (q.marshal_dump rescue $!.class)].values_at(3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17, 18)
q = Queue.new([1, 2]); t = Thread.new { r = []; while (x = q.pop); r << x; end; r }; q << 3; q.close; t.value
q = SizedQueue.new(1); t = Thread.new { 5.times { q << _1 }; q.close }; r = []; while (x = q.pop); r << x; end; t.join; r
q = SizedQueue.new(2); q << 1; q.push(2); q.clear; [q.enq(3).class, q.size, q.length, q.max, (q.max = 5), q.empty?, (q.push(1, true)).class, q.pop, q.deq, q.num_waiting, q.push(1, timeout: 0).class, q.shift, q.close.class, (SizedQueue.new(0) rescue $!.message), (SizedQueue.new(1).freeze rescue $!.class)]
m = Mutex.new; c = ConditionVariable.new; ready = false; t = Thread.new { m.synchronize { c.wait(m) until ready; :go } }; m.synchronize { ready = true; c.signal }; t.value
m = Mutex.new; c = ConditionVariable.new; [m.synchronize { c.wait(m, 0.001) }.class, c.broadcast.class, c.signal.class, (c.marshal_dump rescue $!.class)].drop(1)
m = Mutex.new; c = ConditionVariable.new; go = false; ts = Array.new(3) { Thread.new { m.synchronize { c.wait(m) until go; 1 } } }; m.synchronize { go = true; c.broadcast }; ts.sum(&:value)
t = Thread.new { Thread.current.report_on_exception = false; Fiber.yield }; (t.join rescue $!.class)
t = Thread.new { sleep 0.001; :late }; [t.join(0.0001).class, t.value].last
Thread.current.thread_variable_get(:none)
Thread.new { Thread.current.set_trace_func(nil) }.value
Thread.new { Thread.current.add_trace_func(proc { }); Thread.current.set_trace_func(nil) }.value
Thread.current.object_id == Thread.current.object_id
[Mutex.new.locked?, Thread::Mutex.equal?(Mutex), Thread::Queue.equal?(Queue)]
begin; q = Queue.new; Thread.new { q << 1 }; q.pop; end
ts = Array.new(5) { Thread.new { sleep } }; ts.each(&:kill); ts.map { _1.join.status }
Thread.new { throw :zork }.tap { _1.report_on_exception = false }.then { |t| (t.join rescue $!.message) }
Thread.new { Thread.new { Thread.new { 7 }.value }.value }.value
f = Fiber.new { |x| y = Fiber.yield(x + 1); y * 2 }; [f.resume(1), f.alive?, f.resume(10), f.alive?, (f.resume rescue $!.message), f.inspect.class, f.to_s.class, f.blocking?]
f = Fiber.new { begin; Fiber.yield 1; rescue => e; e.message; end }; f.resume; f.raise("into")
f = Fiber.new { begin; Fiber.yield; ensure; @done = 1; end }; f.resume; [f.kill.class, f.alive?, @done]
f = Fiber.new { f2 = Fiber.new { Fiber.yield :inner; :end }; [f2.resume, f2.resume] }; f.resume
f = Fiber.new(storage: { a: 1 }) { [Fiber[:a], (Fiber[:b] = 2), Fiber[:b], Fiber.current.storage] }; f.resume
f = Fiber.new { Fiber.current.storage = { z: 1 }; Fiber[:z] }; f.resume
[Fiber.current.class, Fiber.current.alive?, Fiber.blocking?, Fiber.blocking { 1 }, Fiber.current_scheduler, Fiber.scheduler, (Fiber.schedule { } rescue $!.class), Fiber.set_scheduler(nil), (Fiber.yield rescue $!.class)]
f = Fiber.new { |x| g = x; Fiber.new { :t }.transfer }; f.transfer(1)
m = Fiber.current; f = Fiber.new { m.transfer(5) }; f.transfer
f = Fiber.new { raise "fib" }; (f.resume rescue $!.message)
f = Fiber.new { Fiber.yield }; f.resume; [f.backtrace.class, f.backtrace_locations.class, f.backtrace(0, 1).class]
fs = Array.new(20) { |i| Fiber.new { 3.times { |j| Fiber.yield i * j }; :e } }; 4.times.map { fs.map(&:resume) }.flatten.size
f = Fiber.new { Thread.new { 1 }.value }; f.resume
f = Fiber.new(blocking: true) { Fiber.current.blocking? }; f.resume
Array.new(30) { Fiber.new { Fiber.yield 1 } }.each(&:resume).size
f = Fiber.new { GC.start; Fiber.yield [1] * 10; GC.start; "x" }; [f.resume, f.resume]
(def fibd(n) = n.zero? ? 0 : Fiber.new { fibd(n - 1) + 1 }.resume); fibd(10)
Fiber.new { throw :x }.then { |f| (catch(:x) { f.resume }; 1) rescue $!.class }
Thread.new { f = Fiber.new { Fiber.yield 1; 2 }; [f.resume, f.resume] }.value
