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
end
