# frozen_string_literal: true
# test_sort_objects.rb - sort_objects.h: objects that a collection would move while they are sorted.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeSortObjects < Test::Unit::TestCase
  include LockfreeAssertRactors

  # As many as glibc merges in memory of malloc's, as many as it merges on the stack, and as many as are just enough.
  WORK = <<~'RUBY'
    module Work
      def self.sorted(n, &compact)
        made = ->(k) { [k * 7919 % n, k] }
        objects = ->() { Array.new(n) { |k| Array.new(3); made.(k) } }
        calls = 0
        seldom = -> { compact.call if compact && (calls += 1) % 97 == 0 }
        compared = ->(a, b) { seldom.(); Array.new(2); a[0] <=> b[0] }
        key = Class.new { attr_reader :k; define_method(:initialize) { |k| @k = k }; define_method(:<=>) { |o| seldom.(); @k <=> o.k } }
        [objects.().sort(&compared), objects.().sort_by { |a| key.new(a[0]) }, objects.().min(n - 1, &compared),
         objects.().max_by(n - 1) { |a| key.new(a[0]) }.reverse, objects.().map { |a| key.new(a[0]) }.sort.map { |o| [o.k] },
         objects.().map { |a| "s#{a[0] + 1000}" }.sort.map { |s| [s[1..].to_i - 1000] }].map { |sorted| sorted.map(&:first) }
      end

      def self.expected(n) = [[*0...n], [*0...n], [*0...n - 1], [*1...n], [*0...n], [*0...n]]
    end
  RUBY

  SIZES = [40, 64, 127, 128, 129, 300].freeze

  def test_compaction_while_comparing
    omit "no compaction" unless GC.respond_to?(:compact)
    assert_ractors(WORK + <<~RUBY)
      #{SIZES}.each do |n|
        assert_equal(Work.expected(n), Work.sorted(n) { GC.compact }, n.to_s)
      end
      GC.auto_compact = true
      #{SIZES}.each { |n| assert_equal(Work.expected(n), Work.sorted(n) { GC.start }, n.to_s) }
    RUBY
  end

  def test_racing_sort_and_compact
    omit "no compaction" unless GC.respond_to?(:compact)
    assert_ractors(WORK + <<~RUBY)
      ractors = 4.times.map { Ractor.new { #{SIZES}.flat_map { |n| 3.times.map { Work.sorted(n) == Work.expected(n) } } } }
      compacting = Thread.new { loop { GC.compact; sleep 0.001 } }
      ractors.each { |ractor| assert_equal([true] * #{3 * SIZES.size}, ractor.take) }
      compacting.kill.join
    RUBY
  end

  def test_what_a_comparison_raises
    assert_ractors(<<~'RUBY')
      1000.times do
        objects = Array.new(200) { |k| [k] }
        assert_raise(ZeroDivisionError) { objects.sort { |a, b| a[0] == 150 ? 1 / 0 : a[0] <=> b[0] } }
        assert_equal(200, objects.size)
      end
      assert_equal((0..500).to_a, (0..500).to_a.shuffle.sort)
      assert_equal(%w[a b c] * 50, (%w[a b c] * 50).shuffle.sort.group_by(&:itself).values.transpose.flatten)
    RUBY
  end
end
