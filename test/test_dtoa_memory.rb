# frozen_string_literal: true
# test_dtoa_memory.rb - dtoa_memory.h: Floats that are printed and parsed in a region of their thread, and beyond it.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeDtoaMemory < Test::Unit::TestCase
  include LockfreeAssertRactors

  FLOATS = <<~'RUBY'
    def floats(seed, count)
      random = Random.new(seed)
      values = [0.0, -0.0, 5e-324, Float::MIN, Float::MAX, Float::EPSILON, 1e23, 9007199254740993.0, 1.0 / 3, 123456789.125e-300]
      count.times { values << [random.bytes(8)].pack("a8").unpack1("D") }
      values.select(&:finite?)
    end

    # What goes wrong: nothing
    def wrong(seed, count)
      floats(seed, count).reject do |value|
        bits = [value].pack("D")
        long = "%.1100f" % value # all its digits; more than the region has room for
        [value.to_s, "%.17g" % value, long, long + "0" * 900].all? { |text| [Float(text)].pack("D") == bits } && Float(value.round(3).to_s) == value.round(3)
      end
    end
  RUBY

  def test_round_trips
    assert_separately(%w[-W0 --disable-gems], FLOATS + "assert_equal([], wrong(1, 3000))", timeout: 60)
  end

  # The digits, against those that integers give; of smaller Floats upstream prints the first thousand only.
  def test_digits
    assert_separately(%w[-W0 --disable-gems], FLOATS + <<~'RUBY', timeout: 60)
      floats(2, 500).each do |value|
        next if value.abs < 1e-250
        exact = value.to_r
        scaled = (exact.abs * 10**1100).to_i
        digits = scaled.to_s.rjust(1101, "0").insert(-1101, ".")
        assert_equal((value < 0 || 1 / value < 0 ? "-" : "") + digits, "%.1100f" % value)
      end
    RUBY
  end

  def test_racing_threads_and_ractors
    assert_ractors(FLOATS + <<~'RUBY')
      ractors = Array.new(4) { |i| Ractor.new(i) { |i| 3.times.map { |k| Thread.new { wrong(10 * i + k, 300) } }.flat_map(&:value) } }
      assert_equal([[]] * 4, ractors.map(&:take))
    RUBY
  end

  # What is no Float is found out with numbers in hand.
  def test_errors_lose_nothing
    assert_separately(%w[-W0 --disable-gems], FLOATS + <<~'RUBY', timeout: 60)
      texts = ["1e", "1.5x", "1_", "1__0.0", "0x1p", "1." + "3" * 2000 + "z", "9" * 400]
      20_000.times { |i| Float(texts[i % texts.size], exception: false) }
      assert_equal([], wrong(3, 100))
    RUBY
  end
end
