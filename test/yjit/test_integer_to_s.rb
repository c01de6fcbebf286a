# frozen_string_literal: true
# yjit/test_integer_to_s.rb - yjit/integer_to_s.rs: numbers and others in interpolated strings, compiled.

require "test/unit"

class TestLockfreeYjitIntegerToS < Test::Unit::TestCase
  def assert_compiled(code)
    omit "YJIT is not built in" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2], code)
  end

  def test_interpolation
    assert_compiled(<<~'RUBY')
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

  # The interpreter asks for the builtin function, not for a basic method: an entry that is refined, and Kernel#to_s, are
  # basic as well.
  def test_refined
    assert_compiled(<<~'RUBY')
      show = eval(<<~'SCOPE', TOPLEVEL_BINDING)
        using Module.new { refine(Integer) { def to_s(*) = "refined" } }
        ->(value) { "<#{value}>" }
      SCOPE
      assert_equal(["<refined>"] * 20, Array.new(20) { show.(1) })
    RUBY
  end

  def test_refined_when_compiled
    assert_compiled(<<~'RUBY')
      module Later; end
      show = eval(<<~'SCOPE', TOPLEVEL_BINDING)
        Later.module_eval { refine(Integer) { def unrelated = 1 } }
        using Later
        ->(value) { "<#{value}>" }
      SCOPE
      20.times { assert_equal("<1>", show.(1)) }
      Later.module_eval { refine(Integer) { def to_s(*) = "refined" } }
      20.times { assert_equal("<refined>", show.(1)) }
    RUBY
  end

  def test_removed
    assert_compiled(<<~'RUBY')
      def show(value) = "<#{value}>"
      20.times { show(1) }
      Integer.send(:remove_method, :to_s)
      10.times { assert_match(/\A<#<Integer.*>>\z/, show(1)) }
      module Kernel; def to_s = "kernel"; end
      10.times { assert_equal("<kernel>", show(1)) }
    RUBY
  end

  def test_prepended_and_aliased
    assert_compiled(<<~'RUBY')
      def show(value) = "<#{value}>"
      20.times { show(1) }
      class Integer; alias to_s hash; end
      10.times { assert_match(/\A<#<Integer.*>>\z/, show(1)) } # no String: any_to_s
      class Integer; alias to_s inspect; end
      10.times { assert_equal("<1>", show(1)) }
      Integer.prepend(Module.new { def to_s(*) = "before" })
      10.times { assert_equal("<before>", show(1)) }
    RUBY
  end
end
