# frozen_string_literal: true
# test_libraries.rb - libraries of Ruby's own in Ractors: libraries_any_ractor.patch, and those of JSON, Tempfile, WeakRef and
# IO#readline.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeLibraries < Test::Unit::TestCase
  include LockfreeAssertRactors

  # +work+ gives the same in main and in four Ractors, three times each.
  def assert_same_in_ractors(setup, work)
    assert_ractors(<<~RUBY)
      #{setup}
      module Work
        def self.done = (#{work})
      end
      expected = Work.done
      assert_equal([[expected] * 3] * 4, Array.new(4) { Ractor.new { Array.new(3) { Work.done } } }.map(&:take))
    RUBY
  end

  def test_racing_readline
    assert_same_in_ractors("", <<~'RUBY')
      IO.pipe do |reader, writer|
        writer << "a\nb\nc\n\nde"
        writer.close
        [reader.readline, reader.readline(chomp: true), reader.readline(""), reader.readline(nil), (reader.readline rescue $!.class)]
      end
    RUBY
  end

  def test_readline_by_the_separator_of_main
    assert_ractors(<<~'RUBY')
      assert_equal([[:opt, :sep], [:opt, :limit], [:key, :chomp]], IO.instance_method(:readline).parameters)
      $VERBOSE = nil
      $/ = "x"
      lines = -> { IO.pipe { |reader, writer| writer << "1x2\nx"; writer.close; [reader.readline, reader.readline(1), reader.gets] } }
      assert_equal(["1x", "2", "\nx"], lines.call)
      assert_equal(["1x", "2", "\nx"], Ractor.new(&Ractor.make_shareable(nil.instance_exec { proc { IO.pipe { |reader, writer|
        writer << "1x2\nx"; writer.close; [reader.readline, reader.readline(1), reader.gets] } } })).take)
    RUBY
  end

  def test_racing_json_dump_and_load
    assert_same_in_ractors('require "json"; require "stringio"', <<~'RUBY')
      [JSON.dump({ a: [1, nil, Float::NAN] }), JSON.load('{"a": [1, NaN]}').to_s, JSON.load(""), JSON.load(nil),
       JSON.load("[1]", nil, max_nesting: 1), JSON.dump(1, StringIO.new).string, (JSON.dump([[1]], 1) rescue $!.message)]
    RUBY
  end

  def test_json_defaults_that_main_has_set
    assert_ractors(<<~'RUBY')
      require "json"
      dumped = -> { Ractor.new { JSON.dump([0.0 / 0]) rescue $!.class.name }.take }
      assert_equal("[NaN]", dumped.call)
      JSON.dump_default_options = { allow_nan: false }
      assert_equal("JSON::GeneratorError", dumped.call)
      assert_false(JSON.dump_default_options.frozen?)
      JSON.load_default_options = { symbolize_names: true }
      assert_equal({ a: 1 }, Ractor.new { JSON.load('{"a": 1}') }.take)
      JSON.load_default_options = { object_class: Class.new(Hash), x: proc {} }
      assert_equal("Ractor::IsolationError", Ractor.new { JSON.load("1") rescue $!.class.name }.take)
    RUBY
  end

  def test_racing_net_http
    assert_same_in_ractors('require "net/http"; require "open-uri"', <<~'RUBY')
      server = TCPServer.new("127.0.0.1", 0)
      url = "http://127.0.0.1:#{server.addr[1]}/a?b=c"
      answers = Thread.new do
        %w[200\ OK 404\ No 299\ Odd 200\ OK].each do |status|
          client = server.accept
          length = 0
          while (line = client.gets) != "\r\n"
            length = line[/\d+/].to_i if line.start_with?("Content-Length")
          end
          body = length > 0 ? client.read(length) : "hi"
          client << "HTTP/1.1 #{status}\r\nContent-Length: #{body.size}\r\nConnection: close\r\n\r\n#{body}"
          client.close
        end
      end
      got = Net::HTTP.get_response(URI(url))
      [got.class, got.body, Net::HTTP.post(URI(url), "x=1", "Content-Type" => "text/plain").then { [_1.class, _1.body] },
       Net::HTTP.start("127.0.0.1", server.addr[1]) { |http| http.get("/").class }, URI.open(url).read].tap { answers.join; server.close }
    RUBY
  end

  def test_racing_erb
    assert_same_in_ractors('require "erb"', <<~'RUBY')
      a = 2.itself
      page = Class.new { def initialize(x) = @x = x }
      ERB.new("<%= @x %>.").def_method(page, "render")
      [a, ERB.new("<% 3.times do |i| %><%= i * a %>,<% end %>").result(binding), ERB.new("<%= a %>").result_with_hash(a: 5),
       ERB.new("% 2.times do\nx\n% end\n", trim_mode: "%").result, ERB.new("<%- 1.to_s -%>\n", trim_mode: "-").result,
       ERB::Util.html_escape("<a&\"'>"), ERB::Util.url_encode("a b"), page.new(7).render, (ERB.new("<%= a %>").result rescue $!.class)]
    RUBY
  end

  # As in main: constants are looked up from the top level, and defined there.
  def test_erb_at_the_top_level
    assert_ractors(<<~'RUBY')
      require "erb"
      module Util; def self.hi = "mine"; end
      page = "<%= Util.hi %>|<%= Compiler rescue 'none' %>|<% class Made; end %><%= Made.name %>|<% @x = 1 %><%= @x %>|<%= self %>"
      assert_equal("mine|none|Made|1|main", Ractor.new(page) { |page| ERB.new(page).result }.take)
      assert_equal("12", Ractor.new { ERB.new("<%= @x = 1 %>").result + ERB.new("<%= @x + 1 %>").result }.take) # one self for all
      assert_equal("a\n<", Ractor.new { ERB.new("<% 1.to_s %>\na\n<%= '<' %>", trim_mode: "<>").result }.take)
      ERB::Compiler::Scanner.register_scanner(ERB::Compiler::Scanner, mode = +"z", false)
      assert_false(mode.frozen?)
    RUBY
  end

  def test_racing_pathname_and_digests
    assert_same_in_ractors('require "pathname"; require "openssl"; require "delegate"', <<~'RUBY')
      list = DelegateClass(Array)
      [Pathname("/a/b").relative_path_from(Pathname("/a/c")).to_s, OpenSSL::Digest::SHA256.hexdigest("a"),
       OpenSSL::Digest::MD5.new("x").update("y").hexdigest, OpenSSL::Digest::SHA512.digest("q").size, list.new([1, 2]).sum,
       OpenSSL::ASN1.decode(OpenSSL::ASN1::Integer(5).to_der).value.to_i, SimpleDelegator.new("ab").size]
    RUBY
  end

  def test_racing_weak_references
    assert_ractors(<<~'RUBY')
      require "weakref"
      results = Array.new(4) do
        Ractor.new do
          kept = "x" * 100
          refs = Array.new(100) { WeakRef.new(Object.new) }
          mine = WeakRef.new(kept)
          GC.start
          [mine.size, mine.weakref_alive?, refs.count(&:weakref_alive?) < 50, (refs.find { !_1.weakref_alive? }.hash rescue $!.class.name)]
        end
      end
      results.each { |ractor| assert_equal([100, true, true, "WeakRef::RefError"], ractor.take) }
      threads = Ractor.new { Array.new(4) { Thread.new { kept = "k"; ref = WeakRef.new(kept); Thread.pass; ref.weakref_alive? && kept } }.map(&:value) }
      assert_equal(%w[k k k k], threads.take)
      ref = WeakRef.new(kept = "main")
      assert_equal("main", ref.to_s)
    RUBY
  end

  TEMPFILES = <<~'RUBY'
    require "tempfile"
    require "tmpdir"
    def with_folder = Dir.mktmpdir { |dir| yield(dir.freeze) }
  RUBY

  def test_racing_tempfiles
    assert_ractors(TEMPFILES + <<~'RUBY')
      with_folder do |dir|
        results = Array.new(4) do
          Ractor.new(dir) do |dir|
            file = Tempfile.new("a", dir)
            file.write("abc")
            file.rewind
            values = [file.read, file.size, file.open.class, file.path.start_with?(dir)]
            file.close!
            [*values, file.path, Tempfile.open("b", dir) { |f| f.puts(1); f.size }, Tempfile.create("c", dir) { |f| f << "d"; f.pos }]
          end
        end
        results.each { |ractor| assert_equal(["abc", 3, File, true, nil, 2, 1], ractor.take) }
        GC.start
        assert_equal([], Dir.children(dir))
      end
    RUBY
  end

  # What is forgotten is removed, but not as long as a copy lives; and not what has the same name later.
  def test_tempfile_that_is_forgotten
    assert_ractors(TEMPFILES + <<~'RUBY')
      with_folder do |dir|
        left = Ractor.new(dir) do |dir|
          def self.forget(dir) = 50.times { Tempfile.new("gone", dir) }
          copy = Tempfile.new("kept", dir).dup
          unlinked = Array.new(20) { Tempfile.new("again", dir).tap { |f| path = f.path; f.unlink; File.write(path, "") } }.size
          forget(dir)
          3.times { GC.start; forget(dir) }
          GC.start
          names = Dir.children(dir).map { _1[/\A[a-z]+/] }.tally
          copy.write("x")
          names.merge("size" => copy.tap(&:flush).size, "unlinked" => unlinked)
        end.take
        assert_equal([1, 20, 1, 20], left.values_at("kept", "again", "size", "unlinked"))
        assert_operator(left["gone"].to_i, :<, 150)
      end
    RUBY
  end

  def test_tempfile_whose_copy_is_forgotten
    assert_ractors(TEMPFILES + <<~'RUBY')
      with_folder do |dir|
        kept = Ractor.new(dir) do |dir|
          file = Tempfile.new("original", dir)
          def self.forget(file) = 50.times { [file.dup, file.clone] }
          3.times { forget(file); GC.start }
          File.exist?(file.path).tap { file.close! }
        end
        assert_true(kept.take)
      end
    RUBY
  end

  def test_tempfile_at_the_end_and_in_a_child
    assert_ractors(TEMPFILES + <<~'RUBY')
      with_folder do |dir|
        reader, writer = IO.pipe
        pid = fork do
          path = Ractor.new(dir) { |dir| file = Tempfile.new("a", dir); Ractor.yield(file.path.dup); sleep }.take
          Process.wait(fork { GC.start })
          writer << File.exist?(path)
        end
        writer.close
        Process.wait(pid)
        assert_equal("true", reader.read)
        assert_equal([], Dir.children(dir))
      end
    RUBY
  end

  # For +code+: loads a gem that is bundled with Ruby.
  def require_bundled(name)
    libraries = Dir["#{TREE}/.bundle/gems/#{name}-*/lib"]
    assert_equal(1, libraries.size, "#{name} is not in #{TREE}")
    "$LOAD_PATH.unshift(#{libraries[0].dump})\nrequire #{name.dump}\n"
  end

  def test_racing_csv
    setup = require_bundled("csv") + <<~RUBY
      require "tempfile"
      file = Tempfile.new
      file.write("A b,c\n1,2020-01-01\n2.5,x\n")
      file.close
      FILE = file.path.dup.freeze
    RUBY
    assert_same_in_ractors(setup, <<~'RUBY')
      [CSV.parse("A b,c\n1,2020-01-01\n", headers: true, header_converters: :symbol, converters: :all).map(&:to_h),
       CSV.parse("1,2.5\n", converters: [:numeric]), CSV.new("1", converters: :numeric).converters, CSV.table(FILE).map(&:to_h),
       CSV.foreach(FILE, headers: true).map(&:to_h), CSV.read(FILE, converters: :date), CSV.generate { |csv| csv << [1, "a,b"] }]
    RUBY
    assert_ractors(setup + <<~'RUBY')
      CSV::Converters[:twice] = nil.instance_eval { ->(field) { field * 2 } }
      assert_equal([["11"]], CSV.parse("1", converters: :twice))
      assert_equal([:integer, :float], CSV::Converters[:numeric].map(&:itself))
      assert_false(CSV::Converters[:numeric].frozen?)
      Ractor.make_shareable(CSV::Converters) # as its documentation has it
      assert_equal([["11"]], Ractor.new { CSV.parse("1", converters: :twice) }.take)
    RUBY
  end

  def test_racing_prime
    assert_same_in_ractors(require_bundled("prime"), <<~'RUBY')
      [Prime.each(50).to_a, Prime.prime?(97), Prime.first(10), Prime.prime_division(360), Prime.instance.equal?(Prime.instance),
       Prime::EratosthenesGenerator.new.take(5), Prime::TrialDivisionGenerator.new.take(5), Prime.include?(7)]
    RUBY
  end

  def test_racing_logger
    assert_same_in_ractors('require "logger"; require "tmpdir"', <<~'RUBY')
      Dir.mktmpdir do |folder|
        logger = Logger.new("#{folder}/log", 2, 100, progname: "test")
        5.times { logger.info("text") }
        logger.close
        Dir.children(folder).sort + [File.foreach("#{folder}/log").first[/# Logfile created on .* by (.*)/, 1]]
      end
    RUBY
  end

  # The server is main's.
  def test_racing_resolv
    assert_ractors(<<~'RUBY')
      require "resolv"
      require "socket"
      socket = UDPSocket.new
      socket.bind("127.0.0.1", 0)
      Thread.new do
        loop do
          bytes, from = socket.recvfrom(512)
          question = Resolv::DNS::Message.decode(bytes)
          answer = Resolv::DNS::Message.new(question.id)
          answer.qr = answer.rd = answer.ra = 1
          question.each_question do |name, type|
            answer.add_question(name, type)
            answer.add_answer(name, 60, Resolv::DNS::Resource::IN::A.new("1.2.3.#{name.to_s.size}"))
          end
          socket.send(answer.encode, 0, from[3], from[1])
        end
      end
      def found(port)
        Resolv::DNS.open(nameserver_port: [["127.0.0.1", port]]) do |dns|
          Array.new(20) { |i| dns.getaddress("#{"a" * (i + 1)}.b").to_s } << Resolv.getaddress("127.0.0.1")
        end
      end
      expected = Array.new(20) { |i| "1.2.3.#{i + 3}" } << "127.0.0.1"
      assert_equal(expected, found(socket.addr[1]))
      assert_equal([expected] * 4, Array.new(4) { Ractor.new(socket.addr[1]) { |port| found(port) } }.map(&:take))
    RUBY
  end

  def test_racing_option_parser
    assert_same_in_ractors('require "optparse"; require "optparse/uri"; require "optparse/time"; Size = Class.new', <<~'RUBY')
      into = {}
      parser = OptionParser.new do |options|
        options.on("-v", "--[no-]verbose", "says more")
        options.on("-nN", Integer)
        options.on("--size N", Float)
        options.on("--list A,B", Array)
        options.on("--url URL", URI)
        options.on("--at TIME", Time)
        options.on("--kind KIND", %i[big small])
      end
      rest = parser.parse(%w[a -v -n3 --size 2.5 --list x,y --url http://h/ --at 2020-01-01T00:00:00Z --kind sm b], into: into)
      [rest, into.transform_values(&:to_s), parser.help.include?("says more"), (parser.parse(%w[--size x]) rescue $!.message),
       (parser.parse(%w[--nothing]) rescue $!.class)]
    RUBY
    assert_ractors(<<~'RUBY')
      require "optparse"
      Kind = Class.new
      OptionParser.accept(Kind) { |kind,| "main's #{kind}" }
      parsed = -> { OptionParser.new { |options| options.on("-k", "--kind KIND", Kind) }.parse!(%w[-k x], into: into = {}) && into[:kind] }
      assert_equal("main's x", parsed.call)
      assert_equal(["main's x", "its x"], Ractor.new(&Ractor.make_shareable(nil.instance_exec { proc {
        kind = -> { OptionParser.new { |options| options.on("-k", "--kind KIND", Kind) }.parse!(%w[-k x], into: into = {}) && into[:kind] }
        before = kind.call
        OptionParser.accept(Kind) { |kind,| "its #{kind}" }
        [before, kind.call] } })).take)
      assert_equal("main's x", parsed.call)
    RUBY
  end

  def test_racing_small_libraries
    setup = <<~'RUBY'
      require "rbconfig"; require "pstore"; require "tmpdir"; require "open3"; require "zlib"; require "stringio"; require "openssl"
      require "digest/bubblebabble"; require "logger"
    RUBY
    assert_same_in_ractors(setup, <<~'RUBY')
      aes = OpenSSL::Cipher::AES.new(128, :CBC).encrypt
      aes.key = aes.iv = "k" * 16
      logger = Logger.new(written = StringIO.new, level: :warn, formatter: ->(_, _, _, text) { text })
      logger.info("no")
      logger.level = "info"
      logger.info("yes")
      stored = Dir.mktmpdir do |folder|
        store = PStore.new("#{folder}/store")
        store.transaction { store[:a] = 1 }
        store.transaction(true) { store[:a] }
      end
      [RbConfig::CONFIG["host_os"], RbConfig.ruby, stored, Open3::VERSION, Zlib::VERSION, StringIO::VERSION, OpenSSL::OPENSSL_VERSION,
       aes.update("text") + aes.final, OpenSSL::Cipher::AES256.new("ECB").name, Digest::MD5.bubblebabble("a"), written.string]
    RUBY
  end

  def test_racing_xml
    assert_same_in_ractors(require_bundled("rexml") + 'require "rexml/document"; require "rexml/parsers/pullparser"', <<~'RUBY')
      document = REXML::Document.new("<a b='1'><c>t &amp; &#233;</c><!-- n --><d><![CDATA[x<]]></d></a>")
      document.root.add_element("e", "f" => "<").add_text("x>")
      pull = REXML::Parsers::PullParser.new("<a>x</a>")
      events = []
      events << pull.pull.event_type while pull.has_next?
      [document.to_s, document.root.attributes["b"], document.root.children.map(&:class), events,
       (REXML::Document.new("<a>") rescue $!.class), REXML::Text.unnormalize("&lt;")]
    RUBY
  end

  def test_racing_versions
    assert_same_in_ractors('require "rubygems"', <<~'RUBY')
      [Gem::Version.new("1.10") <=> Gem::Version.new("1.9"), Gem::Version.new("1.2.a").release.to_s, Gem::Version.new("1.2.3").bump.to_s,
       Gem::Version.create("3") >= Gem::Version.new("2.7"), Gem::Dependency.new("a", "~> 1.2").match?("a", "1.3"),
       Gem::Requirement.new(">= 1", "< 3").satisfied_by?(Gem::Version.new("2.1")), Gem::Requirement.default.to_s]
    RUBY
  end

  def test_racing_ripper
    setup = <<~'RUBY'
      require "ripper"
      SOURCE = (%q(class A < B; def x(a, *b, k: 1, &c) = a.map { %w[#{_1} é] << '#{b}' } rescue nil; end) + "\n").*(50).freeze
    RUBY
    assert_same_in_ractors(setup, <<~'RUBY')
      [Ripper.sexp(SOURCE), Ripper.lex(SOURCE).map { |token| [*token[0], token[1], token[2], token[3].to_i] }, Ripper.sexp("1 +"),
       Ripper.tokenize(SOURCE).join == SOURCE, Ripper.slice("a = 1; b", "ident"),
       Ripper.new("x\n__END__\n").then { |parser| [parser.parse.class, parser.lineno] }]
    RUBY
  end
end
