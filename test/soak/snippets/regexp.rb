[/a/ == /a/, /a/ === "cat", /a/.eql?(/a/i), /a/ =~ "cat", /a/i.casefold?, /a/.encoding, /é/.encoding, /a/u.fixed_encoding?, /a/.hash == /a/.hash, /a\/b/mix.inspect, /a/x.options, /a(?<n>b)/.source, /(?i:a)/.to_s]
[/(?<y>\d+)-(?<m>\d+)/.names, /(?<y>\d+)/.named_captures, /a/.match("cat", 1).to_s, /z/.match("cat"), /a/.match?("cat"), /a/.match?(nil), (/a/.match(nil)), /a/.timeout, Regexp.new("a", timeout: 2).timeout]
$_ = "cat"; [~/a/, $~.to_s]
m = /(?<a>\w)(?<b>\d)?/.match("x1y"); [m == m.dup, m[0], m[:a], m["b"], m[1, 2], m[0..], m.begin(0), m.end(:b), m.offset(1), m.bytebegin(0), m.byteend(0), m.byteoffset(0), m.captures, m.named_captures, m.named_captures(symbolize_names: true), m.names, m.deconstruct, m.deconstruct_keys([:a]), m.eql?(m), m.hash == m.hash, m.inspect, m.length, m.size, m.match(:a), m.match_length(:b), m.post_match, m.pre_match, m.regexp, m.string, m.to_a, m.to_s, m.values_at(0, :a)]
[Regexp.compile("a", Regexp::IGNORECASE), Regexp.escape("a.b*c\n"), Regexp.quote("[x]"), ("ab" =~ /b/; Regexp.last_match(0)), Regexp.last_match.class, Regexp.linear_time?(/a+/), Regexp.linear_time?(/(a)\1/), Regexp.timeout, Regexp.try_convert(/a/), Regexp.try_convert("a"), Regexp.union("a.b", /c/i), Regexp.union, (Regexp.new("(") rescue $!.message)]
Regexp.timeout = nil #: the limit is the process's
"2024-01-02" =~ /(?<y>\d+)-(?<m>\d+)/ ? [$~[:y], $1, $2, $+, $&] : nil
if /(?<yy>\d+)-(?<mm>\d+)/ =~ "2024-05" then [yy, mm] end
"aaaa".scan(/a{2}/) + "foo.bar(baz)".scan(/[\w.]+/) + "x1y22".scan(/\d+/)
["日本語 text" =~ /\p{Hiragana}|\p{Han}+/, $&, "é" =~ /\p{L}/, "ÀB".match?(/[[:upper:]]{2}/), "日本".encode("EUC-JP") =~ Regexp.new("本".encode("EUC-JP"))]
["a\nb" =~ /a.b/, "a\nb" =~ /a.b/m, "a\nb" =~ /^b$/, "ab" =~ /\Ab/, "foobar" =~ /foo(?=bar)/, "foobaz" =~ /foo(?!bar)/, "xbar" =~ /(?<=x)bar/, "(a(b)c)"[/\((?:[^()]|\g<0>)*\)/]]
"x-1, y-22".gsub(/(?<k>\w)-(?<v>\d+)/) { "#{$~[:v]}#{$~[:k]}" }
(1..30).map { |i| Regexp.new("a{#{i}}").match?("a" * 20) }.count(true)
%w[a1 b2 cc].grep(/\d/) { $&.to_i }
"é" =~ /\xC3\xA9/n rescue $!.message
EDGE_STR =~ /(.)(.)/ ? [$1, $2] : $~
EDGE_STR.match?(/[a-zé]/i) rescue $!.message
EDGE_UTF8 =~ /\A\p{Alpha}+\z/
EDGE_UTF8[/\b\w+\b/]
EDGE_UTF8.gsub(/[^[:ascii:]]/, "?")
/#{EDGE_UTF8.then { Regexp.escape(_1) }}/ =~ "zz" + EDGE_UTF8
x = 0; 5.times.map { |i| /#{i}/o.source }.uniq.size
("a" * 25 + "b") =~ /(a+)+$/
Regexp.new("(a|a)*b", timeout: 0.5).match?("a" * 20)
[/a/.frozen?, Regexp.new("x").frozen?, /(?<a>.)\k<a>/.match("xx").to_a]
"The Cat" .then { |s| [s =~ /cat/i, s.sub(/(?<first>\w+)/, '<\k<first>>'), s[/C(.)t/, 1], s.tr("a-y", "b-z")] }
/\R\X\h\H\K/.match("\n é1z").class
"ab12".match(/(?<l>[a-z]+)(?<d>\d+)/) { |m| m[:d].to_i * 2 }
case "foo-1" when /(\w+)-(\d)/ then [$1, $2] end
"\u3042\u3044".scan(/[あ-ん]/)
"ＡＢ".downcase =~ /ａ/i
"ﬀ" =~ /ff/i
"STRASSE" =~ /straße/i
"İ" =~ /i̇/i
Regexp.new("日本", Regexp::FIXEDENCODING).match?("日本語")
"\xE9".dup.force_encoding("ISO-8859-1") =~ Regexp.new("\xE9".dup.force_encoding("ISO-8859-1"))
"\x82\xA0".dup.force_encoding("Shift_JIS") =~ /./
