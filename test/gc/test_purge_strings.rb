# frozen_string_literal: true
# gc/test_purge_strings.rb - gc/purge_strings.h: what is dead leaves its table in minor and major collections, moved or not.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCPurgeStrings < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Old, young and dead ones in the same pages; each kind of collection in turn.
  def test_purge_of_young_and_old
    assert_ractors(<<~'RUBY')
      kinds = [[true, true], [false, true], [true, false], [false, false]]
      kept = []
      40.times do |round|
        500.times { |i| "dies #{round} #{i}".dedup; "dies #{round} #{i}".to_sym }
        kept.concat(Array.new(50) { |i| [-"kept #{round} #{i}", "kept #{round} #{i}".to_sym] })
        full_mark, immediate_sweep = kinds[round % 4]
        GC.start(full_mark: full_mark, immediate_sweep: immediate_sweep)
        GC.verify_internal_consistency if round % 5 == 0
        kept = kept.each_slice(2).map(&:first) if round % 10 == 9
        assert_equal([], kept.reject { |s, y| (-s.dup).equal?(s) && s.to_sym.equal?(y) }.first(3))
      end
    RUBY
  end

  # What was old and is referred to no more dies in a major collection alone.
  def test_purge_of_old
    assert_ractors(<<~'RUBY')
      old = Array.new(2000) { |i| "old and dead #{i}".to_sym }
      4.times { GC.start }
      count = -> { Symbol.all_symbols.count { |y| y.name.start_with?("old and dead") } }
      assert_equal(2000, count.call)
      assert_equal(2000, old.size)
      old = nil
      GC.start(full_mark: false)
      assert_operator(count.call, :>, 1500)
      2.times { GC.start }
      assert_operator(count.call, :<, 100)
    RUBY
  end

  def test_purge_of_moved
    omit "no compaction" unless GC.respond_to?(:compact)
    assert_ractors(<<~'RUBY')
      10.times do |round|
        all = Array.new(4000) { |i| [-"moved #{round} #{i}", "moved #{round} #{i}".to_sym] }
        kept = all.each_slice(7).map(&:first)
        all = nil
        GC.start
        GC.compact
        GC.verify_internal_consistency
        assert_equal([], kept.reject { |s, y| (-s.dup).equal?(s) && s.to_sym.equal?(y) && y.name == s }.first(3))
        kept = nil
        GC.start
      end
    RUBY
  end

  # Nothing that a table holds makes a page wait for a step that stops all.  There are as many steps as a heap has pages by the
  # score: of this one 12 in each collection, where what makes it are Strings and Symbols; 5 stops are for other reasons.
  def test_strings_die_while_others_compute
    room = { "RUBY_GC_HEAP_0_INIT_SLOTS" => "400000", "RUBY_GC_HEAP_1_INIT_SLOTS" => "100000" }
    YJIT.each do |options|
      assert_separately([room, "-W:no-experimental", "--disable-gems", *options], <<~'RUBY', ignore_stderr: true, timeout: 60)
        RubyVM::Lockfree.waits_enable
        before = GC.count
        ractors = Array.new(4) { |i| Ractor.new(i) { |i| 300_000.times { |n| "in #{i}: #{n}".dedup; "in #{i}: #{n}".to_sym }; i } }
        assert_equal([0, 1, 2, 3], ractors.map(&:take))
        stops = RubyVM::Lockfree.waits[:ractors].sum { |ractor| ractor[:states][:stopping][:count] }
        collections = GC.count - before
        assert_operator(collections, :>=, 5)
        assert_operator(stops, :<, 8 * collections)
        GC.start
        assert_operator(Symbol.all_symbols.size, :<, 50_000)
      RUBY
    end
  end
end
