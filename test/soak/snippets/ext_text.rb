#require psych
#require ripper
#require erb
#require pathname
#require shellwords
#require uri
#require optparse
#require ostruct
#require delegate
#require forwardable
#require singleton
#require tsort
#require pp
#require open3
#require English
#require cgi/escape
#require weakref
#require timeout
#require rbconfig
#require net/http
#require tmpdir
Psych.load("a: [1, 2]\nb: {c: x}\n")
Psych.dump({ "a" => [1, nil, "x: y", 1.5, true] })
YAML.load("- 1\n- two") rescue $!.class
Psych.safe_load("a: 1")
Psych.parse("a: 1").class.name
Psych.load("a: [") rescue $!.class
[Psych.load("--- 2024-01-01 00:00:00 Z", permitted_classes: [Time]).class, Psych.load("- ~\n- 0x1f\n- 1_000\n- .inf")]
Psych.dump("multi\nline é") + { a: :b }.to_yaml
Ripper.sexp("a = 1 + b")
Ripper.lex("def x; 1; end").map { _1[2] }
Ripper.tokenize("a.b(1)")
Ripper.sexp("1 +")
Ripper.new("1").then { |r| [r.parse.class, r.error?, r.lineno.class, r.column.class] }
ERB.new("<% 3.times do |i| %><%= i %>,<% end %>").result
ERB.new("a\n% 2.times do\nx\n% end\n", trim_mode: "%").result
ERB::Util.html_escape("<a&\"'>") + ERB::Util.url_encode("a b/é")
CGI.escapeHTML("<a>&\"'") + CGI.unescapeHTML("&lt;&#39;") + CGI.escape("a b&é") + CGI.unescape("a+b%26")
pa = Pathname.new("/a/b/../c.rb"); [pa.basename, pa.dirname, pa.extname, pa.cleanpath, pa + "d", pa.parent, pa.absolute?, pa.relative?, pa.root?, pa.each_filename.to_a, pa.sub("a", "z"), pa <=> pa, pa == pa.dup, pa.to_s, pa.inspect, pa.join("x"), pa.relative_path_from(Pathname("/a")), pa.sub_ext(".c"), Pathname("a").exist?, pa.hash == pa.dup.hash, pa.descend.map(&:to_s), pa.ascend.map(&:to_s), pa.split.map(&:to_s)]
file("path") { |f| q = Pathname(f); [q.read, q.size, q.file?, q.directory?, q.readlines, q.exist?, q.stat.size, q.binread, q.expand_path.class, q.realpath.class, q.mtime.class, q.open(&:read), q.write("x"), q.ftype] }
folder { |d| File.write("#{d}/z", ""); [Pathname(d).children.size, Pathname(d).entries.size, Pathname(d).glob("*").size, Pathname(d).each_child.to_a.size, Pathname(d).empty?, Pathname.glob("#{d}/*").size, Pathname.pwd.class] }
Shellwords.split("a 'b c' d\\ e") + [Shellwords.escape("a b"), %w[a b].shelljoin, "x y".shellescape]
URI.parse("http://u:p@example.com:80/a/b?q=1#f").then { |u| [u.scheme, u.host, u.port, u.path, u.query, u.fragment, u.userinfo, u.to_s] }
[URI.join("http://a/b/", "c").to_s, URI.encode_www_form(a: 1, b: [2, "é"]), URI.decode_www_form("a=1&b=%20"), URI.encode_www_form_component("a b"), URI.decode_www_form_component("a+b"), (URI.parse("http://[") rescue $!.class), URI.extract("see http://a.b c")] rescue $!.class
OptionParser.new { |o| o.on("-v", "--verbose") { @v = 1 }; o.on("-nN", Integer) { |n| @n = n } }.parse(%w[-v -n 5 rest]).then { |r| [r, @v, @n] }
o = OpenStruct.new(a: 1); o.b = 2; [o.a, o[:b], o.to_h, o.respond_to?(:a), o.dig(:a), o == OpenStruct.new(a: 1, b: 2), o.c]
d = SimpleDelegator.new([1, 2]); [d.size, d.first, d == [1, 2], d.__getobj__, d.map { _1 }]
c = Class.new { extend Forwardable; def_delegators :@a, :size, :<<; def_delegator :@a, :first, :head; def initialize = @a = [5] }; o = c.new; o << 6; [o.size, o.head]
c = Class.new { include Singleton }; [c.instance.equal?(c.instance), (c.new rescue $!.class)] #: the variables of a class are the main Ractor's to set
c = Class.new { include TSort; def initialize = @h = { 1 => [2, 3], 2 => [3], 3 => [] }; def tsort_each_node(&) = @h.each_key(&); def tsort_each_child(n, &) = @h[n].each(&) }; [c.new.tsort, c.new.strongly_connected_components]
PP.pp({ a: [1] * 30, b: "x" * 60 }, +"")
[1, { a: 2 }].pretty_inspect
Open3.capture2("cat", stdin_data: "x").first
Open3.capture3("echo a; echo b >&2; exit 2").then { |a, b, s| [a, b, s.exitstatus] }
kept = "x" * 3; WeakRef.new(kept).then { |w| [w.weakref_alive?, w.size] }
Timeout.timeout(5) { 1 + 1 }
[$ERROR_INFO.class, $PROCESS_ID == $$] rescue $!.class
ERB.new("<%= a %>", trim_mode: "-").result_with_hash(a: 5) + ERB.new("x<%# y %>").src[/x/]
Net::HTTP.new("localhost", 80).then { |h| [h.address, h.use_ssl?, h.started?, Net::HTTP::Get.new("/a", "X-Y" => "z")["x-y"], Net::HTTPResponse::CODE_CLASS_TO_OBJ["2"].name] }
TCPServer.open("127.0.0.1", 0) { |s| t = Thread.new { c = s.accept; nil until c.gets == "\r\n"; c << "HTTP/1.1 201 Yes\r\nContent-Length: 2\r\n\r\nhi"; c.close }; r = Net::HTTP.get_response("127.0.0.1", "/", s.addr[1]); t.join; [r.class.name, r.body, r.message] }
DelegateClass(Array).new([3, 1]).then { |a| [a.sort, a.size, a.__getobj__, a == [3, 1]] }
