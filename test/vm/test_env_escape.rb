# frozen_string_literal: true
# vm/test_env_escape.rb - vm/env_escape.h: frames whose variables go to the heap, while YJIT compiles their method.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVMEnvEscape < Test::Unit::TestCase
  def assert_escapes(code, *options)
    omit("no YJIT") unless defined?(RubyVM::YJIT)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit] + options, code, timeout: 100)
  end

  # Each round has a method that one Ractor is about to compile as the other's frames escape for the first time.
  def test_racing_escape_and_compile
    [%w[--yjit-call-threshold=2], %w[--yjit-call-threshold=30], []].each { |options| assert_escapes(<<~'RUBY', *options) }
      ROUNDS = 300
      ROUNDS.times do |n|
        eval("def escapes_#{n}(at, turn)
          x = turn
          set = binding.method(:local_variable_set) if turn == at
          x += 1
          set&.call(:x, -turn)
          x
        end")
      end
      ractors = Array.new(3) do |r|
        Ractor.new(r) do |r|
          ROUNDS.times.flat_map do |n|
            at = [20, 31, 33][r] + n % 15
            (1..80).reject { |turn| __send__("escapes_#{n}", at, turn) == (turn == at ? -turn : turn + 1) }.map { |turn| [n, r, at, turn] }
          end
        end
      end
      assert_equal([], ractors.flat_map(&:take))
    RUBY
  end

  # In compiled code as before it is, and in what is evaluated once.
  def test_escapes_in_one_thread
    assert_escapes(<<~'RUBY', "--yjit-call-threshold=5")
      def kept(flag)
        x = 1
        later = -> { x += 1 } if flag
        x += 10
        later&.call
        x
      end
      assert_equal([11] * 20 + [12] + [11] * 20, Array.new(41) { |i| kept(i == 20) })
      assert_equal([12] * 50, Array.new(50) { |i| eval("x = 1; -> { x += 1 }.tap { x += 10 }.call") })
      made = eval("y = 0; -> { y += 1 }")
      assert_equal((1..50).to_a, Array.new(50) { made.call })
    RUBY
  end
end
