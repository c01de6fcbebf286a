#require json
#require strscan
#require stringio
#require set
#require bigdecimal
#require bigdecimal/util
JSON.parse('{"a": [1, 2.5, null, true, "é\\u3042"], "b": {"c": -1e3}}')
JSON.generate({ "a" => [1, nil, 2.5, "é\n\""], b: { c: true } })
{ a: 1 }.to_json + [1, nil].to_json + "é".to_json + 1.5.to_json + nil.to_json + true.to_json
JSON.pretty_generate({ a: [1, { b: 2 }], c: {}, d: [] })
JSON.parse('{"a":1}', symbolize_names: true)
JSON.parse('[1', create_additions: false) rescue $!.class
JSON.parse('[NaN]', allow_nan: true).first.nan?
JSON.generate(Float::NAN) rescue $!.class
JSON.dump([1, "x"])
JSON.load("[1, 2]")
JSON.parse(JSON.generate(EDGE_ARY)).size
JSON.generate(EDGE_UTF8)
JSON.parse('[1.1, 1e400, 123456789012345678901234567890]')
JSON[%w[a b]] + JSON["[1]"].inspect
JSON.parse("[" * 50 + "]" * 50).flatten
JSON.parse('{"a":1}', object_class: Hash, array_class: Array)
JSON::VERSION.class
JSON.parse((1..200).to_h { ["k#{_1}", _1] }.to_json).size
s = StringScanner.new("test string 42"); [s.scan(/\w+/), s.pos, s.eos?, s.skip(/\s+/), s.check(/\w+/), s.scan_until(/g/), s.pre_match, s.post_match, s.matched, s.rest, s.getch, s.peek(2), s.scan(/(?<n>\d+)/), s[:n], s[0], s.captures, s.named_captures, s.eos?, s.unscan.pos, s.terminate.eos?, s.inspect]
s = StringScanner.new("a,b;c"); r = []; until s.eos?; r << (s.scan(/\w/) || s.getch); end; r
s = StringScanner.new("日本語x"); [s.getch, s.charpos, s.pos, s.get_byte.bytes, s.exist?(/x/), s.search_full(/x/, false, true), s.match?(/./), s.bol?, s.string.size, (s.string = "new"), s.scan("n"), s.beginning_of_line?]
s = StringScanner.new("ab"); s << "cd"; s.pos = 2; [s.rest, s.rest_size, s.reset.pos, s.values_at(0), s.scan(/(.)(.)/), s.values_at(0, 1), s.size, s.matched_size, s.matched?]
i = StringIO.new("line1\nline2\n"); [i.gets, i.lineno, i.read(2), i.getc, i.ungetc("z"), i.getc, i.eof?, i.each_line.to_a, i.rewind, i.readlines, i.pos, i.string.size, i.eof?, i.close, i.closed?]
i = StringIO.new(+""); i << "a"; i.puts("b", 1); i.print("c"); i.printf("%d", 5); i.putc("x"); i.write("y", "z"); [i.string, i.pos, i.size, i.length, i.truncate(2), i.string, i.sync, i.fsync, i.tty?, i.fileno, i.pid]
i = StringIO.new("é日x"); [i.getc, i.getbyte, i.each_char.to_a.size, i.seek(0), i.each_byte.first(2), i.rewind, i.each_codepoint.first, i.external_encoding, i.set_encoding("BINARY").class, i.readchar.bytes.size]
i = StringIO.new("abc"); [i.readbyte, i.readpartial(5), (i.readchar rescue $!.class), i.reopen("xyz").read, i.pread(2, 1), i.binmode.class]
StringIO.open("q") { |i| i.read }
$stdout.class; StringIO.new.tap { |o| o.puts [1, [2, [nil]]] }.string
s = Set[3, 1, 2]; [s.include?(1), s === 2, s.add(4).size, s.add?(4), s << 5, s.delete(1).size, s.delete?(9), s.to_a.sort, s | [9], s & [2, 3], s - [2], s ^ [3, 99], s.subset?(Set[2, 3, 4, 5, 6]), s.superset?(Set[2]), s.proper_subset?(s), s.disjoint?([100]), s.intersect?([2]), s <=> Set[2], s == s.dup, s.hash == s.dup.hash, s.map { _1 }.size, s.group_by(&:odd?).size, s.partition(&:even?), s.inspect, s.to_s, s.first.class, s.min, s.freeze.frozen?]
s = Set.new([1, 2]) { _1 * 2 }; [s, s.merge([5]), s.subtract([2]), s.select! { _1 > 1 }, s.reject! { _1 > 4 }, s.map!(&:to_s), s.classify(&:size), s.flatten, s.collect!(&:to_i), s.keep_if { true }, s.delete_if { false }, s.filter!(&:itself), s.replace([7]), s.reset, s.clear, s.empty?, [1, 1].to_set.size, Set[[1]].join, Set[1] + Set[2], s.compare_by_identity.compare_by_identity?, Set[1, [1]].to_set.size, Set[3].disjoint?(Set[4]), Set[1, 2].divide { |a| a % 2 }.size]
SortedSet rescue $!.class
BigDecimal("1.1") + BigDecimal("2.2")
[BigDecimal("10").sqrt(10).round(8).to_s, BigDecimal("1") / 3, BigDecimal("2") ** 100, BigDecimal("1.5").to_i, BigDecimal("1.5").to_f, BigDecimal("1.25").round(1).to_s, BigDecimal("-0").zero?, BigDecimal("NaN").nan?, BigDecimal("Infinity").infinite?]
[BigDecimal("123.456").to_s("F"), BigDecimal("1e-20").to_s, BigDecimal("123.456").precs, BigDecimal("1.23").inspect, BigDecimal("5").divmod(3), BigDecimal("7.5") % 2, BigDecimal("1.5") <=> 1, BigDecimal("1.50").hash == BigDecimal("1.5").hash, BigDecimal("0.1").exponent, BigDecimal("12.34").split, BigDecimal("12.34").sign, BigDecimal("12.34").truncate(1), BigDecimal("12.34").frac, BigDecimal("12.34").fix] rescue $!.class
["1.5".to_d, 3.to_d, 2.5.to_d, 1.5r.to_d(3), BigDecimal("3.14").to_digits, BigDecimal(3.7, 2), (BigDecimal("x") rescue $!.message)]
[BigDecimal.mode(BigDecimal::ROUND_MODE), BigDecimal.limit, BigDecimal.double_fig, BigDecimal.save_rounding_mode { 1 }]
Marshal.load(Marshal.dump(BigDecimal("1.5")))
