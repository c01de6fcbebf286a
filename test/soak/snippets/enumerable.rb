class << (e = Object.new); include Enumerable; def each = (yield 3; yield 1; yield 2; yield nil; self); end; [e.all?, e.any?, e.none?, e.one?, e.count, e.entries, e.first, e.first(2), e.to_a, e.include?(1), e.member?(9)]
e = Struct.new(:a, :b, :c).new(3, 1, 2); [e.min, e.max, e.minmax, e.sort, e.sort_by { -_1 }, e.sum, e.inject(:+), e.reduce { _1 * _2 }, e.min_by { -_1 }, e.max_by { -_1 }, e.minmax_by { -_1 }, e.min(2), e.max(2)]
e = Struct.new(:a, :b, :c).new(3, 1, 2); [e.map { _1 + 1 }, e.collect(&:to_s), e.flat_map { [_1, _1] }, e.collect_concat { [_1] }, e.filter_map { _1 * 2 if _1 > 1 }, e.find { _1 < 3 }, e.detect { _1 > 5 }, e.find_all { _1 > 1 }, e.find_index(2), e.reject { _1 > 1 }, e.partition { _1 > 1 }, e.each_entry.to_a, e.compact]
e = Struct.new(:a, :b, :c).new(3, 1, 2); [e.group_by(&:odd?), e.tally, e.uniq, e.zip([4, 5, 6]), e.each_slice(2).to_a, e.each_cons(2).to_a, e.each_with_index.to_a, e.each_with_object([]).to_a, e.each_with_object([]) { |x, m| m << x }, e.drop(1), e.drop_while { _1 > 2 }, e.take(2), e.take_while { _1 > 2 }, e.reverse_each.to_a, e.cycle.first(4), e.to_set.size, e.lazy.class]
[%w[a1 b c2].grep(/\d/), %w[a1 b].grep(/(\d)/) { $1 }, %w[a1 b].grep_v(/\d/), [1, "a"].grep(String), (1..9).grep(2..3)]
[(1..7).chunk(&:even?).to_a, [1, 2, 4, 5].chunk_while { _2 == _1 + 1 }.to_a, [1, 2, 4, 5].slice_when { _2 > _1 + 1 }.to_a, (1..6).slice_before { _1 % 3 == 0 }.to_a, (1..6).slice_after(3).to_a]
[1, 2].chain([3], 4..5).then { |c| [c.to_a, c.size, c.inspect, c.each { }.class, c.rewind.class, (c + [6]).to_a, ([1].each + [2]).to_a, c.to_enum.next, c.lazy.force] }
[[1, 1, 2].tally, [:a].tally({ a: 1 }), %w[a b].each_with_index.to_h, { a: 1 }.each_with_index.to_a, (1..3).each_entry.map { _1 }]
[(1..3).inject(:+), (1..3).inject(10) { _1 * _2 }, (1..3).inject(2, :*), [].inject(:+), (1..3).reduce(1, :+), %w[a b].inject { "#{_1}#{_2}" }]
[(1..4).min_by { |x| (x - 3).abs }, (1..4).max_by(2) { -_1 }, %w[aa b].minmax_by(&:size), [3, 1].each_entry.sort, (1..6).each_slice(4).map(&:sum)]
[(1..3).zip(4..6), (1..3).to_set.inspect, (1..3).sum(0.0), (1..3).each_cons(2).size, [[1, 2], [3]].sum([])]
[(1..3).lazy.eager.class, (1..3).include?(2), [4, 5].each_with_index.max, (1..3).first, (1..9).partition(&:odd?), (1..3).cycle(2).to_a, (1..3).reject(&:odd?)]
(1..Float::INFINITY).lazy.map { _1 * 2 }.select { _1 % 3 == 0 }.reject(&:odd?).first(3)
(1..20).lazy.then { |l| [l.chunk_while { _2 % 5 != 0 }.first(2), l.slice_when { _2 % 4 == 0 }.first(1), l.slice_before { _1 % 7 == 0 }.first(1), l.slice_after { _1 % 7 == 0 }.first(1), l.collect { _1 + 1 }.first(2), l.collect_concat { [_1, 0] }.first(3), l.flat_map { [_1, _1] }.first(3), l.compact.first(1), l.chunk(&:even?).first(2)] }
(1..20).lazy.then { |l| [l.drop(3).first(2), l.drop_while { _1 < 5 }.first(2), l.take(2).to_a, l.take_while { _1 < 3 }.force, l.filter(&:even?).first(2), l.filter_map { _1 * 2 if _1.odd? }.first(2), l.find_all(&:odd?).first(1), l.grep(2..4).to_a, l.grep_v(2..19).to_a, l.uniq { _1 % 3 }.to_a, l.zip(5..9).first(2), l.with_index.first(2), l.with_index(1).map { |x, i| x * i }.first(3), l.tally.size, l.lazy.class, l.eager.class, l.to_enum(:each_slice, 2).first(2), l.enum_for(:each_cons, 2).first(1), l.inspect, l.map { }.inspect] }
[[1, 2, 3].each_with_object({}).with_index { |(x, h), i| h[x] = i }, %w[x y].each.with_index(1).to_a, %w[x y].each.with_object([]).to_a, %w[x].each_with_index.with_object(1).to_a]
e = [1, 2, 3].each; [e.next, e.peek, e.next, e.next, (e.next rescue $!.message), e.rewind.class, e.next, e.size, e.inspect]
e = Enumerator.new { |y| y << 1 << 2; y.yield 3, 4; y.yield; :done }; [e.next_values, e.peek_values, e.next, e.next, e.next_values, (e.next rescue $!.result)]
e = Enumerator.new(3) { |y| [1, 2].each(&y) }; [e.to_a, e.size, e.next, e.each_slice(1).to_a, e.with_index.to_a, e.each_with_index.to_a, e.each_with_object(:x).to_a, e.with_object(:z).to_a, (e + [9]).to_a, e.each { }.class]
o = Object.new; def o.each = [yield, yield]; e = o.to_enum; [e.next, (e.feed :a), e.next, (e.feed :b), (e.next rescue $!.result)]
e = Enumerator.produce(1) { |x| x * 2 }; [e.take(5), e.lazy.select(&:even?).first(2), e.size, Enumerator.produce([0, 1]) { |a, b| [b, a + b] }.first(5), Enumerator.produce(3) { raise StopIteration if _1 == 0; _1 - 1 }.to_a]
[Enumerator.product([1, 2], [3]).to_a, Enumerator::Product.new([1, 2], 3..4).then { |x| [x.size, x.each { }.class, x.rewind.class, x.inspect, x.to_a] }, Enumerator::Chain.new([1], [2]).to_a]
[Enumerator::Lazy.new([1, 2]) { |y, x| y << x * 2 }.to_a, Enumerator::Yielder.instance_methods(false).sort]
g = Enumerator.new { |y| 3.times { |i| y << i } }; g.next; f = Enumerator.new { |y| loop { y << g.next } }; [f.next, f.next, (f.next rescue :end)]
loop { [].each.next }
Array.new(5) { |i| Enumerator.new { |y| 3.times { y << i } }.tap(&:next).next }
e = "abc".each_char; [e.next, e.next, e.next, (begin; e.next; rescue StopIteration; :stop; end)]
[1, 2, 3].each_entry.to_a + { a: 1 }.each_entry.to_a
[4, 5].each.with_index(10).map { |x, i| x * i }
[1, 2].each_entry.filter(&:even?) + Struct.new(:a).new(4).each_entry.filter { true } + (1..3).lazy.map { _1 + 1 }.force
