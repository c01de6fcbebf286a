[EDGE_STR % [], "%05d|%-5s|%+.2f|%x|%e" % [42, "ab", 3.14159, 255, 12345.678]]
"%<a>d %{b} %%" % { a: 1, b: 2 }
EDGE_STR * EDGE_COUNT
EDGE_STR + EDGE_STR
[+"a", -"a", (+"lit").frozen?, (-"lit").frozen?]
(+"") << EDGE_STR << "x" << 228
["a" <=> "b", EDGE_STR <=> EDGE_STR, "a" <=> 1]
[EDGE_STR == EDGE_STR, "a" === "a", "a".eql?("a"), "a".equal?("a".dup), "a" == :a]
["foobar" =~ /o+/, $~.to_s, $`, $', "foobar" =~ /zzz/, $~]
[EDGE_STR[0], EDGE_STR[-1], EDGE_STR[1, 2], EDGE_STR[0..], EDGE_STR[EDGE_SMALL]]
["hello"[/l+/], "hello"[/(h)(e)/, 2], "hello"["ell"], "hello"[9], "key=val"[/(?<k>\w+)=(?<v>\w+)/, "v"]]
s = +"hello"; s[1] = "EE"; s[-1..] = "é"; s[/l+/] = "L"; s["h"] = ""; s[0, 2] = "ab"; s
s = EDGE_STR.dup; s[EDGE_SMALL] = "zz"; s
(+"a").append_as_bytes("b", 255, "é")
EDGE_STR.ascii_only?
EDGE_STR.b.encoding
["日本語".byteindex("本"), "日本語".byterindex("本"), "日本語".byteindex("x"), "héllo".byteindex("l", 3)]
EDGE_STR.bytes
EDGE_STR.bytesize
[EDGE_STR.byteslice(0, 2), EDGE_STR.byteslice(EDGE_SMALL), "日本".byteslice(1..2)]
s = +"hello"; s.bytesplice(0, 2, "XX"); s.bytesplice(0..1, "abcdef", 2..3); s
EDGE_STR.capitalize
s = EDGE_UTF8.dup; [s.capitalize!, s]
[EDGE_STR.casecmp(EDGE_STR), "ABC".casecmp("abc"), "a".casecmp("b")]
[EDGE_UTF8.casecmp?(EDGE_UTF8), "äÖ".casecmp?("ÄÖ"), "ß".casecmp?("ss")]
EDGE_UTF8.center(EDGE_COUNT, "xyz")
EDGE_STR.chars
["a\r\n".chomp, "a\n\n".chomp, "abc".chomp("c"), EDGE_STR.chomp, EDGE_STR.chomp("")]
s = +"ab\n"; [s.chomp!, s.chomp!, s]
[EDGE_STR.chop, (+"a\r\n").tap(&:chop!), "é".chop]
[EDGE_STR.chr, "".chr]
s = +"abc"; s.clear; s
EDGE_STR.codepoints
(+"a").concat("b", "c", 0x3042)
["hello".count("l"), "hello".count("a-y", "^l"), EDGE_UTF8.count("a-z")]
"secret".crypt("ab")
["abc".dedup.equal?("abc".dedup), "abc".dedup.frozen?, EDGE_STR.dup.dedup]
"hello".delete("l-o", "^e")
s = +"hello"; [s.delete!("l"), s.delete!("z"), s]
["hello".delete_prefix("he"), "hello".delete_suffix("lo"), (+"ab").delete_prefix!("a"), (+"ab").delete_suffix!("x")]
EDGE_UTF8.downcase
s = EDGE_UTF8.dup; [s.downcase!, s.upcase!, s.swapcase!, s]
["ÀÉ".downcase(:ascii), "I".downcase(:turkic), "ß".downcase(:fold), "i".upcase(:turkic)]
EDGE_STR.dump
"é\u{1F600}\n\"".dump.undump
EDGE_STR.dup == EDGE_STR
a = []; EDGE_STR.each_byte { a << _1 }; a
a = []; EDGE_STR.each_char { a << _1 }; a
a = []; "aé日".each_codepoint { a << _1 }; a
a = []; "🇯🇵e\u0301👨‍👩‍👧x".each_grapheme_cluster { a << _1 }; a
a = []; "a\nb\r\nc".each_line { a << _1 }; "axbxc".each_line("x", chomp: true) { a << _1 }; a
[EDGE_STR.empty?, "".empty?]
EDGE_UTF8.encode("UTF-16BE")
"é日".encode("Shift_JIS", undef: :replace, invalid: :replace)
"a<b>\"&".encode(xml: :attr) + "a<b>".encode(xml: :text)
"a\nb".encode(universal_newline: true) + "a\nb".encode(crlf_newline: true)
"\xffabc".encode("UTF-16LE", invalid: :replace, replace: "?")
"日本".encode("EUC-JP").encode("ISO-2022-JP").bytes
"é".encode("ISO-8859-15").bytes + "€".encode("Windows-1252").bytes
"é".encode("US-ASCII") rescue [$!.class, $!.message]
"ж".encode("KOI8-R").encode("IBM866").bytes
"한글".encode("EUC-KR").encode("CP949").bytes
"中文".encode("GB18030").bytes + "中文".encode("Big5").bytes + "中文".encode("GBK").bytes
"é".encode("UTF-8-MAC").bytes
"a".encode("UTF-7") rescue $!.class
s = +"é"; s.encode!("UTF-16LE"); [s.encoding, s.bytes]
[EDGE_STR.encoding, "a".b.encoding]
["hello".end_with?("lo", "x"), "hello".end_with?, "hello".start_with?("he"), "hello".start_with?(/h./), $~]
(+"\xE3\x81\x82").force_encoding("EUC-JP").valid_encoding?
s = +"a"; s.freeze; [s.frozen?, (s << "b" rescue $!.message)]
["abc".getbyte(1), "abc".getbyte(9), EDGE_STR.getbyte(EDGE_SMALL)]
EDGE_UTF8.grapheme_clusters
["hello".gsub(/l/, "L"), "hello".gsub(/[el]/, "e" => "3"), "hello".gsub(/l/) { $&.ord.to_s }, "hello".gsub("l", "\\0\\0")]
EDGE_UTF8.gsub(/./) { |c| c * 2 }
"john smith".gsub(/(?<f>\w)(\w*)/, '\k<f>.')
s = +"hello"; [s.gsub!(/l/, "r"), s.gsub!("zz", ""), s]
"hello".gsub(/l/).with_index.to_a
["a".hash == "a".hash, EDGE_STR.hash == EDGE_STR.dup.hash]
["0x1f".hex, "-ff".hex, "zz".hex, "0b11".oct, "0x1f".oct, "789".oct]
["hello".include?("ell"), EDGE_UTF8.include?(EDGE_UTF8)]
["hello".index("l"), "hello".index(/l+/, 1), "hello".index("l", -1), "héllo".index("l"), "hello".rindex("l"), "hello".rindex(/l/, -3)]
(+"ad").insert(1, "bc").insert(-1, "é")
EDGE_STR.inspect
["abc".intern, "a b".to_sym, "é".to_sym, "".to_sym, "foo=".intern]
[EDGE_STR.length, EDGE_STR.size]
"a\nb\n".lines + "axb".lines("x")
[EDGE_UTF8.ljust(EDGE_COUNT), EDGE_UTF8.rjust(EDGE_COUNT, "é"), "é".ljust(3, "ab")]
[EDGE_UTF8.lstrip, EDGE_UTF8.rstrip, EDGE_UTF8.strip, " a\0".strip, "\u3000a".strip]
s = +" a "; [s.lstrip!, s.rstrip!, s.strip!, s]
["hello".match(/l(l)(o)?/), "hello".match("l+", 3).to_a, "x".match(/y/), "hello".match?(/ll/), "hello".match?("z")]
["az".next, "zz".succ, "a9".succ, "Zz".next, "-9".succ, "1.9.9".succ, "".succ, "あん".succ, EDGE_UTF8.succ]
s = +"az"; s.next!; s.succ!; s
["a".ord, "é".ord, ("".ord rescue $!.message)]
["hello".partition("l"), "hello".partition(/l+/), "hello".rpartition("l"), "hello".rpartition(/l+/), "x".partition("y")]
(+"b").prepend("a", "é")
s = +"a"; s.replace("bcd" * 20); s
EDGE_STR.reverse
s = EDGE_UTF8.dup; [s.reverse!, s.length]
["hello world".scan(/o/), "a1b2".scan(/([a-z])(\d)/), "abab".scan("ab") { |m| m }, EDGE_UTF8.scan(/\w/)]
r = []; "foo bar".scan(/\w+/) { r << [$~.begin(0), $&] }; r
[EDGE_STR.scrub, "a\xffb".scrub("?"), "a\xffb\xfe".scrub { |b| "<#{b.unpack1('H*')}>" }, (+"\xff").scrub!]
s = +"abc"; s.setbyte(1, 0xC3); s.valid_encoding?
["hello".slice(1, 3), "hello".slice(1..), EDGE_STR.slice(EDGE_SMALL), (s = +"hello"; [s.slice!(1..2), s.slice!(/l/), s])]
["a b  c".split, "a,b,,c,,".split(","), "a,b,c".split(",", 2), "abc".split(""), "a1b2c".split(/\d/), "a1b".split(/(\d)/), "a,b,,".split(",", -1), EDGE_UTF8.split(/ /)]
r = []; "a b c".split(" ") { r << _1 }; r
["aaabbb".squeeze, "aabbcc".squeeze("a-b"), (+"aab").squeeze!, (+"ab").squeeze!]
["hello".sub(/l/, "L"), "hello".sub(/(?<x>l)/, '[\k<x>]'), "hello".sub("l") { $&.upcase }, (s = +"hello"; [s.sub!("l", "L"), s.sub!("zz", ""), s])]
[EDGE_STR.sum, "abc".sum(8)]
[EDGE_UTF8.swapcase, "aÉ".swapcase]
[EDGE_STR.to_c, "1+2i".to_c, "3.5".to_c]
["1.5e3x".to_f, "abc".to_f, "1_000.5".to_f, ".5".to_f, "1e400".to_f, "0x1p3".to_f, EDGE_UTF8.to_f]
["12abc".to_i, "z".to_i(36), "0b101".to_i(0), "1_000".to_i, "9" * 40, ("9" * 40).to_i, ("f" * 60).to_i(16), ("7" * 5000).to_i % 1_000_007]
["1/3".to_r, "0.75".to_r, "abc".to_r, "1e2".to_r]
[EDGE_STR.to_s, EDGE_STR.to_str, "a".to_s.equal?("a")]
["hello".tr("el", "ip"), "hello".tr("a-y", "b-z"), "hello".tr("^l", "*"), "hello".tr_s("l", "r"), "日本".tr("日", "x"), (s = +"hello"; [s.tr!("l", "r"), s.tr_s!("r", "q"), s.tr!("z", "y")])]
"e\u0301".unicode_normalize
["é".unicode_normalize(:nfd).bytes, "ﬁ".unicode_normalize(:nfkc), "é".unicode_normalized?, (s = +"e\u0301"; s.unicode_normalize!; s)]
["abc".unpack("C*"), "\x01\x02\x03\x04".unpack("nS<"), "abc def".unpack("A3 x A3"), "YWJj\n".unpack1("m"), "\xff\xff\xff\xff".unpack1("l"), "616263".then { [_1].pack("H*") }]
["=41=42".unpack1("M"), "\x00\x00\x80\x3f".unpack1("e"), "\x81\x00".unpack1("w"), "aé日".unpack("U*"), "abc".unpack("b*"), "abc".unpack("@1a")]
EDGE_UTF8.upcase
["a".upto("e").to_a, "9".upto("11").to_a, "a".upto("e", true).to_a, "az".upto("bc").to_a]
EDGE_STR.valid_encoding?
[String.new("abc", capacity: 100), String.new.encoding, String.new("é", encoding: "BINARY").length, String.try_convert("a"), String.try_convert(1)]
"a".+("b").concat("c").object_id.class
"#{1} #{:a} #{nil} #{[1, "x"]} #{EDGE_ANY}"
"x".then { |s| "#{s}#{s}" }.frozen?
"lazy dog".each_char.with_index.map { |c, i| i.even? ? c.upcase : c }.join
"éa".each_byte.to_a + "ab".each_char.to_a
"the quick brown fox".split.map(&:capitalize).join(" ")
"abc" .then { |s| s.encode("UTF-32LE").encode("UTF-8") == s }
("a".."zz").to_a.size
"%s and %p" % ["x", nil]
"%c%c" % ["x", 233]
"%-10s|%010.3f|%#x|%b|% d" % ["é", 3.14159, 255, 10, 5]
"%.50f" % 0.1
"%d" % EDGE_INT
"%s" % [EDGE_ANY]
"%g %G %a" % [EDGE_FLOAT, 1e-10, 0.5]
"%d" % "x" rescue $!.message
"abc".send(:initialize_copy, "x") rescue $!.class
"a".instance_variable_set(:@x, 1) rescue $!.class
s = +"abc"; s.instance_variable_set(:@x, 1); s.instance_variable_get(:@x)
class << (s = +"abc"); def shout = upcase + "!"; end; s.shout
EDGE_STR.each_grapheme_cluster.to_a.size
EDGE_STR.unpack("H*")
EDGE_STR =~ /\w/
EDGE_STR.to_sym
EDGE_STR.hash == EDGE_STR.hash
