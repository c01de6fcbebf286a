[EDGE_ARY & [1, 2, "a"], EDGE_ARY | [9, 1], EDGE_ARY - [1], EDGE_ARY + [1]]
[[1, 2] * 2, [1, 2] * ","]
([1] << 2 << [3]) + []
[[1, 2] <=> [1, 3], [1] <=> [1, 2], [1] <=> 1, EDGE_ARY == EDGE_ARY, EDGE_ARY.eql?(EDGE_ARY)]
[EDGE_ARY[0], EDGE_ARY[-1], EDGE_ARY[1, 2], EDGE_ARY[1..], EDGE_ARY[EDGE_SMALL], (0..9).to_a[(1..).step(3)], EDGE_ARY.slice(0, 1)]
a = [1, 2, 3]; a[5] = 6; a[0, 2] = [7]; a[-1..] = [8, 9]; a
a = EDGE_ARY.dup; a[EDGE_SMALL] = :x; a.size
[EDGE_ARY.all?, EDGE_ARY.any?, EDGE_ARY.none?, EDGE_ARY.one?, [1, 2].all?(Integer), [nil, 1].any?(1), [1].none?(2), [1, 2].one? { _1 > 1 }]
[1].append(2, 3).prepend(0).push(4).unshift(-1)
[[[1, :a], [2, :b]].assoc(2), [[1, :a], [2, :b]].rassoc(:b), [1].assoc(3)]
[EDGE_ARY.at(0), EDGE_ARY.at(-2), EDGE_ARY.dig(0), [[1, [2]]].dig(0, 1, 0)]
[[1, 3, 5].bsearch { _1 >= 3 }, [1, 3, 5].bsearch_index { _1 >= 4 }, (1..1000).to_a.bsearch { 500 <=> _1 }]
[1, 2].clear
[EDGE_ARY.collect { _1.to_s }, EDGE_ARY.map(&:inspect), EDGE_ARY.map.with_index { |_, i| i }]
a = [1, 2]; [a.collect! { _1 + 1 }, a.map! { _1 * 2 }]
[EDGE_ARY.first(4).combination(2).to_a, [1, 2, 3].permutation(2).to_a, [1, 2].repeated_combination(2).to_a, [1, 2].repeated_permutation(2).to_a, [1, 2].product([3, 4]), (1..5).to_a.permutation.count]
[[1, nil].compact, [1].compact!, [nil, 1].compact!]
[1].concat([2], [3, 4])
[EDGE_ARY.count, [1, 1, 2].count(1), [1, 2].count(&:even?)]
r = []; [1, 2].cycle(2) { r << _1 }; [r, [1, 2].cycle.first(5)]
case [1, [2, 3]]; in [a, [b, *c]] then [a, b, c] end
[[1, [2]].deconstruct, [1].to_ary]
a = [1, 2, 3, 2]; [a.delete(2), a.delete(9) { :no }, a.delete_at(0), a.delete_at(9), a]
a = (1..6).to_a; [a.delete_if(&:even?), a.reject! { _1 > 9 }, a.keep_if { _1 < 5 }, a.select!(&:odd?), a.filter! { true }, a]
[[1, 2, 3].difference([2], [3]), [1, 2].intersection([2]), [1].union([2], [1]), [1].intersect?([1])]
[EDGE_ARY.drop(2), EDGE_ARY.take(2), [1, 2, 3].drop_while { _1 < 2 }, [1, 2, 3].take_while { _1 < 2 }]
r = []; EDGE_ARY.each { r << _1 }; EDGE_ARY.each_index { r << _1 }; EDGE_ARY.reverse_each { r << _1 }; r.size
[EDGE_ARY.empty?, EDGE_ARY.length, EDGE_ARY.size, EDGE_ARY.hash == EDGE_ARY.hash, EDGE_ARY.include?(1)]
[[1].fetch(0), ([1].fetch(9) rescue $!.message), [1].fetch(9, :d), [1].fetch(9) { _1 }, [1, 2].fetch_values(0, -1), ([1].fetch_values(5) rescue $!.message)]
[[1, 2, 3].fill(0), [1, 2, 3].fill(0, 1), [1, 2, 3].fill(0, 1, 1), [1, 2].fill { _1 * 10 }, [1, 2].fill(9, 0..0)]
[EDGE_ARY.select { _1 == 1 }, EDGE_ARY.filter(&:nil?), EDGE_ARY.reject(&:nil?)]
[[1, 2].find_index(2), [1, 2].index { _1 > 1 }, [1, 2, 1].rindex(1), [1, 2].rindex { _1 < 2 }]
[EDGE_ARY.first, EDGE_ARY.last, EDGE_ARY.first(2), EDGE_ARY.last(2)]
[[1, [2, [3, [4]]]].flatten, [1, [2, [3]]].flatten(1), [[1]].flatten!, [1].flatten!, (a = [1]; a << a; (a.flatten rescue $!.message))]
[1].freeze.frozen? && ([1].freeze << 2 rescue $!.message)
[1, 2].insert(1, :x, :y).insert(-2, :z)
[EDGE_ARY.inspect, EDGE_ARY.to_s, (a = []; a << a; a.inspect)]
[EDGE_ARY.join, EDGE_ARY.join(","), [1, [2, [3]]].join("-"), [].join.encoding]
[[3, 1, 2].max, [3, 1, 2].min, [3, 1, 2].minmax, [3, 1, 2].max(2), %w[aa b].min { |x, y| x.size <=> y.size }, %w[aa b].max { |x, y| x.size <=> y.size }, [].max, [1.5, 2r, 1].max, %w[b a].minmax, [0.5, 0.25].min, %w[a c].max]
[[1, 2].pack("C*"), [1].pack("N"), ["abc"].pack("m"), ["abc", "de"].pack("A5A2"), [1.5].pack("g"), [97, 0x3042].pack("U*"), ["616"].pack("H*"), [300].pack("w"), [1, -1].pack("q>s<"), ["a b"].pack("M"), [1].pack("x2C@6")]
[1, 2].pack("CC", buffer: +"ab")
a = [1, 2, 3]; [a.pop, a.pop(1), a.shift, a.shift(3), a]
a = [1]; a.replace([2, 3]); a
a = EDGE_ARY.dup; [a.reverse, a.reverse!, a.rotate, a.rotate(-1), a.rotate!(2)].last.size
[EDGE_ARY.sample.class.nil?, [1].sample, [1].shuffle, [1].shuffle!, [].sample, [1, 2].sample(9).sort]
a = (1..9).to_a; [a.slice!(1, 2), a.slice!(0), a.slice!(-2..), a.slice!(50), a]
[EDGE_ARY.map(&:to_s).sort, [3, 1, 2].sort { |a, b| b <=> a }, %w[bb a].sort_by(&:size), [2, 1].sort!, [2, 1].sort_by! { -_1 }, ([1, "a"].sort rescue $!.message)]
(1..500).map { |i| i * 7919 % 503 }.sort.first(5)
[[1, 2].sum, [0.1] * 3, [0.1, 0.2].sum, [1, 2r].sum, ["a", "b"].sum(""), [1, 2].sum { _1 * 2 }, [2**62, 2**62].sum, [1, 1i].sum]
[EDGE_ARY.to_a.equal?(nil), EDGE_ARY.to_ary.size, [[1, 2]].to_h, [1, 2].to_h { [_1, _1 * 2] }, ([1].to_h rescue $!.message)]
[[[1, 2], [3, 4]].transpose, ([[1], [2, 3]].transpose rescue $!.message)]
[EDGE_ARY.uniq, [1, 1.0, 1r].uniq, %w[a A].uniq(&:downcase), [1, 1].uniq!, [1].uniq!]
[[1, 2, 3].values_at(0, 2, -1, 9, 0..1), [1, 2].zip([3, 4], [5]), (r = []; [1].zip([2]) { r << _1 }; r)]
[Array.new(2), Array.new(2, 0), Array.new(2) { _1 }, Array[1, 2], Array.try_convert([1]), Array.try_convert(1), (Array.new(-1) rescue $!.message)]
[Array(nil), Array([1]), Array(1..2), Array(a: 1)]
Array.new(100) { |i| i.to_s }.each_slice(7).map(&:join).join(" ")
a, (b, *c), d = 1, [2, 3, 4], 5; [a, b, c, d]
a = [1, 2, 3, 4]; a.each { |x| a.delete(x) if x == 2 }; a
[*1..3, *[4], *nil]
a = []; 300.times { a.push(_1); a.shift if _1 % 3 == 0 }; a.size
a = (1..40).to_a; b = a[5..30]; a.clear; b.sum
a = Array.new(20) { Array.new(20) { |j| j } }; a.flatten.sum + a.transpose.first.sum
[[2, "b"], [1, "a"]].sort.to_h.min_by { |k, v| v }
[1, 2, 3, 4].each_slice(2).to_a + [1, 2, 3].each_cons(2).to_a
EDGE_ARY.first(5).permutation(3).to_a.size
EDGE_ARY.inspect.size
(1..10).to_a.freeze.map { _1 * 2 }.frozen?
EDGE_ARY.pack("U*") rescue $!.class
[0.1, 0.2, 0.3, 1r, 2].sum
[3, 5].minmax_by { -_1 }
