# frozen_string_literal: true
# gc/test_malloc_cache.rb - gc/malloc_cache.h: small blocks that a thread keeps.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCMallocCache < Test::Unit::TestCase
  include LockfreeAssertRactors

  # A thread that sweeps keeps 100 kB and more; it would be 30 MB.
  def test_threads_that_end_keep_nothing
    omit "no /proc/self/status" unless File.readable?("/proc/self/status")
    assert_ractors(<<~'RUBY')
      def resident = File.read("/proc/self/status")[/^VmRSS:\s+(\d+)/, 1].to_i
      Ractor.new {}.take
      turn = proc do
        Thread.new do
          3_000.times { { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9 } }
          GC.start
        end.join
      end
      30.times(&turn)
      before = resident
      300.times(&turn)
      assert_operator(resident - before, :<, 10_000)
    RUBY
  end

  # Each size, around its bounds, and what is grown from it: no two have the same block.
  def test_racing_make_and_sweep
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do |n|
        Ractor.new(n) do |n|
          kept = Array.new(200)
          20_000.times do |i|
            size = i % 40
            hash = {}
            size.times { |k| hash[k] = n } # one table after another
            kept[i % 200] = [hash, hash.dup, size] if i % 3 == 0
            raise "hash" unless hash.values == [n] * size && hash.keys == [*0...size]
            GC.start if i % 5_000 == n * 100
          end
          kept.compact.all? { |hash, copy, size| hash == copy && copy.keys == [*0...size] }
        end
      end
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end

  def test_fork
    assert_ractors(<<~'RUBY')
      module Work
        def self.hashes = Array.new(5_000) { |i| { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: i } }.sum { |hash| hash[:i] }
      end
      Array.new(3) { Ractor.new { Work.hashes } }.each(&:take)
      pid = fork do
        GC.start
        exit!(Work.hashes == Ractor.new { Work.hashes }.take)
      end
      assert_predicate(Process.wait2(pid)[1], :success?)
    RUBY
  end
end
