# frozen_string_literal: true
# yjit/test_compare_branch.rb - yjit/compare_branch.rs: branches on comparisons, compiled, against the methods called.

require "test/unit"
require "open3"
require_relative "../minirubies"

class TestLockfreeYjitCompareBranch < Test::Unit::TestCase
  include LockfreeMinirubies

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

  # The ways out of a comparison begin as after any other instruction: they defer by themselves, and are no versions of
  # it because it has some (Floats first, then Integers).
  def test_what_follows
    assert_compiled(<<~'RUBY')
      def cases(a, b, c, d, x, y)
        case
        when a < b then x.to_s
        when c < d then y.to_s
        end
        nil
      end
      100.times { assert_nil(cases(2, 1, 1, 2, :x, :y)) }

      class Plus; def +(other) = :plus; end
      def nothing = nil
      def ensured(value, a, b)
        x = 1
        x = begin value ensure nothing if a < b end
        x + 1
      end
      [[6, 5, 2.0, 1.0], [6, 5, 2, 1], [:plus, Plus.new, 2, 1], [:plus, Plus.new, 1, 2]].each do |expected, *arguments|
        100.times { assert_equal(expected, ensured(*arguments)) }
      end
    RUBY
  end

  # Methods of nested branches and loops by chance, each called with Floats first in every second seed.
  RANDOM = <<~'RUBY'
    class Nest
      def initialize(seed) = (@random, @loops = Random.new(seed), 0)
      def pick(*these) = these.sample(random: @random)
      def variable = pick("a", "b", "c", "d")
      def operand = pick(variable, variable, variable, pick(-1, 0, 1, 2).to_s)
      def compare = "#{operand} #{pick("<", "<=", ">", ">=")} #{operand}"
      def body(depth) = Array.new(pick(1, 2, 3)) { statement(depth) }.join("\n")

      def condition(depth)
        return compare if depth == 0
        pick(compare, compare, "#{condition(depth - 1)} && (#{condition(depth - 1)})",
             "#{condition(depth - 1)} || (#{condition(depth - 1)})", "!(#{condition(depth - 1)})")
      end

      def statement(depth)
        simple = pick(:set, :add, :see, :see_condition)
        case depth == 0 ? simple : pick(simple, :if, :unless, :while, :do_while, :ternary, :ensure, :case)
        when :set then "#{variable} = #{operand}"
        when :add then "#{variable} += 1"
        when :see then "seen << #{operand}"
        when :see_condition then "seen << (#{condition(2)})"
        when :if then "if #{condition(2)}\n#{body(depth - 1)}\nelse\n#{body(depth - 1)}\nend"
        when :unless then "unless #{condition(2)}\n#{body(depth - 1)}\nend"
        when :while then turn = turns; "#{turn} = 0\nwhile (#{turn} += 1) < 5 && (#{condition(2)})\n#{body(depth - 1)}\nend"
        when :do_while then turn = turns; "#{turn} = 0\nbegin\n#{body(depth - 1)}\nend while (#{turn} += 1) < 4"
        when :ternary then "#{variable} = #{compare} ? #{operand} : #{operand}"
        when :ensure then "#{variable} = begin #{operand} ensure\n#{body(depth - 1)}\nend"
        when :case then "case\nwhen #{compare} then #{variable} = 1\nwhen #{condition(1)} then seen << 2\nend"
        end
      end

      def turns = "turn#{@loops += 1}"
      def to_s = "def nest(a, b, c, d)\nseen = []\n#{Array.new(4) { statement(3) }.join("\n")}\nseen.push(a, b, c, d)\nend"
    end

    60.times do |seed|
      eval(Nest.new(seed).to_s)
      random = Random.new(seed)
      results = Array.new(40) do |i|
        arguments = Array.new(4) { random.rand(-3..3) }
        arguments.map!(&:to_f) if seed.odd? && i < 5 || i == 30
        nest(*arguments)
      end
      p [seed, results]
    end
  RUBY

  def test_random_branches
    expected, *compiled = [%w[--disable-yjit], *[1, 7].map { |calls| %W[--yjit --yjit-call-threshold=#{calls}] }].map do |options|
      out, status = Open3.capture2e(EnvUtil.rubybin, *%w[-W0 --disable-gems], *options, "-e", RANDOM)
      assert_predicate(status, :success?, out[0, 2000])
      out.lines
    end
    compiled.each { |lines| expected.zip(lines) { |interpreted, line| assert_equal(interpreted, line) } }
  end

  # A branch is an instruction of its own in the statistics, as in stock.
  def test_counted
    expected, counted = [stock, EnvUtil.rubybin].map do |ruby|
      IO.popen([ruby, *%w[--disable-gems --yjit --yjit-stats=quiet --yjit-call-threshold=2 -e], <<~'RUBY'], &:read).to_i
        def m(a, b) = (a < b ? 1 : 2)
        10.times { m(1, 2) }
        before = RubyVM::YJIT.runtime_stats[:yjit_insns_count]
        1000.times { m(1, 2) }
        puts RubyVM::YJIT.runtime_stats[:yjit_insns_count] - before
      RUBY
    end
    assert_operator(expected, :>, 3000)
    assert_in_delta(expected, counted, 500)
  end
end
