# frozen_string_literal: true
# yjit/test_extended_string.rb - yjit_guard_extended_string.patch: a literal that is extended before its method is called.

require "test/unit"

class TestLockfreeYjitExtendedString < Test::Unit::TestCase
  def test_literal_that_is_extended_before_the_call
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=5], <<~'RUBY')
      def (+"").x = 1 # the process has seen one
      module Marked
        def +(other) = "M#{super}"
        def <<(other) = super("<#{other}>")
        def ==(other) = :equal
        def empty? = :empty
      end
      class Calls
        def extended(string, marked) = (string.extend(Marked) if marked; "x")
        def plus(marked) = (string = "l#{1}"; string + extended(string, marked))
        def append(marked) = (string = +""; string << extended(string, marked))
        def equal(marked) = (string = "l#{1}"; string == extended(string, marked))
        def empty(marked) = (string = +""; extended(string, marked); string.empty?)
        def all(marked) = [plus(marked), append(marked), equal(marked), empty(marked)]
      end
      plain, marked = ["l1x", "x", false, true], ["Ml1x", "<x>", :equal, :empty]
      check = lambda do
        calls = Calls.new
        50.times { assert_equal(plain, calls.all(false)) }
        3.times { assert_equal(marked, calls.all(true)) }
        assert_equal(plain, calls.all(false))
      end
      check.call
      found = Array.new(4) { Ractor.new { Array.new(50) { Calls.new.all(false) } << Calls.new.all(true) } }.map(&:take)
      assert_equal([[plain] * 50 << marked] * 4, found)
    RUBY
  end
end
