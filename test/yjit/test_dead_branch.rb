# frozen_string_literal: true
# yjit/test_dead_branch.rb - yjit/dead_branch.rs: code that is thrown away while Ractors wait in its stubs.

require "test/unit"

class TestLockfreeYjitDeadBranch < Test::Unit::TestCase
  # Ractors run new methods all the time, so that several are in the stubs of one; main throws their code away.
  RUN = <<~'RUBY'
    $VERBOSE = nil
    module Run; class << self; attr_accessor :number, :stop; end; end
    class Sum
      attr_reader :sum
      def initialize(sum) = @sum = sum
      def add(x) = @sum + x
    end

    def define(number)
      Object.class_eval(<<~CODE)
        def inner#{number}(x, y = 2, *, k: 3, &b)
          sum = 0
          [x, y, k].each { |e| sum += e if e.is_a?(Integer) }
          i = 0
          while i < 5
            sum += i.even? ? i : x
            i += 1
          end
          h = { a: sum, "b" => y }
          sum += Sum.new(sum).add(h[:a])
          sum = yield(sum) if b
          "\#{sum} \#{y}" + h["b"].to_s
        end
        def outer#{number}(x) = x > 3 ? inner#{number}(x) { |sum| sum * 2 } : inner#{number}(x, 4, k: 5)
      CODE
    end

    def check(number) = 6.times.map { |i| __send__("outer#{number}", i) }

    def racing
      define(Run.number = 0)
      expected = Ractor.make_shareable(check(0))
      ractors = 4.times.map do
        Ractor.new(expected) { |expected| nil until Run.stop || check(Run.number) != expected; check(Run.number) == expected }
      end
      100.times do |i|
        define(i)
        Run.number = i
        sleep 0.0005 * (i % 4)
        yield i
        GC.start(full_mark: i % 3 == 0) if i % 10 == 0
      end
      Run.stop = true
      ractors.map(&:take)
    end
  RUBY

  def assert_run(code)
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=2], RUN + code, timeout: 120)
  end

  # Stock crashes in 3 of 3.
  def test_racing_trace_and_compile
    assert_run(<<~'RUBY')
      assert_equal([true] * 4, racing { |i| TracePoint.new(:line, :call) {}.enable(target: method("outer#{i}")) {} })
    RUBY
  end

  def test_racing_code_gc_and_compile
    assert_run(<<~'RUBY')
      assert_equal([true] * 4, racing { |i| RubyVM::YJIT.code_gc if i % 5 == 0 })
    RUBY
  end

  # A String for __send__ looks for a Symbol, with the VM lock, in the middle of a compiled call of what is on no stack.
  # Stock crashes in 3 of 3.
  def test_racing_code_gc_and_send
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=2], <<~'RUBY', timeout: 120)
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      NAMES = Ractor.make_shareable(Array.new(12) { |i| "a#{i}" })
      steps = (1..30).map { |k| "x = x + #{k}; x = x - #{k}; x = [x, #{k}].min if x > 5000" }.join("; ")
      12.times { |i| eval "def a#{i}(x); #{steps}; x + #{i}; end; def call#{i}(name) = __send__(name, 1)" }
      eval "def all; #{Array.new(12) { |i| "call#{i}(NAMES[#{i}]) == #{i + 1} or raise 'wrong'" }.join("; ")}; end"
      stop = now + 8
      ractors = Array.new(3) { Ractor.new(stop) { |stop| all while now < stop; true } }
      while now < stop
        20.times { all }
        RubyVM::YJIT.code_gc
      end
      assert_equal([true] * 3, ractors.map(&:take))
      ractors.clear
      sleep 0.01 until Ractor.count == 1
      count = RubyVM::YJIT.runtime_stats[:code_gc_count]
      20.times { all }
      RubyVM::YJIT.code_gc
      assert_equal(count + 1, RubyVM::YJIT.runtime_stats[:code_gc_count])
      20.times { all }
    RUBY
  end

  # Code that is dead goes on to the end of its instruction, with the objects that it has in it.
  def test_racing_redefine_and_compact
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=1], <<~'RUBY', timeout: 120)
      $VERBOSE = nil
      class Base
        DEFINITION = "def rest(*a, **k) = [a, k]; def some(a, b = [], *c) = [a, b, c]".freeze
        class_eval DEFINITION
        def call(x) = [rest(*x, *x, k: 1), some(*x, *x), rest(x, **{}), some([x], [x], [x], [x])]
      end
      STOP = 3 + Process.clock_gettime(Process::CLOCK_MONOTONIC)
      EXPECTED = Ractor.make_shareable(Base.new.call([1, 2]))
      def go_on? = Process.clock_gettime(Process::CLOCK_MONOTONIC) < STOP
      writers = Array.new(2) do |i|
        Ractor.new(i) { |i| while go_on?; Base.class_eval(Base::DEFINITION); i == 0 ? GC.compact : GC.start(full_mark: false); end }
      end
      callers = Array.new(5) do
        Ractor.new { base = Base.new; x = [1, 2]; nil while go_on? && base.call(x) == EXPECTED; base.call(x) == EXPECTED }
      end
      assert_equal([true] * 5, callers.map(&:take))
      writers.each(&:take)
    RUBY
  end

  def test_racing_redefine_and_compile
    assert_run(<<~'RUBY')
      assert_equal([true] * 4, racing { Sum.class_eval("def add(x) = @sum + x") })
    RUBY
  end

  # Not a race: what is invalidated once must not be left for the interpreter at each call from then on.
  def test_invalidate_block_behind_a_deferring_branch
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-stats=quiet], <<~'RUBY', timeout: 60)
      class Picker
        def initialize = @random = Random.new(3)
        def pick = [[0, 1, 2][@random.rand(3)], [4, 5][@random.rand(2)]]
        def pick_often(n) = n.times { pick }
        def call(a = rand, b = [0, 1][@random.rand(2)]) = b
        def call_often(n) = n.times { call(1); call }
      end
      exits = -> { RubyVM::YJIT.runtime_stats(:exit_from_branch_stub) }
      Picker.new.pick_often(300)
      Picker.new.call_often(300)
      array = []
      def array.x = 1
      before = exits.call
      Ractor.new { Picker.new.pick_often(1000); Picker.new.call_often(1000) }.take
      assert_operator exits.call - before, :<, 100
    RUBY
  end

  # The block of `i = 0` is short, and filled up with nops before that of the constant, which is invalidated when the constant
  # is found: the first call is made by compiled code. A loop that is left for the interpreter at each turn gets an entry.
  def test_invalidate_block_behind_a_short_block
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit], <<~'RUBY', timeout: 60)
      module Shown
        class State; def self.show(a, b, c) = a; end
        module_function
        def show(value, state = nil)
          if State === state
            state.show(value)
          else
            State.show(value, state, nil)
          end
        end
      end
      def often(n)
        i = 0
        while i < n
          Shown.show(1)
          i += 1
        end
      end
      300.times { |i| next if i < 250; often(3) }
      i = 0
      (often(1); i += 1) while i < 40
      before = RubyVM::YJIT.runtime_stats(:compiled_loop_entry)
      often(5000)
      assert_equal before, RubyVM::YJIT.runtime_stats(:compiled_loop_entry)
    RUBY
  end

  # Else each site of `times` counts twice towards the number that YJIT makes code of their own for.
  def test_deferring_block_behind_a_short_block_is_deleted
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=2], <<~'RUBY', timeout: 60)
      eval("def sites = (#{"1.times { |i| };" * 50})")
      before = RubyVM::YJIT.runtime_stats(:deleted_defer_block_count)
      3.times { sites }
      assert_operator RubyVM::YJIT.runtime_stats(:deleted_defer_block_count) - before, :>=, 2 * 50
    RUBY
  end
end
