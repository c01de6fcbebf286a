# frozen_string_literal: true
# test_page_back.rb - gc/page_back.h: the pages of a Ractor that ends go to the next one.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCPageBack < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Stock, and ours before: a collection for each 8 to 16 of them.
  def test_ractors_that_end_leave_their_pages_to_the_next
    assert_ractors(<<~'RUBY')
      100.times { Ractor.new { 1 }.take }
      before = GC.count
      2_000.times { Ractor.new { 1 }.take }
      assert_operator(GC.count - before, :<, 40)
    RUBY
  end

  # A heap with many free slots is no reason not to collect: dead Ractors have stacks.
  def test_ractors_that_end_do_not_pile_up
    assert_ractors(<<~'RUBY')
      def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
      Array.new(300_000) { Object.new }.clear
      GC.start
      100.times { Ractor.new { deep(500) }.take }
      GC.start
      before = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i
      highest = Array.new(10) { 200.times { Ractor.new { deep(500) }.take }; File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i }.max
      assert_operator(highest - before, :<, 60_000, "kB")
    RUBY
  end

  def test_heap_is_consistent_after_pages_were_given_back
    assert_ractors(<<~'RUBY')
      60.times do |i|
        [3, 40, 700].map { |n| Ractor.new(n + i) { |n| Array.new(n) { |k| [k, "s" * (k % 300), { k => k }] }.size } }.each(&:take)
        GC.start if i % 20 == 7
        GC.stat if i % 3 == 0
        GC.verify_internal_consistency
      end
    RUBY
  end

  def test_racing_end_and_allocate
    assert_ractors(<<~'RUBY')
      sums = Array.new(4) do |r|
        Ractor.new(r) do |r|
          100.times.sum { |i| Ractor.new(r, i) { |r, i| Array.new(50) { |k| "#{r} #{i} #{k}" }.uniq.size }.take }
        end
      end
      assert_equal([5_000] * 4, sums.map(&:take))
      GC.verify_internal_consistency
    RUBY
  end
end
