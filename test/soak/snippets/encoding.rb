[Encoding::UTF_8.ascii_compatible?, Encoding::UTF_16LE.ascii_compatible?, Encoding::UTF_7.dummy?, Encoding::UTF_8.inspect, Encoding::UTF_8.name, Encoding::UTF_8.names.class, Encoding::UTF_8.to_s, Encoding::UTF_8._dump]
[Encoding.aliases["BINARY"], Encoding.compatible?("a", "é"), Encoding.compatible?("é", "é".encode("EUC-JP")), Encoding.find("utf-8"), Encoding.list.size > 50, Encoding.name_list.size > 100, Encoding.locale_charmap, Encoding.default_external, Encoding.default_internal, (Encoding.find("zork") rescue $!.message)]
Encoding.list.map { |e| e.dummy? ? nil : "a".encode(e).encode("UTF-8") rescue $!.class }.tally
Encoding.list.sample(5).each { |e| Encoding.find(e.name) }.size
Encoding.list.reject(&:dummy?).map { |e| "abc".dup.force_encoding(e).valid_encoding? }.tally
Encoding.name_list.map { |n| Encoding.find(n) }.compact.size > 100
%w[EUC-JP Shift_JIS ISO-8859-1 Windows-31J UTF-16BE UTF-32LE GB18030 Big5 EUC-KR KOI8-R].map { |e| "日".encode(e, undef: :replace).bytes }
%w[EUC-JP Shift_JIS ISO-8859-5 Windows-1251 UTF-16LE].map { |e| s = "a1B".encode(e); [s.upcase, s.downcase, s.inspect, s.to_sym, s =~ Regexp.new("1".encode(e))].size }
c = Encoding::Converter.new("UTF-8", "EUC-JP"); [c.convert("日本"), c.finish, c.source_encoding, c.destination_encoding, c.convpath, c.replacement, (c.replacement = "x"), c.last_error, c.inspect, c.primitive_errinfo]
Encoding::Converter.new("UTF-8", "EUC-JP") == Encoding::Converter.new("UTF-8", "EUC-JP")
c = Encoding::Converter.new("UTF-8", "ISO-8859-1"); d = +""; [c.primitive_convert(+"a\u3042b", d), c.primitive_errinfo, c.insert_output("?"), d, c.last_error.class, c.putback]
c = Encoding::Converter.new("UTF-16", "UTF-8"); (c.convert("\xd8\x00\x00a".b) rescue $!.class)
[Encoding::Converter.search_convpath("ISO-8859-1", "EUC-JP"), Encoding::Converter.asciicompat_encoding("ISO-2022-JP"), (Encoding::Converter.search_convpath("zork", "UTF-8") rescue $!.message), (Encoding::Converter.new("zork", "UTF-8") rescue $!.message)]
Encoding::Converter.new("", "", crlf_newline: true).convert("a\nb")
Encoding.default_external = Encoding::UTF_8
Encoding.default_internal = nil
Encoding._load("UTF-8")
"a".force_encoding("zork") rescue $!.message
["é".encode("UTF-16"), "é".encode("UTF-32"), "é".encode("UTF-8", "ISO-8859-1")].map(&:bytes)
EDGE_STR.encode("UTF-8", invalid: :replace, undef: :replace)
EDGE_STR.encode("EUC-JP", invalid: :replace, undef: :replace).bytes
EDGE_STR + "é".encode("UTF-16LE") rescue $!.message
EDGE_STR.dup.force_encoding("UTF-16BE").inspect
EDGE_STR.dup.force_encoding("Shift_JIS").chars.size
"日本".encode("EUC-JP").then { |s| [s.chars.size, s.index("本".encode("EUC-JP")), s.reverse.encode("UTF-8"), s.succ.encode("UTF-8"), s.inspect, s.hash == s.dup.hash] }
"ÄÖ".encode("ISO-8859-1").downcase.encode("UTF-8") + "ÄÖ".encode("Windows-1252").swapcase.encode("UTF-8")
"я".encode("Windows-1251").upcase.encode("UTF-8") + "я".encode("ISO-8859-5").upcase.encode("UTF-8")
