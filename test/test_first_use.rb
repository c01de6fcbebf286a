# frozen_string_literal: true
# test_first_use.rb - first_use.h, vm/block_users.h, and what else of test/globals was wrong: statics and lists that
# Ractors share.

require "test/unit"

class TestLockfreeFirstUse < Test::Unit::TestCase
  # Lets Ractors go at one time; what each returns.
  RACE = <<~'RUBY'
    def race(count = 4, &block)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.03
      Array.new(count) { |i| Ractor.new(start, i, &block) }.map(&:take)
    end

    def wait(start) = (nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < start)
  RUBY

  def assert_race(code, times: 1)
    times.times { assert_separately(%w[-W0 --disable-gems], RACE + code, timeout: 60) }
  end

  # A first use comes once in a process.
  def test_racing_first_gc_stat_and_gc_stat
    assert_race(<<~'RUBY', times: 20)
      assert_equal([true] * 4, race { |start, _| wait(start); GC.stat.keys.all?(Symbol) && GC.stat(:count).is_a?(Integer) })
    RUBY
  end

  def test_racing_first_latest_gc_info_and_latest_gc_info
    assert_race(<<~'RUBY', times: 4)
      assert_equal([true] * 4, race { |start, _| wait(start); GC.latest_gc_info.keys.all?(Symbol) })
    RUBY
  end

  def test_racing_first_uses
    assert_race(<<~'RUBY', times: 4)
      class Part < String; end
      class Copied
        def initialize_clone(from, freeze: 1) = (raise "no keyword" if freeze == 1; super(from, freeze: freeze))
      end
      NUMBER = (1 << 4000).freeze
      assert_equal([true] * 4, race { |start, _|
        iseq = RubyVM::InstructionSequence.compile("1 + 1")
        packed, copied = ["a" * 300].pack("m0"), Copied.new
        wait(start)
        Part.new("a", capacity: 10) == "a" && copied.clone(freeze: true).frozen? &&
          packed.unpack1("m0") == "a" * 300 && NUMBER.to_s(7).to_i(7) == NUMBER &&
          iseq.to_a.last.grep(Array).all? { |name,| name.size > 2 } && iseq.to_a[9] == :top &&
          "e\u0301".grapheme_clusters.size == 1 && Time.at(1_500_000_000).utc.sec == 0
      })
    RUBY
  end

  def test_base64_of_all_bytes
    bytes = (0..255).map(&:chr).join.b
    assert_equal(bytes, [bytes].pack("m").unpack1("m"))
    assert_equal("\xfb\xff".b, "+/8=".unpack1("m0"))
    ["=AAA", "A-AA", "\0AAA", "A\xffAA"].each { |bad| assert_raise(ArgumentError) { bad.unpack1("m0") } }
  end

  def test_racing_warning_set_and_set
    assert_race(<<~'RUBY')
      assert_equal([0, 0], race(2) { |start, i|
        category = %i[deprecated performance][i]
        wait(start)
        800_000.times.count { |n| Warning[category] = n.odd?; Warning[category] != n.odd? }
      })
    RUBY
  end

  def test_racing_abort_on_exception_and_report_on_exception
    assert_race(<<~'RUBY')
      assert_equal([0, 0], race(2) { |start, i|
        get, set = [%i[abort_on_exception abort_on_exception=], %i[report_on_exception report_on_exception=]][i]
        wait(start)
        800_000.times.count { |n| Thread.send(set, n.odd?); Thread.send(get) != n.odd? }
      })
    RUBY
  end

  def test_racing_default_encoding_and_find
    assert_race(<<~'RUBY')
      ractors = Array.new(3) { Ractor.new { 300_000.times { Encoding.find("utf-8"); Encoding.default_external } } }
      60_000.times do |i|
        external = [Encoding::UTF_8, Encoding::US_ASCII][i % 2]
        Encoding.default_internal = [nil, Encoding::UTF_8][i % 2]
        Encoding.default_external = external
        assert_same(external, Encoding.default_external)
      end
      ractors.each(&:take)
    RUBY
  end

  def test_default_internal_keeps_its_name
    assert_separately(%w[-W0 --disable-gems], <<~'RUBY')
      names = Encoding.name_list
      Encoding.default_internal = "euc-jp"
      assert_equal([Encoding::EUC_JP, Encoding::EUC_JP], [Encoding.default_internal, Encoding.find("internal")])
      Encoding.default_internal = nil
      assert_equal([nil, nil], [Encoding.default_internal, Encoding.find("internal")])
      assert_equal(names.sort, Encoding.name_list.sort)
    RUBY
  end

  def test_racing_new_global_variable_and_stdout
    assert_race(<<~'RUBY', times: 3)
      ractors = Array.new(3) { Ractor.new { 400_000.times { $stderr; $stdout; $~ }; true } }
      30_000.times { |i| eval("$global#{i} = 1") }
      assert_equal([true] * 3, ractors.map(&:take))
      Thread.report_on_exception = false
      assert_raise(Ractor::RemoteError) { Ractor.new { $global1 }.take }
    RUBY
  end

  # English makes such aliases.
  def test_racing_alias_of_global_variable_and_its_use
    assert_race(<<~'RUBY', times: 1)
      alias $before $stderr
      ractors = Array.new(3) { Ractor.new { 100_000.times { $before; $stdout }; Ractor.receive; eval("$after99").equal?($stderr) } }
      100.times { |i| eval("alias $after#{i} $stderr") }
      ractors.each { |ractor| ractor.send(:made) }
      assert_equal([true] * 3, ractors.map(&:take))
      $mine = 1
      alias $before $mine
      Thread.report_on_exception = false
      assert_raise(Ractor::RemoteError) { Ractor.new { $before }.take }
    RUBY
  end

  # What Ractors look up stays as it is, when main makes the name another alias.
  def test_racing_alias_again_and_use
    assert_race(<<~'RUBY', times: 1)
      $mine = 1
      alias $before $stderr
      ractors = Array.new(3) { Ractor.new { 100_000.times.count { [$stderr, nil].include?($before) rescue true } } }
      20_000.times { |i| eval(i.odd? ? "alias $before $mine" : "alias $before $stderr") }
      assert_equal([100_000] * 3, ractors.map(&:take))
    RUBY
  end

  # One block at a time; who enters comes from where all are, and goes back before another one enters.
  def test_racing_chdir_and_chdir
    assert_race(<<~'RUBY')
      require "tmpdir"
      Dir.mktmpdir do |home|
        home = File.realpath(home)
        paths = Array.new(4) { |i| "#{home}/#{i}".tap { |path| Dir.mkdir(path) } }
        Dir.chdir(home)
        changers = paths.map do |path|
          Ractor.new(path) do |path|
            20_000.times.all? do
              Dir.chdir(path) { Dir.pwd == path }
            rescue RuntimeError # conflicting
              true
            end
          end
        end
        assert_equal([true] * 4, changers.map(&:take))
        assert_equal(home, Dir.pwd)
        assert_raise(Errno::ENOENT) { Dir.chdir("#{home}/none") {} }
        assert_equal([home, paths[0], home], [Dir.pwd, Dir.chdir(paths[0]) { Dir.pwd }, Dir.pwd])
        Dir.open(paths[1]) { |dir| assert_equal([paths[1], home], [dir.chdir { Dir.pwd }, Dir.pwd]) }
        Dir.mkdir("#{home}/gone")
        Dir.chdir("#{home}/gone")
        Dir.rmdir("#{home}/gone")
        assert_raise(Errno::ENOENT) { Dir.chdir(home) { flunk } }
        Dir.chdir(home)
        assert_equal(home, Dir.chdir(paths[2]) { Dir.chdir(home) { Dir.pwd } })
      end
    RUBY
  end

  def test_trap_of_what_main_traps
    assert_race(<<~'RUBY')
      trap("USR1") {}
      assert_equal([nil, "IGNORE"], Ractor.new { [trap("USR1", "IGNORE"), trap("USR1", "DEFAULT")] }.take)
      trap("USR1", handler = proc {})
      assert_same(handler, trap("USR1", "DEFAULT"))
    RUBY
  end

  def test_racing_eval_of_yield_and_eval_of_yield
    assert_race(<<~'RUBY', times: 3)
      assert_equal([true] * 4, race { |start, i| wait(start); 300.times { |n| eval("def m#{i}_#{n} = yield") }; true })
    RUBY
  end

  def test_racing_at_exit_and_at_exit
    assert_in_out_err(%w[-W0 --disable-gems], RACE + <<~'RUBY', ["40000"], [], timeout: 60)
      $called = 0
      at_exit { p $called }
      race { |start, _| wait(start); 10_000.times { at_exit { $called += 1 } } }
    RUBY
  end

  # Stock crashes: the second one reads what the first is still to fill.
  def test_racing_disasm_and_disasm
    assert_race(<<~'RUBY', times: 3)
      MODULES = Array.new(2000) { Module.new { module_eval("def self.x(a) = [a + 1, a * 2, a.foo(1, 2, 3)]") } }.freeze
      lines = race do |start, _|
        MODULES.each_with_index.map do |m, i|
          wait(start + i / 5 * 0.0015)
          RubyVM::InstructionSequence.of(m.method(:x)).disasm.lines.size
        end.uniq
      end
      assert_equal([1] * 4, lines.map(&:size))
      assert_equal(1, lines.uniq.size)
    RUBY
  end

  def test_racing_once_and_once
    assert_race(<<~'RUBY', times: 3)
      ONCE = Module.new { module_eval((0...300).map { |i| "def self.m#{i}(x) = /\#{x}/o" }.join("\n")) }
      seen = race do |start, k|
        300.times.map { |i| wait(start + i * 0.0005); ONCE.send("m#{i}", k) }
      end
      assert_equal(0, seen.transpose.count { |regexps| regexps.uniq(&:object_id).size > 1 })
    RUBY
  end

  # An exception leaves it to the next one, in the same Ractor or another.
  def test_once_after_an_exception
    assert_race(<<~'RUBY')
      ONCE = Module.new do
        def self.m(x) = /#{x == 0 ? raise("no") : x}#{m(x + 1) if x == 5}/o
      end
      assert_raise(RuntimeError) { ONCE.m(0) }
      assert_equal("no", Ractor.new { ONCE.m(0) rescue $!.message }.take)
      regexp = ONCE.m(5)
      assert_equal("5(?-mix:6)", regexp.source)
      assert_same(regexp, ONCE.m(0))
      assert_equal(regexp.object_id, Ractor.new { ONCE.m(0).object_id }.take)
    RUBY
  end
end
