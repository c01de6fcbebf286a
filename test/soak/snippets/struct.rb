s = Struct.new(:a, :b); x = s.new(1, 2); [x == s.new(1, 2), x[0], x[:b], (x[1] = 5), x["a"], x.a, (x.a = 9), x.to_a, x.deconstruct, x.deconstruct_keys([:a]), x.to_h, x.to_h { |k, v| [k.to_s, v] }, x.inspect, x.to_s]
s = Struct.new(:a, :b); x = s.new(1, [2]); [x.dig(:b, 0), x.each.to_a, x.each_pair.to_a, x.eql?(x.dup), x.hash == x.dup.hash, x.filter(&:itself), x.select { true }, x.length, x.size, x.members, x.values, x.values_at(0, 1), s.members, s.keyword_init?]
s = Struct.new(:a, :b, keyword_init: true); [s.new(a: 1).to_h, (s.new(1) rescue $!.message), (s.new(c: 1) rescue $!.message), s.inspect.class, s.keyword_init?]
s = Struct.new(:a) { def double = a * 2; include Comparable; def <=>(o) = a <=> o.a }; [s.new(2).double, s.new(1) < s.new(2), s.new(3).clamp(s.new(1), s.new(2)).a, [s.new(2), s.new(1)].min.a]
s = Struct.new(*("a".."z").map(&:to_sym)); s.new(*1..26).sum
s = Struct.new(:a); x = s.new(1).freeze; raised { x.a = 2 }.message.sub(/#<.*/, "")
(Struct.new(:a).new(1, 2) rescue $!.message)
s = Struct.new(:a, :b); case s.new(1, 2); in [a, b] then [a, b] end
s = Struct.new(:a, :b); case s.new(1, 2); in { a:, b: Integer => b } then [a, b] end
d = Data.define(:x, :y); p1 = d.new(1, 2); [p1 == d.new(x: 1, y: 2), p1.eql?(d.new(1, 2)), p1.hash == d.new(1, 2).hash, p1.inspect, p1.to_s, p1.to_h, p1.members, d.members, p1.with(y: 5), p1.deconstruct_keys([:x]),  p1.frozen?, (p1.instance_variable_set(:@a, 1) rescue $!.class)]
d = Data.define(:x) { def +(o) = with(x: x + o.x) }; (d.new(1) + d.new(2)).x
d = Data.define; [d.new.inspect, d.members, (d.new(1) rescue $!.message)]
d = Data.define(:a); [(d.new rescue $!.message), (d.new(a: 1, b: 2) rescue $!.message), d[5].a]
d = Data.define(:a); case d.new(3); in { a: } then a end
class << (c = Object.new); include Comparable; def <=>(o) = 0; end; [c == c, c < c, c <= c, c > c, c >= c, c.between?(c, c), c.clamp(c, c).equal?(c), c == 1]
(Object.new.extend(Comparable) < 1 rescue $!.message.sub(/#<.*?>/, ""))
s = Struct.new(:a); Marshal.dump(s.new(1)) rescue $!.message.sub(/#<.*?>/, "")
t = Process.times; [t.utime.class, t.stime.class, t.cutime.class, t.cstime.class, (t.utime = 1), (t.stime = 1), (t.cutime = 1), (t.cstime = 1), t.class.members, Process::Tms.new(1, 2, 3, 4).inspect, Process::Tms.keyword_init?, Process::Tms[1].utime, Process::Tms.inspect]
s = Struct.new(:a, :b, :c, :d); x = s.new(1); x.d = 2; x.b = 3; x.each_pair.map { |k, v| [k, v] }
s = Struct.new("SoakNamed", :a); [s.new(1).a, s.name.start_with?("Struct::SoakNamed")]
s = Struct.new(:a); 20.times.map { |i| s.new(i) }.map(&:a).sum
