[{ a: 1 } < { a: 1, b: 2 }, { a: 1 } <= { a: 1 }, { a: 1 } > {}, { a: 1 } >= { b: 1 }, EDGE_HASH == EDGE_HASH, EDGE_HASH.eql?(EDGE_HASH), EDGE_HASH.hash == EDGE_HASH.hash]
[EDGE_HASH[:a], EDGE_HASH["k"], EDGE_HASH[1], EDGE_HASH[nil]]
h = EDGE_HASH.dup; h[:new] = 1; h["s"] = 2; h.store(EDGE_ANY, 3); h.size
[EDGE_HASH.any?, { a: 1 }.any? { |k, v| v > 1 }, EDGE_HASH.empty?, EDGE_HASH.length, EDGE_HASH.size]
[{ a: 1 }.assoc(:a), { a: 1 }.rassoc(1), { a: 1 }.assoc(:b)]
[{ a: 1 }.clear, { a: nil }.compact, { a: nil, b: 1 }.compact!, { a: 1 }.compact!]
h = {}.compare_by_identity; h["a".dup] = 1; h["a".dup] = 2; [h.size, h.compare_by_identity?, h.inspect]
case { a: 1, b: { c: 2 } }; in { a:, b: { c: } } then [a, c] end
(case { a: 1 }; in { b: }; b; end) rescue $!.message
[{ a: 1 }.deconstruct_keys([:a])]
h = Hash.new(5); [h[:x], h.default, h.default(1), (h.default = 6), h[:y], h.default_proc]
h = Hash.new { |hash, k| hash[k] = k.to_s * 2 }; [h[:a], h, h.default_proc.class, (h.default_proc = nil), h[:z]]
h = { a: 1, b: 2, c: 3 }; [h.delete(:a), h.delete(:z) { 0 }, h.delete_if { |k, v| v == 2 }, h.reject! { false }, h.keep_if { true }, h.select! { true }, h.filter! { |k, v| v > 5 }]
[{ a: { b: [1, 2] } }.dig(:a, :b, 1), { a: 1 }.fetch(:a), ({ a: 1 }.fetch(:b) rescue $!.message), { a: 1 }.fetch(:b, 2), { a: 1 }.fetch(:b) { _1 }, { a: 1, b: 2 }.fetch_values(:a, :b)]
r = []; EDGE_HASH.each { |k, v| r << v }; EDGE_HASH.each_pair { |k, v| r << k }; EDGE_HASH.each_key { r << _1 }; EDGE_HASH.each_value { r << _1 }; r
[{ a: 1, b: 2 }.except(:a), { a: 1 }.slice(:a, :z), EDGE_HASH.select { |k, v| v }, EDGE_HASH.filter { |k, v| k }, EDGE_HASH.reject { |k, v| v.nil? }]
[{ a: [1, 2] }.flatten, { a: [1, [2]] }.flatten(2), { a: 1 }.freeze.frozen?, raised { {}.freeze[:a] = 1 }.message]
[EDGE_HASH.has_key?(:a), EDGE_HASH.has_value?(1), EDGE_HASH.include?(1), EDGE_HASH.member?(2), EDGE_HASH.key?("k"), EDGE_HASH.value?(2), { a: 1 }.key(1)]
[EDGE_HASH.inspect, EDGE_HASH.to_s, { "a b": 1, "c" => 2, nil => 3 }.inspect, (h = {}; h[:h] = h; h.inspect)]
[EDGE_HASH.invert, EDGE_HASH.keys, EDGE_HASH.values, EDGE_HASH.to_a, EDGE_HASH.values_at(:a, 1)]
[{ a: 1 }.merge({ b: 2 }, { a: 3 }), { a: 1 }.merge(a: 2) { |k, o, n| o + n }, { a: 1 }.merge!(b: 2), { a: 1 }.update(a: 5) { |*x| x }]
a = [1]; h = { a => 1 }; a << 2; [h.rehash[a], h]
h = { z: 0 }; h.replace(EDGE_HASH); h.shift; h.size
[{ a: 1 }.sum { |k, v| v }, { a: 1 }.to_h { |k, v| [v, k] }, { a: 1 }.to_hash, { a: 1 }.to_proc.call(:a), %i[a b].map(&{ a: 1 })]
[{ a: 1 }.transform_keys(&:to_s), { a: 1 }.transform_keys({ a: :b }), { a: 1 }.transform_values { _1 + 1 }, { a: 1 }.transform_keys!(&:to_s), { a: 1 }.transform_values!(&:to_s)]
[Hash[[[1, 2]]], Hash[1, 2], Hash.new(capacity: 100).size, Hash.ruby2_keywords_hash?({}), Hash.ruby2_keywords_hash?(Hash.ruby2_keywords_hash({ a: 1 })), Hash.try_convert({ a: 1 }), Hash.try_convert(1), Hash([]), Hash(nil), Hash([[1, 2]])] rescue $!.message
h = {}; 200.times { h[_1] = _1; h.delete(_1 - 3) }; h
h = {}; 100.times { h["k#{_1 % 13}"] = _1 }; h
h = Hash.new(0); "the quick the lazy the".split.each { h[_1] += 1 }; h
h = { a: 1 }; (h.each { h[:b] = 2 } rescue $!.message)
h = { 1 => 1 }; h.each { |k, v| h.delete(k) }; h
(1..100).group_by { _1 % 7 }.transform_values(&:sum)
{ b: 1, a: 2 }.sort.to_h.min_by { |k, v| v }
{ a: 1, **{ b: 2 }, "c": 3 }
{ 1.0 => :f, 1 => :i, 0.0 => :z, -0.0 => :nz, Float::NAN => :n }.size
def kw(a, b = 2, *c, d:, e: 5, **f) = [a, b, c, d, e, f]; kw(1, d: 4, g: 7)
{ "a" => 1 }.then { |h| h["a".dup] += 1; h.keys[0].frozen? }
EDGE_HASH.each_with_index.map { |(k, v), i| i }
EDGE_HASH.sum { |k, v| v.hash == v.hash ? 1 : 0 }
h = {}; h[EDGE_STR] = 1; h[EDGE_STR] = 2; h
h = EDGE_HASH; h.map { |k, v| [k, v] }.to_h == h
h = {}; 50.times { |i| h[Object.new] = i }; h.values.sum
h = {}; 50.times { |i| h[i.to_s.to_sym] = i }; h.keys.last
Marshal.load(Marshal.dump(EDGE_HASH)) == EDGE_HASH
[ENV.fetch("TZ"), ENV["SOAK_NONE"], ENV.key?("TZ"), ENV.to_h.class]
