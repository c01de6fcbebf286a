# loop_entry.rb - every form of loop, and every way out of one; the output is the same however it is run.
#
# Each form runs in a method that is called once, so that only its loops can get it into compiled code.

$VERBOSE = nil
N = 60

def show(form)
  result = begin
    yield
  rescue Exception => e
    "#{e.class}: #{e.message}"
  end
  puts "#{form}: #{result.inspect}"
end

# ---- forms

def form_while = (i = s = 0; (s += i; i += 1) while i < N; s)
def form_until = (i = s = 0; until i == N; s += i; i += 1; end; s)
def form_begin_while = (i = 0; begin i += 1 end while i < N; i)
def form_begin_until = (i = 0; begin i += 1 end until i >= N; i)
def form_while_true = (i = 0; while true; i += 1; break i * 2 if i == N; end)
def form_nested = (s = i = 0; while i < 20; j = 0; while j < i; s += j; j += 1; end; i += 1; end; s)
def form_while_in_arguments = [1, (i = 0; i += 1 while i < N; i), [2, (i -= 1 while i > 5; i)], 3]
def form_while_in_string = "a#{i = 0; i += 1 while i < N; i}b#{i -= 1 until i == 7; i}c"
def form_while_not = (i = 0; i += 1 while !(i > N); i)
def form_while_and = (i = 0; j = N * 2; (i += 1; j -= 1) while i < N && j > N / 2; [i, j])
def form_while_nil = (a = (1..N).to_a; s = 0; while x = a.pop; s += x; end; s)
def form_safe_navigation = (a = [nil] * N + [1]; i = 0; i += 1 until a[i]&.succ; i)
def form_flip_flop = (1..N).select { |i| true if (i % 10 == 3)..(i % 10 == 5) }.sum
def form_loop = (i = 0; loop { i += 1; break i if i > N })
def form_loop_stop = (e = (1..N).each; s = 0; r = loop { s += e.next }; [s, r.size])
def form_times = (s = 0; r = N.times { |i| s += i }; [s, r])
def form_times_no_parameter = (s = 0; N.times { s += 1 }; s)
def form_times_enumerator = (e = N.times; s = 0; e.each { |i| s += i }; s)
def form_each = (s = 0; r = (1..N).to_a.each { |x| s += x }; [s, r.size])
def form_each_splat = (s = 0; Array.new(N) { |i| [i, i * 2] }.each { |a, b| s += a * b }; s)
def form_each_optional = (s = 0; Array.new(N) { |i| [i] }.each { |a, b = 3, *c, k: 2| s += a * b + c.size + k }; s)
def form_each_numbered = (s = 0; Array.new(N) { _1 }.each { s += _1 }; s)
def form_each_it = (s = 0; Array.new(N) { it }.each { s += it }; s)
def form_each_destructured = (s = 0; Array.new(N) { |i| [i, [i, 1]] }.each { |a, (b, c)| s += a + b + c }; s)
def form_each_grows = (a = [1]; a.each { |x| a << x + 1 if a.size < N }; a.sum)
def form_each_shrinks = (a = (1..N).to_a; s = 0; a.each { |x| s += x; a.pop }; s)
def form_each_block_pass = (s = 0; b = ->(x) { s += x }; (1..N).to_a.each(&b); s)
def form_each_symbol = (1..N).to_a.each(&:succ).size
def form_each_lambda_return = (s = 0; b = lambda { |x| s += x; return 1 }; (1..N).to_a.each(&b); s)
def form_map = (1..N).to_a.map { |x| x * 2 }.sum
def form_select = (1..N).to_a.select { |x| x.even? }.sum
def form_upto = (s = 0; 1.upto(N) { |x| s += x }; s)
def form_downto = (s = 0; N.downto(1) { |x| s += x; }; s)
def form_step = (s = 0; 1.step(N, 3) { |x| s += x }; 0.5.step(N, 1.5) { |x| s += x }; s)
def form_each_with_index = (s = 0; (1..N).to_a.each_with_index { |x, i| s += x * i }; s)
def form_each_with_object = (1..N).to_a.each_with_object([]) { |x, a| a << x if x > 50 }
def form_range_each = (s = 0; (1..N).each { |x| s += x }; s)
def form_hash_each = (s = 0; Array.new(N) { |i| [i, i] }.to_h.each { |k, v| s += k * v }; s)
def form_inject = (1..N).inject { |a, b| a ^ b + 1 }
def form_for = (s = 0; for i in 1..N do s += i end; [s, i])
def form_for_array = (s = 0; for i, j in Array.new(N) { |k| [k, 2] } do s += i * j end; [s, i, j])
def form_each_slice = (s = 0; (1..N).each_slice(7) { |a| s += a.first * a.size }; s)
def form_two_methods_one_block = (s = 0; b = proc { |x| s += x.to_i }; 40.times(&b); (1..40).to_a.each(&b); s)

def yielder(n) = (i = 0; while i < n; yield i; i += 1; end; i)
def form_user_yield = (s = 0; r = yielder(N) { |x| s += x }; [r, s])
def form_user_yield_two = (s = 0; 3.times { yielder(N) { |x| s += x }; yielder(N) { |x| s -= x * 2 } }; s)
def passer(n, &b) = n.times(&b)
def form_passed_on = (s = 0; passer(N) { |x| s += x }; s)
def caller_of(n, &b) = (i = 0; (b.call(i); i += 1) while i < n)
def form_block_call = (s = 0; caller_of(N) { |x| s += x }; s)
def forwards(...) = yielder(...)
def form_forwarded = (s = 0; forwards(N) { |x| s += x }; s)
def anonymous(n, &) = n.times(&)
def form_anonymous_block = (s = 0; anonymous(N) { |x| s += x }; s)
def optional_start(a = 5, b = a + 1, *r, k: b) = (s = 0; i = 0; while i < N; s += a + b + k; i += 1; end; s)
def form_optional_arguments = [optional_start, optional_start(1), optional_start(1, 2, 3, k: 4)]

def form_many_types
  x = 0
  s = []
  i = 0
  while i < N
    x = [1, 2.5, "s", :s, nil, [1], 3**70][i % 7]
    s << x.class.name.size
    i += 1
  end
  s.sum
end

def form_overflow = (i = 2**62 - 30; j = 0; (i += 1; j += 1) while j < N; i)
def form_float = (x = 0.0; x += 0.25 while x < N; x)
def form_many_locals
  a = b = c = d = e = f = g = h = 1
  i = 0
  while i < N
    a, b, c, d, e, f, g, h = b, c, d, e, f, g, h, (a + h) % 1000
    i += 1
  end
  [a, b, c, d, e, f, g, h]
end

private_methods.grep(/\Aform_/).sort.each { |form| show(form) { send(form) } }

# ---- ways out

def out_break = (i = 0; (i += 1; break i if i == 50) while true)
def out_break_block = N.times { |i| break i * 3 if i == 50 }
def out_break_nested = (a = []; N.times { |i| (0..N).each { |j| break if j > i; a << j } }; a.sum)
def out_break_each = (1..N).to_a.each { |x| break x if x == 55 }
def out_next = (s = i = 0; while i < N; i += 1; next if i.odd?; s += i; end; s)
def out_next_block = (1..N).to_a.map { |x| next 0 if x.odd?; x }.sum
def out_redo = (n = 0; N.times { |i| n += 1; redo if n % 7 == 0 }; n)
def out_redo_while = (n = i = 0; while i < N; n += 1; redo if n % 5 == 0; i += 1; end; n)

def out_retry
  t = 0
  begin
    t += 1
    i = 0
    while i < N
      i += 1
      raise "r" if i == 40 && t < 4
    end
    [t, i]
  rescue
    retry
  end
end

def out_return_while = (i = 0; while true; i += 1; return i if i == 50; end)
def out_return_block = (N.times { |i| (0..N).each { |j| return [i, j] if i * j == 1000 } }; :none)
def out_return_ensure = (begin; i = 0; while true; i += 1; return i if i == 50; end; ensure; $out = i; end)
def out_throw = catch(:done) { N.times { |i| (1..N).to_a.each { |j| throw :done, [i, j] if i == 40 && j == 41 } } }
def out_raise = (i = 0; begin; while true; i += 1; raise "at #{i}" if i == 50; end; rescue => e; e.message; end)

def out_raise_each
  s = 0
  (1..N).each { |x| begin; raise if x.even?; s += x; rescue; s += 1; ensure; s += 2; end }
  s
end

def out_raise_through = (yielder(N) { |x| raise ArgumentError, "x#{x}" if x == 45 })
def out_raise_c = ((1..N).to_a.each { |x| Integer(x > 50 ? "no" : "1") })

def out_ensure_order
  o = []
  begin
    N.times { |i| begin; raise "e" if i == 50; ensure; o << i if i > 47; end }
  rescue
    o << :rescued
  end
  o
end

def out_stack_overflow = (i = 0; begin; while true; i += 1; deep(0) if i == 50; end; rescue SystemStackError; i; end)
def deep(n) = n.then { deep(n + 1) }

def out_type_error
  i = 0
  a = 0
  begin
    while true
      a += (i == 50 ? nil : 1)
      i += 1
    end
  rescue TypeError => e
    [i, a]
  end
end

def out_backtrace
  i = 0
  begin
    while true
      i += 1
      raise "x" if i == 50
    end
  rescue => e
    e.backtrace_locations[0].lineno - __LINE__
  end
end

def out_backtrace_block
  begin
    N.times { |i| raise "x" if i == 50 }
  rescue => e
    e.backtrace.size - caller.size
  end
end

def out_throw_lambda = (l = lambda { |n| n.times { |i| return i if i == 50 }; -1 }; [l.(N), l.(9)])
def out_proc_return = (pr = proc { |n| n.times { |i| return [:from_method, i] if i == 50 } }; pr.call(N); :after)
def out_define_method = (self.class.send(:define_method, :dm) { |n| i = 0; i += 1 while i < n; i }; [dm(N), dm(3)])

def out_define_method_return
  self.class.send(:define_method, :dr) { |n| n.times { |i| return i if i == 50 }; :no }
  [dr(N), dr(3)]
end

private_methods.grep(/\Aout_/).sort.each { |form| show(form) { send(form) } }

# ---- places

i = 0
i += 1 while i < N
show("main") { i }
t = 0
N.times { |x| t += x }
show("main times") { t }
class Body
  x = 0
  x += 1 while x < N
  TOTAL = x
  ALSO = [(y = 0; N.times { |z| y += z }; y), 2]
  class << self
    w = 0
    w += 2 while w < N
    define_method(:w) { w }
  end
end
show("class body") { [Body::TOTAL, Body::ALSO, Body.w] }
show("block") { [1].map { |k| (k += 1 while k < N); k } }
show("lambda") { ->(k) { k += 1 while k < N; k }.(0) }
show("eval") { eval("k = 0; k += 1 while k < N; k") }
show("instance_eval") { Object.new.instance_eval { @a = 0; @a += 1 while @a < N; @a } }
show("class_eval string") { Class.new.class_eval("k = 0; k += 1 while k < N; k") }
show("ensure") do
  r = nil
  begin
    raise "x"
  rescue
    k = 0
    k += 1 while k < N
    r = k
  ensure
    k -= 1 while k > 7
    r = [r, k]
  end
  r
end
show("fiber") do
  f = Fiber.new { k = 0; while k < N; Fiber.yield k if k % 20 == 19; k += 1; end; k }
  4.times.map { f.resume }
end
show("enumerator") { e = Enumerator.new { |y| k = 0; (y << k; k += 1) while k < N }; N.times.sum { e.next } }
show("thread") { Array.new(3) { |n| Thread.new { k = 0; k += n + 1 while k < N; k } }.map(&:value) }
show("ractor") do
  ractors = Array.new(3) do |n|
    Ractor.new(n) { |m| k = s = 0; (s += k * m; k += 1) while k < 500; 500.times { |z| s += z }; s }
  end
  ractors.map(&:take)
end
show("ractor each") { Ractor.new((1..N).to_a) { |a| s = 0; a.each { |x| s += x }; a.map { |x| x * 2 }.sum + s }.take }
show("BEGIN/END") { at_exit { k = 0; k += 1 while k < N; puts k }; nil }
show("method_missing") do
  o = Object.new
  def o.method_missing(m, *a) = (k = 0; k += a[0] while k < N; [m, k])
  o.foo(2)
end
show("initialize") { Class.new { attr_reader :k; def initialize = (@k = 0; @k += 1 while @k < N) }.new.k }
show("refinement") do
  m = Module.new { refine(Integer) { def looped = (k = 0; k += self while k < N; k) } }
  Module.new { using m; R = 7.looped } && R
end
show("super") do
  a = Class.new { def f(n) = n + 1 }
  Class.new(a) { def f(n) = (k = 0; k = super(k) while k < n; k) }.new.f(N)
end

# ---- variables that escape, change, or come in while the loop runs

def environment_before = (k = 0; b = binding; k += 1 while k < N; [k, b.local_variable_get(:k)])

def environment_during
  k = 0
  b = nil
  while k < N
    b = binding if k == 20
    k += 1
  end
  [k, b.local_variable_get(:k)]
end

def environment_set
  k = 0
  b = binding
  n = 0
  while k < N
    n += 1
    b.local_variable_set(:k, 40) if k == 30
    k += 1
  end
  [k, n]
end

def environment_set_type
  k = 0
  v = 1
  b = binding
  s = []
  while k < N
    b.local_variable_set(:v, "str") if k == 30
    s << v.class
    k += 1
  end
  s.tally
end

def environment_set_in_eval
  k = v = 0
  b = binding
  while k < N
    eval("v = v.to_s + 'x' if k == 30; k += 1", b)
  end
  v
end

def environment_eval_adds
  k = 0
  b = binding
  while k < N
    eval("q#{k} = k; k += 1; q#{k} = 2", b)
  end
  [k, b.local_variables.size]
end

def environment_proc = (k = 0; ps = []; while k < N; ps << proc { k }; k += 1; end; ps.map(&:call).uniq)

def environment_block_locals
  ps = []
  N.times { |i| j = i * 2; ps << -> { j += 1 } }
  ps.sum(&:call) + ps.sum(&:call)
end

def environment_block_changes
  k = 0
  bump = -> { k += 3 }
  n = 0
  while k < N
    bump.()
    n += 1
    k = k.to_s.to_i
  end
  [k, n]
end

def environment_block_type
  v = 0
  set = ->(x) { v = x }
  r = []
  N.times { |i| set.(i.even? ? i : i.to_s); r << v.class }
  r.tally
end

def environment_other_thread
  v = k = 0
  t = Thread.new { Thread.pass until k > 10; v = :set }
  while v == 0
    k += 1
  end
  t.join
  v
end

def environment_thread_binding
  v = k = 0
  b = binding
  t = Thread.new { Thread.pass until k > 10; b.local_variable_set(:v, "x") }
  while v == 0
    k += 1
  end
  t.join
  v
end

private_methods.grep(/\Aenvironment_/).sort.each { |form| show(form) { send(form) } }

# ---- what others do to a running loop

def redefining(n) = (k = s = 0; while k < n; s += step_of(k); eval("def step_of(x) = x + 1") if k == 30; k += 1; end; s)
def step_of(x) = x
show("method redefined") { redefining(N) }
def constant_changes = (k = s = 0; while k < N; s += STEP; Object.const_set(:STEP, 10) if k == 30; k += 1; end; s)
STEP = 1
show("constant set again") { constant_changes }

def operator_changes
  k = 0
  s = []
  while k < N
    if k == 30
      Array.class_eval { alias_method(:old_size, :size); def size = old_size + 100 }
    end
    s << [1].size
    k += 1
  end
  s
end

show("operator redefined") { r = operator_changes; Array.class_eval { alias_method :size, :old_size }; r.tally }

def singleton_appears
  o = "x"
  k = 0
  r = []
  while k < N
    def o.upcase = "mine" if k == 30
    r << o.upcase
    k += 1
  end
  r.tally
end

show("singleton method") { singleton_appears }

def shape_changes
  k = 0
  while k < N
    @iv = k
    remove_instance_variable(:@iv) if k == 30
    instance_variable_set(:"@v#{k}", 1)
    k += 1
  end
  @iv
end

show("shapes") { Object.new.instance_eval { o = self; m = Object.instance_method(:shape_changes); m.bind_call(o) } }

def killed(how)
  q = Queue.new
  t = Thread.new do
    q << 1
    k = 0
    case how
    when :while then k += 1 while true
    when :times then (1 << 60).times { |x| k = x }
    when :loop then loop { k += 1 }
    end
  end
  q.pop
  t.kill
  t.join(20) ? :dead : :alive
end

show("Thread#kill") { %i[while times loop].map { |how| killed(how) } }
show("Thread#raise") do
  t = Thread.new { Thread.current.report_on_exception = false; k = 0; k += 1 while true }
  sleep 0.02
  t.raise(ArgumentError, "stop")
  begin
    t.value
  rescue => e
    e.message
  end
end
show("time slices") do
  done = false
  t = Thread.new { k = 0; k += 1 until done; :seen }
  sleep 0.02
  done = true
  t.value
end
show("signal") do
  got = nil
  old = trap(:USR1) { got = 1 }
  Process.kill(:USR1, $$)
  k = 0
  k += 1 until got
  trap(:USR1, old)
  got
end
show("signal raises") do
  trap(:USR2) { raise "signal" }
  begin
    Thread.new { sleep 0.02; Process.kill(:USR2, $$) }
    k = 0
    k += 1 while true
  rescue => e
    e.message
  ensure
    trap(:USR2, "DEFAULT")
  end
end
show("GC") do
  k = 0
  s = 0
  while k < 3000
    a = Array.new(50) { |z| z.to_s }
    s += a.size
    GC.start if k % 1000 == 999
    k += 1
  end
  s
end
show("compaction") do
  k = 0
  s = []
  while k < N
    s << "x#{k}"
    GC.compact if k == 30 && GC.respond_to?(:compact)
    k += 1
  end
  s.join.size
end
show("ractor barrier") do
  r = Array.new(2) { Ractor.new { k = 0; k += 1 while k < 300_000; k } }
  20.times { GC.start }
  r.map(&:take)
end

def traced(*events)
  seen = Hash.new(0)
  trace = TracePoint.new(*events) { |tp| seen[tp.event] += 1 if tp.method_id != :each && tp.path == __FILE__ }
  k = s = 0
  while k < N
    trace.enable if k == 30
    s += k.succ
    [k].each { |z| s += z }
    trace.disable if k == 40
    k += 1
  end
  [s, seen]
end
show("TracePoint line") { traced(:line) }
show("TracePoint calls") { traced(:c_call, :c_return, :b_call, :b_return) }
show("TracePoint target") do
  l = []
  m = ->(n) { k = 0; while k < n; k += 1; end; k }
  TracePoint.new(:line) { |tp| l << 1 }.enable(target: m) { m.(N) }
  [l.size, m.(N)]
end
def line_after = (k = 0; k += 1 while k < N; line_traced(N))
def line_traced(n)
  k = 0
  while k < n
    k += 1
  end
  k
end
show("TracePoint line, compiled before") do
  line_traced(N)
  l = Hash.new(0)
  TracePoint.new(:line) { |tp| l[tp.lineno - __LINE__] += 1 if tp.method_id == :line_traced }.enable { line_traced(10) }
  l
end
show("set_trace_func") do
  n = 0
  set_trace_func(->(e, *) { n += 1 if e == "line" })
  k = 0
  while k < 20
    k += 1
  end
  set_trace_func(nil)
  n > 20
end
