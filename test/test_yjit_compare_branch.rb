# frozen_string_literal: true
# test_yjit_compare_branch.rb - yjit_compare_branch.rs: branches on comparisons, compiled, against the methods called.

require "test/unit"

class TestLockfreeYjitCompareBranch < Test::Unit::TestCase
  def setup
    omit "no YJIT here" unless defined?(RubyVM::YJIT.enable)
  end

  def assert_compiled(program)
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-loop-threshold=2], program, timeout: 60)
  end

  # Which way is taken first decides how the jumps are laid out.
  def test_each_way_first
    assert_compiled(<<~'RUBY')
      least, most = -2**62, 2**62 - 1
      values = [0, 1, -1, 2, least, most, most + 1, least - 1, 1.5, 2**80]
      %i[< <= > >=].each do |operator|
        ["if", "unless"].each do |branch|
          [[1, 2], [2, 1], [1, 1]].each do |first|
            object = eval(<<~METHOD)
              object = Object.new
              def object.compare(a, b)
                taken = :no
                taken = :yes #{branch} a #{operator} b
                taken
              end
              object
            METHOD
            5.times { object.compare(*first) }
            values.product(values) do |a, b|
              expected = a.public_send(operator, b) == (branch == "if") ? :yes : :no
              assert_equal(expected, object.compare(a, b), "#{branch} #{a} #{operator} #{b}, #{first} first")
            end
          end
        end
      end
    RUBY
  end

  def test_loops
    assert_compiled(<<~'RUBY')
      def up(n) = (i = 0; i += 1 while i < n; i)
      def up_to(n) = (i = 0; i += 1 while i <= n; i)
      def down(n) = (i = n; i -= 1 while i > 0; i)
      def until_not(n) = (i = n; i -= 1 until i <= 0; i)
      def at_least_once(n) = (i = 0; begin i += 1 end while i < n; i)
      4.times { assert_equal([50, 51, 0, 0, 50], [up(50), up_to(50), down(50), until_not(50), at_least_once(50)]) }
      assert_equal([0, 0, -3, -3, 1], [up(-3), up_to(-3), down(-3), until_not(-3), at_least_once(-3)])
      assert_equal([5, 5], [up(4.5), up_to(4.5)])
      assert_equal([60_000] * 3, Array.new(3) { Ractor.new { i = 0; i += 1 while i < 60_000; i } }.map(&:take))
    RUBY
  end

  def test_interrupts_reach_the_loop
    assert_compiled(<<~'RUBY')
      require "timeout"
      turns = 0
      ages = 2**61
      assert_raise(Timeout::Error) { Timeout.timeout(0.2) { turns += 1 while turns < ages } }
      assert_operator(turns, :>, 1000)
      thread = Thread.new { i = 0; i += 1 until i >= ages }
      sleep 0.05
      thread.kill
      assert_same(thread, thread.join(10))
    RUBY
  end

  def test_redefined
    assert_compiled(<<~'RUBY')
      def less(a, b) = a < b ? :yes : :no
      def loop_to(n, redefine_at)
        i = 0
        while i < n
          i += 1
          Integer.class_eval { def <(other) = other == 7 ? nil : "true" } if i == redefine_at
          break if i == 20
        end
        i
      end
      10.times { assert_equal(%i[yes no], [less(1, 2), less(2, 1)]) }
      assert_equal(9, loop_to(9, nil))
      assert_equal(20, loop_to(9, 5))
      assert_equal(%i[yes yes no], [less(1, 2), less(2, 1), less(1, 7)])
    RUBY
  end

  # A branch is an instruction of its own in the statistics. Where the result is kept it is not fused; there three more run,
  # in stock too.
  def test_counted
    fused, kept = ["a < b", "(c = a < b)"].map do |condition|
      IO.popen([EnvUtil.rubybin, *%w[--disable-gems --yjit --yjit-stats=quiet --yjit-call-threshold=2 -e], <<~RUBY], &:read).to_i
        def m(a, b) = (#{condition} ? 1 : 2)
        10.times { m(1, 2) }
        before = RubyVM::YJIT.runtime_stats[:yjit_insns_count]
        1000.times { m(1, 2) }
        puts RubyVM::YJIT.runtime_stats[:yjit_insns_count] - before
      RUBY
    end
    assert_in_delta(fused + 3000, kept, 100)
  end
end
