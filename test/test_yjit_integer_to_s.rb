# frozen_string_literal: true
# test_yjit_integer_to_s.rb - yjit_integer_to_s.rs: numbers and others in interpolated strings, compiled.

require "test/unit"

class TestLockfreeYjitIntegerToS < Test::Unit::TestCase
  def test_interpolation
    omit "YJIT is not built in" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2], <<~'RUBY')
      def show(value) = "<#{value}>"
      values = [0, 9, 10, -5, 2**40, 2**70, nil, true, :name, "text", 1.5]
      shown = %w[<0> <9> <10> <-5> <1099511627776> <1180591620717411303424> <> <true> <name> <text> <1.5>]
      5.times { assert_equal(shown, values.map { |value| show(value) }) }
      20.times { |i| assert_equal("<" + i.to_s + ">", show(i)) }
      GC.stress = true
      assert_equal("<123456>", show(123456))
      GC.stress = false

      class Integer; def to_s(*) = "mine"; end
      assert_equal(["<mine>", "<mine>", "<text>"], [show(7), show(2**70), show("text")])
    RUBY
  end
end
