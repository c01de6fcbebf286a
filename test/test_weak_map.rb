# frozen_string_literal: true
# test_weak_map.rb - weak_map.h: what has died in a WeakMap of a Ractor.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeWeakMap < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_add_and_die
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do
        Ractor.new do
          map = ObjectSpace::WeakMap.new
          kept = Array.new(500) { |i| [Object.new, "v#{i}"].tap { |key, value| map[key] = value } }
          60_000.times do |i|
            key = i % 3 == 0 ? "k#{i}" : Object.new
            map[key] = i % 2 == 0 ? i : "dies#{i}"
            raise "lost" if i % 2 == 0 && map[key] != i
            GC.start(full_mark: false) if i % 7_000 == 0
          end
          GC.start
          map[kept] = true
          [kept.all? { |key, value| map[key].equal?(value) }, map.size < 20_000, map.key?(kept)]
        end
      end
      assert_equal([[true] * 3] * 4, ractors.map(&:take))
    RUBY
  end

  # A pair that is added while the map is gone through takes dead ones out beneath it.
  def test_add_while_it_is_gone_through
    assert_ractors(<<~'RUBY')
      map = ObjectSpace::WeakMap.new
      kept = Array.new(300) { |i| Object.new.tap { |key| map[key] = i } }
      3_000.times { |i| map[Object.new] = i }
      seen = []
      added = []
      map.each do |key, value|
        seen << value if kept.include?(key)
        added.size < 500 or next
        added << Object.new
        map[added.last] = -1
        GC.start if added.size % 50 == 1
      end
      assert_equal((0...300).to_a, seen.sort)
      assert_equal((0...300).to_a, kept.map { |key| map[key] })
    RUBY
  end

  # Most live: the map is not gone through at each collection, and what dies goes all the same.
  def test_few_die
    assert_ractors(<<~'RUBY')
      map = ObjectSpace::WeakMap.new
      kept = Array.new(5_000) { |i| Object.new.tap { |key| map[key] = i } }
      100.times do |i|
        map[Object.new] = i
        GC.start(full_mark: false)
      end
      GC.start
      GC.start
      assert_operator(map.size, :<, 5_050)
      assert_equal((0...5_000).to_a, kept.map { |key| map[key] })
    RUBY
  end
end
