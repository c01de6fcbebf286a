[(1..10) % 3, ((1..10) % 3).to_a, (1..10).step(4).to_a, (1.0..2.0).step(0.5).to_a, ("a".."e").step(2).to_a]
[(1..2) == (1..2), (1..2).eql?(1...3), (1..5) === 3, ("a".."z") === "c", (1..2).hash == (1..2).hash]
[(1..3).begin, (1..3).end, (1..3).first, (1..3).first(2), (1..3).last, (1..3).last(2), (1..3).min, (1..3).max, (1...3).max, (1..3).minmax, (1.5..2.5).min]
[(1..100).bsearch { _1 >= 42 }, (0.0..10.0).bsearch { _1 >= 2.5 }, (1..).bsearch { _1 > 1000 }]
[(1..10).count, (1..).count, (1..10).count(&:even?), (1..10).size, (1..).size, (0.5..3).size] rescue $!.message
[(1..10).cover?(2..3), (1..10).include?(5), (1..10).member?(11), ("a".."z").include?("bb"), ("a".."z").cover?("bb")]
r = []; (1..3).each { r << _1 }; ("a".."c").each { r << _1 }; (1..).each { |i| break if i > 3; r << i }; r
[(1..3).entries, (1..3).to_a, ("y".."ab").to_a, (:a..:d).to_a, ((1..).to_a rescue $!.message), ((1.5..2).to_a rescue $!.message)]
[(1..3).exclude_end?, (1...3).exclude_end?, (1..3).inspect, ("a".."b").inspect, (1..nil).inspect, (nil..1).to_s]
[(1..5).overlap?(5..6), (1...5).overlap?(5..6), (1..5).overlap?(0..)]
[(1..5).reverse_each.first(2), (1..3).reverse_each.to_a, (..5).reverse_each.first(2), (2**64..2**64 + 2).reverse_each.to_a]
[(1..10).sum, (1..10).inject(:*), (1..10).reduce(1) { _1 * _2 }, (2**63..2**63 + 3).sum]
[Range.new(1, 2), Range.new(1, 2, true), (Range.new(1, "a") rescue $!.message), (1..2).frozen?, (1..3).to_s]
[1..2, (1..).first(3), ((..1).first rescue $!.message), (1..10).each_slice(3).to_a, (1..4).each_cons(2).to_a]
(2**62 - 2..2**62 + 2).to_a
("08".."11").to_a + ("a9".."b1").to_a
(1..3).flat_map { [_1] * _1 }
(1..20).step(5).map { _1 } + 1.step(20, 5).to_a
case 5 when 1..3 then :low when 4.. then :high end
((1..10) % 3).then { |s| [s.begin, s.end, s.step, s.exclude_end?, s.first, s.first(2), s.last, s.last(2), s.size, s.inspect, s.hash == ((1..10) % 3).hash, s == ((1..10) % 3), s === ((1..10) % 3), s.eql?(1.step(10, 3))] }
r = []; ((1..10) % 3).each { r << _1 }; 1.step(by: -2, to: -5).each { r << _1 }; r
1.0.step(3.0, 0.5).then { |s| [s.to_a, s.size, s.last, s.class] }
(1.step(by: 2)).lazy.map { _1 * 2 }.first(3)
if (true)..(false) then 1 end
(1..3).each_entry.to_a
(Time.at(0)..Time.at(5)).cover?(Time.at(3))
