# frozen_string_literal: true
# vm/test_catch_stack.rb - vm/catch_stack.h: what lies on the stack where an exception is caught.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVMCatchStack < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Leaves freed objects where frames `n` calls deeper have their stack.
  LEFT_OVER = <<~'RUBY'
    def leave = eval("[#{(["Object.new"] * 300).join(", ")}].size")
    def at(n, &block) = n == 0 ? block.call : at(n - 1, &block)
    $collect = false
    def over_what_is_left(&block)
      100.times { at(20, &block) }
      30.times do |n|
        $collect = false
        leave
        2.times { GC.start }
        $collect = true
        at(n, &block)
      end
      $collect = false
    end
  RUBY

  # Stock with YJIT: "try to mark T_NONE object", each time.
  def test_break_out_of_an_ensure
    assert_ractors(LEFT_OVER + <<~'RUBY')
      over_what_is_left { [1].each { |i| begin; break i * 10; ensure; GC.start if $collect; end } }
    RUBY
  end

  def test_next_and_redo_and_throw_out_of_an_ensure
    assert_ractors(LEFT_OVER + <<~'RUBY')
      over_what_is_left { [1].map { |i| begin; next i * 10; ensure; GC.start if $collect; end } }
      over_what_is_left { catch(:out) { @x = begin; throw :out, 1; ensure; GC.start if $collect; end } }
      over_what_is_left { [1].each { |i| @x = [i, begin; break i * 10 if i; ensure; GC.start if $collect; end] } }
      over_what_is_left { n = 0; [1].each { |i| @x = begin; n += 1; redo if n < 3; i; ensure; GC.start if $collect; end } }
    RUBY
  end

  # What lies below the part that is left keeps its value.
  def test_values_below
    assert_ractors(<<~'RUBY')
      def values = [1, :b, "c".to_s, (begin; raise "x"; rescue; 4; ensure; @e = 5; end), [6].each { |i| break i + 1 }]
      def nested = [:a, [1, 2].each { |i| @x = [i, begin; break i * 10 if i; ensure; @e = [i, :e]; end] }, @e]
      100.times do
        assert_equal([1, :b, "c", 4, 7], values)
        assert_equal([:a, 10, [1, :e]], nested)
      end
    RUBY
  end
end
