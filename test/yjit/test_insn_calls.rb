# frozen_string_literal: true
# yjit/test_insn_calls.rb - yjit/insn_calls.rs: what instructions give that compiled code has the VM do.

require "test/unit"
require_relative "assert_compiled"

class TestLockfreeYjitInsnCalls < Test::Unit::TestCase
  include LockfreeAssertCompiled

  def test_same_as_interpreted
    assert_same_as_interpreted("insn_calls.rb")
  end

  def test_goes_on_in_compiled_code
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet], <<~'RUBY')
      def take(list, default, hash)
        a, *b = list
        *c, d = list
        hash["name"] = d
        [a, b, c, d, default["name"], ENV["HOME"], hash["name"]]
      end
      arguments = [[1, 2, 3], Hash.new { |_, key| key }, {}]
      40.times { take(*arguments) }
      before = RubyVM::YJIT.runtime_stats
      1000.times { take(*arguments) }
      exits = RubyVM::YJIT.runtime_stats.sum { |name, n| name.start_with?("exit_") || name == :side_exit_count ? n - before[name] : 0 }
      assert_operator(exits, :<, 10)
    RUBY
  end

  # A method in Ruby is called as the interpreter calls it: recursion through it does not use up the machine's stack.
  def test_depth_of_recursion
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2], <<~'RUBY')
      class Deep
        def initialize(n) = @n = n
        def [](key) = @n == 0 ? 0 : deeper(Deep.new(@n - 1))
        def deeper(other) = 1 + other["key"]
        def []=(key, value); deeper_by_setting(Deep.new(@n - 1)) if @n > 0; end
        def deeper_by_setting(other) = (other["key"] = 1)
      end
      20.times { Deep.new(3)["key"]; Deep.new(3)["key"] = 1 }
      assert_equal(4501, Thread.new { Deep.new(0).deeper(Deep.new(4500)) }.value)
      assert_equal(1, Thread.new { Deep.new(0).deeper_by_setting(Deep.new(4500)) }.value)
    RUBY
  end

  def test_racing_to_ary_and_code
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2], <<~'RUBY', timeout: 60)
      class List
        def to_ary = [1, 2, 3]
        def [](key) = key.size
      end
      def parts(list) = (a, *b = list; [a, b, list["name"]])
      takers = 4.times.map { Ractor.new { 60_000.times.all? { parts(List.new) == [1, [2, 3], 4] } } }
      changer = Ractor.new do
        300.times { |i| List.class_eval(i.odd? ? "def to_ary = [1, 2, 3]" : "def [](key) = key.size") }
        :done
      end
      assert_equal([true] * 4 + [:done], [*takers, changer].map(&:take))
    RUBY
  end
end
