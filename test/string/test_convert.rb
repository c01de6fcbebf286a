# frozen_string_literal: true
# string/test_convert.rb - string_convert_then_look.patch: an argument's #to_int that changes the String.

require "test/unit"

class TestLockfreeStringConvert < Test::Unit::TestCase
  # It wrote behind the String.
  def test_setbyte_of_a_string_that_is_made_shorter
    string = +"a" * 5000
    value = Object.new
    value.define_singleton_method(:to_int) { string.replace("x"); 66 }
    assert_raise(IndexError) { string.setbyte(4000, value) }
    assert_equal("x", string)
    string = +"abc"
    value.define_singleton_method(:to_int) { 66 }
    assert_same(value, string.setbyte(0, value))
    assert_equal("Bbc", string)
  end

  def test_byteslice_converts_in_order
    order = []
    number = ->(n) { Object.new.tap { |o| o.define_singleton_method(:to_int) { order << n; n } } }
    40.times { "abc".byteslice(number[0], number[1]) }
    assert_equal([0, 1] * 40, order)
  end
end
