# frozen_string_literal: true
# vm/test_call_keywords.rb - vm/call_keywords.h: Ractors that make call infos of one site's keywords.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVmCallKeywords < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Methods of two names share the site: each call finds the call info of its name.
  def test_racing_super_and_super
    assert_ractors(<<~'RUBY')
      class Base; def one(k:, z: 1) = [k, z]; def two(k:, z: 1) = [z, k]; end
      class Child < Base
        body = Ractor.make_shareable(class_eval { proc { |number| super(k: number, z: 2) } })
        define_method(:one, &body)
        define_method(:two, &body)
      end
      ractors = Array.new(8) do
        Ractor.new { child = Child.new; 80_000.times.all? { child.one(5) == [5, 2] && child.two(5) == [2, 5] } }
      end
      assert_equal([true] * 8, ractors.map(&:take))
    RUBY
  end

  def test_racing_forward_and_forward
    assert_ractors(<<~'RUBY')
      class Base; def number(a, k: 1, z: 2) = [a, k, z]; end
      class Child < Base
        def one(a, ...) = number(a, ...)
        def two(...) = one(1, ...)
      end
      ractors = Array.new(8) do
        Ractor.new do
          child = Child.new
          60_000.times.all? { child.one(1, z: 7) == [1, 1, 7] && child.two(k: 3) == [1, 3, 2] && child.send(:one, 1, k: 3) == [1, 3, 2] }
        end
      end
      assert_equal([true] * 8, ractors.map(&:take))
    RUBY
  end
end
