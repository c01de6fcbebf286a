# frozen_string_literal: true
# gc/test_malloc_count.rb - gc/malloc_count.h: malloc's bytes make the heap collect as often as in stock.

require "test/unit"
require_relative "../minirubies"

class TestLockfreeGCMallocCount < Test::Unit::TestCase
  include LockfreeMinirubies

  # What a miniruby collects in +code+, beside a Ractor that waits.
  def collected(miniruby, code, environment)
    program = "Warning[:experimental] = false; waiting = Ractor.new { Ractor.receive }; before = GC.count; #{code}; puts GC.count - before"
    Integer(IO.popen([environment, miniruby, "--disable-all", "-e", program], &:read))
  end

  def assert_collects_like_stock(code, environment = {})
    assert_in_delta(*[stock, our_miniruby].map { |miniruby| collected(miniruby, code, environment) }, 8)
  end

  def test_many_small_ones = assert_collects_like_stock("1_000_000.times { Array.new(20) }")

  def test_large_ones = assert_collects_like_stock("300.times { Array.new(100_000) }")

  # A realloc tells the bytes, and does not look at the limit.
  def test_small_ones_that_grow
    assert_collects_like_stock('big = "x" * 500_000; 1000.times { s = String.new(capacity: 2000); s << "a"; s << big }')
  end

  # A limit so low that each malloc comes to it.
  def test_a_low_limit
    low = { "RUBY_GC_MALLOC_LIMIT" => "1000", "RUBY_GC_MALLOC_LIMIT_MAX" => "1000" }
    assert_collects_like_stock("100.times { Array.new(1000) }", low)
  end

  # Who asks tells, and looks at the limit later, as long as it asks between any two that are small.
  def test_who_asks_collects
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      Array.new(500_000) { Object.new }.clear
      Ractor.new { sleep }
      GC.start
      before = GC.count
      20_000.times { |i| GC.stat(:malloc_increase_bytes) if ("x" * 7000).size > i % 2 }
      assert_operator(GC.count - before, :>=, 1)
      assert_operator(GC.stat(:malloc_increase_bytes), :<, 40_000_000)
    RUBY
  end

  def test_bytes_that_this_thread_has
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      Ractor.new { }.take
      GC.start
      GC.disable
      before = GC.stat(:malloc_increase_bytes)
      KEPT = Array.new(10) { "x" * 1000 }
      assert_operator(GC.stat(:malloc_increase_bytes) - before, :>=, 10_000)
    RUBY
  end
end
