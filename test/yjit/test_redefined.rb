# frozen_string_literal: true
# yjit/test_redefined.rb - yjit/redefined.rs: what is redefined over and over is not compiled over and over.

require "test/unit"
require_relative "assert_compiled"

class TestLockfreeYjitRedefined < Test::Unit::TestCase
  include LockfreeAssertCompiled

  def test_same_as_interpreted
    assert_same_as_interpreted("redefined.rb")
  end

  # +turn+ is compiled in a loop that is entered while it runs, and in a method that is called.
  def assert_compiled_seldom(setup, turn)
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet], <<~RUBY)
      #{setup}
      def loops(n) = n.times { |i| #{turn} }
      def calls(i) = (#{turn})
      loops(1_000)
      1_000.times { |i| calls(i) }
      before = RubyVM::YJIT.runtime_stats
      loops(1_000)
      1_000.times { |i| calls(i) }
      after = RubyVM::YJIT.runtime_stats
      assert_operator(after[:compiled_block_count] - before[:compiled_block_count], :<, 200)
      assert_operator(after[:side_exit_count] - before[:side_exit_count], :<, 200)
    RUBY
  end

  def test_method
    assert_compiled_seldom("class K; end; O = K.new", "K.define_method(:number) { 1 }; O.number; K.remove_method(:number)")
  end

  def test_super
    assert_compiled_seldom("class K; end; class Sub < K; def number = super; end; O = Sub.new", "K.class_eval { def number = 1 }; O.number")
  end

  def test_initialize
    assert_compiled_seldom("class K; end", "K.class_eval { def initialize(a) = @a = a }; K.new(1)")
  end

  def test_constant
    assert_compiled_seldom("class K; end", "K.const_set(:NUMBER, i); raise unless K::NUMBER == i")
  end

  # Instructions that YJIT cannot have the VM do stay in compiled code when nothing is redefined any more.
  def test_no_side_exits_afterwards
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet], <<~'RUBY')
      class K; end
      O = K.new
      def calls = [O != 1, "#{O}", O.number]
      100.times do |i|
        K.class_eval { def to_s = "k"; def !=(other) = other; def number = 1 }
        5.times { calls }
      end
      before = RubyVM::YJIT.runtime_stats(:side_exit_count)
      1_000.times { assert_equal([1, "k", 1], calls) }
      assert_operator(RubyVM::YJIT.runtime_stats(:side_exit_count) - before, :<, 100)
    RUBY
  end

  # What is redefined now and then, as when a program is loaded, is compiled as before.
  def test_seldom
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet], <<~'RUBY')
      class K; end
      O = K.new
      def calls = O.number
      50.times { |i| K.define_method(:number) { i }; 10.times { calls }; sleep 0.11 if i % 25 == 24 }
      assert_equal(0, RubyVM::YJIT.runtime_stats(:send_redefined_often))
      50.times { |i| K.define_method(:number) { i }; 10.times { calls } }
      assert_operator(RubyVM::YJIT.runtime_stats(:send_redefined_often), :>, 0)
    RUBY
  end
end
