# frozen_string_literal: true
# test_bigdecimal_free_list.rb - the numbers that bigdecimal's dtoa.c keeps for its next use, which Ractors take at once.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeBigdecimalFreeList < Test::Unit::TestCase
  include LockfreeAssertRactors

  BUILD = File.dirname(EnvUtil.rubybin)
  LIBRARIES = Dir["#{BUILD}/.bundle/extensions/*/*/bigdecimal-*"] + Dir["#{TREE}/.bundle/gems/bigdecimal-*/lib"]

  # Stock: a crash in malloc or free, or other digits.
  def test_racing_to_d
    assert_equal(2, LIBRARIES.size, "bigdecimal is not built in #{BUILD}")
    assert_ractors(<<~RUBY)
      $LOAD_PATH.unshift(*#{LIBRARIES})
      require "bigdecimal"
      require "bigdecimal/util"
      wrong = (1..4).map { |i| Ractor.new(i) { |i|
        100_000.times.count { |k| f = 2.5 + (i + k) % 7; f.to_d.to_f != f }
      } }.sum(&:take)
      assert_equal(0, wrong)
    RUBY
  end
end
