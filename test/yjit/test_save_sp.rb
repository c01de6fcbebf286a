# frozen_string_literal: true
# yjit/test_save_sp.rb - what compiled code has on the stack while it waits for the VM lock, and others collect.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeYJITSaveSP < Test::Unit::TestCase
  include LockfreeAssertRactors

  def assert_whole(code)
    assert_ractors(<<~RUBY)
      def whole(*list) = list
      LIST = Ractor.make_shareable(%w[a b c d e f g h])
      ractors = Array.new(4) do
        Ractor.new { Array.new(50_000) { #{code} }.reject { |list| list == LIST }.first }
      end
      assert_equal([nil] * 4, ractors.map(&:take))
    RUBY
  end

  def test_racing_send_by_string_and_gc
    assert_whole('__send__("whole", "a", "b", "c", "d", "e", "f", "g", "h")')
  end

  def test_racing_interpolated_symbol_and_gc
    assert_whole('y = :h; ["a", "b", "c", "d", "e", "f", "g", "#{y}"]')
  end
end
