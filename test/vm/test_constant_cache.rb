# frozen_string_literal: true
# vm/test_constant_cache.rb - vm/constant_cache.h: constants in Ractors, interpreted and compiled.

require "test/unit"

class TestLockfreeVmConstantCache < Test::Unit::TestCase
  YJIT = defined?(RubyVM::YJIT.enable) ? [[], %w[--yjit --yjit-call-threshold=2]] : [[]]

  def assert_constants(code)
    YJIT.each { |options| assert_separately(%w[-W:no-experimental --disable-gems] + options, "$VERBOSE = nil\n" + code, timeout: 60) }
  end

  def test_shareable_in_ractors
    assert_constants(<<~'RUBY')
      module Mod
        NUMBER = 1
        LIST = Ractor.make_shareable([1, ["two"]])
        KLASS = String
        def self.all = [NUMBER, LIST, KLASS, Mod::NUMBER]
      end
      2.times { Ractor.new { 5.times { Mod.all }; Mod.all }.take.then { |all| assert_equal([1, [1, ["two"]], String, 1], all) } }
      assert_equal([1, [1, ["two"]], String, 1], Mod.all)
    RUBY
  end

  def test_unshareable_in_ractors
    assert_constants(<<~'RUBY')
      module Mod
        LIST = [+"a"]
        def self.list = LIST
      end
      5.times { assert_equal(["a"], Mod.list) }
      messages = Ractor.new { 5.times.map { begin; Mod.list; rescue Ractor::IsolationError => e; e.message; end } }.take
      assert_equal(["can not access non-shareable objects in constant Mod::LIST by non-main ractor."] * 5, messages)
      assert_equal(["a"], Mod.list)
    RUBY
  end

  # What is loaded between fills caches of its own.  Upstream, which counts for all, keeps what const_missing answered.
  def test_const_missing_before_an_autoload
    assert_constants(<<~'RUBY')
      require "tempfile"
      Tempfile.create(["lockfree", ".rb"]) do |file|
        file.write("module Mod; [String, Integer].map { Float }; NUMBER = 7; end")
        file.close
        module Mod; end
        Mod.autoload(:NUMBER, file.path)
        module Base
          @asked = 0
          def self.const_missing(name) = (@asked += 1) && Mod
          def self.number = Nowhere::NUMBER
          def self.asked = @asked
        end
        5.times { assert_equal(7, Base.number) }
        assert_equal(5, Base.asked)
      end
    RUBY
  end

  def test_set_again_while_ractors_read
    assert_constants(<<~'RUBY')
      module Mod
        LIMIT = 0
        STOP = false
        def self.limit = LIMIT
        def self.stop = STOP
        class << self
          def scoped = Inner::LIMIT
        end
        module Inner; LIMIT = 7; end
      end
      ractors = 2.times.map do
        Ractor.new do
          seen = []
          loop do
            limit = Mod.limit
            seen << limit if seen.last != limit
            raise "scoped" if Mod.scoped != 7
            break if Mod.stop
          end
          [seen == seen.sort, Mod.limit]
        end
      end
      (1..200).each { |i| Mod.const_set(:LIMIT, i) }
      Mod.const_set(:STOP, true)
      assert_equal([[true, 200]] * 2, ractors.map(&:take))
    RUBY
  end

  # stock crashes here with YJIT: what fills a cache finds it cleared
  def test_filled_while_another_ractor_clears
    assert_constants(<<~'RUBY')
      LIMIT = 0
      STOP = false
      200.times { |i| eval("def limit#{i} = LIMIT") }
      eval("def limits = [#{Array.new(200) { |i| "limit#{i}" }.join(", ")}]")
      ractors = 3.times.map { Ractor.new { limits until STOP; limits.uniq } }
      3000.times { |i| Object.const_set(:LIMIT, i) }
      Object.const_set(:STOP, true)
      ractors.each { |ractor| assert_equal([2999], ractor.take) }
    RUBY
  end

  # constant_read_while_replaced.patch: stock finds false, denies a value, or crashes
  def test_racing_remove_and_get
    assert_constants(<<~'RUBY')
      module Mod; LIMIT = [1].freeze; STOP = false; end
      readers = 2.times.map do
        Ractor.new do
          found = Hash.new(0)
          until Mod::STOP
            found[begin; Mod.const_get(:LIMIT); rescue NameError; :none; end] += 1
          end
          found.keys - [[1], :none]
        end
      end
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 2
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
        1000.times do
          Mod.send(:remove_const, :LIMIT)
          Mod.const_set(:LIMIT, [1].freeze)
        end
      end
      Mod.const_set(:STOP, true)
      assert_equal([[], []], readers.map(&:take))
    RUBY
  end

  # Code compiled while a constant's cache was empty is thrown away when it is filled, other Ractors or not.
  def test_compiled_when_several_ractors_live
    omit "YJIT is not built in" if YJIT.one?
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet], <<~'RUBY')
      module Mod
        LIMIT = [1].freeze
        def self.limit(read) = read ? LIMIT : nil
      end
      other = Ractor.new { Ractor.receive }
      5.times { Mod.limit(false) }
      fills = RubyVM::YJIT.runtime_stats(:invalidate_constant_ic_fill)
      10.times { Mod.limit(true) }
      assert_operator(RubyVM::YJIT.runtime_stats(:invalidate_constant_ic_fill), :>, fills)
      other.send(nil)
    RUBY
  end

  def test_racing_const_missing_and_const_missing
    assert_constants(<<~'RUBY')
      class Base
        def self.const_missing(_) = (Ractor.current[:calls] = Ractor.current[:calls].to_i + 1; :answer)
      end
      class One < Base; end
      class Two < Base; end
      ractors = Array.new(3) { Ractor.new { 20_000.times { [One::NONE, Two::NONE] }; Ractor.current[:calls] } }
      assert_equal([40_000] * 3, ractors.map(&:take))
    RUBY
  end
end
