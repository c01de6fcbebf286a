# frozen_string_literal: true
# test_fiber_jit_cont.rb - fiber_jit_cont.h: whoever changes compiled code finds each Fiber that is in it.

require "test/unit"

class TestLockfreeFiberJitCont < Test::Unit::TestCase
  # Each Fiber stands in compiled code that is to be kept for it, and returns into it. Fibers are made
  # by Ractors that end, and are freed by others' collections meanwhile.
  def test_racing_fibers_and_code_that_is_freed
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    options = %w[-W0 --disable-gems --yjit --yjit-call-threshold=2 --yjit-code-gc --yjit-exec-mem-size=1]
    assert_separately(options, <<~'RUBY', timeout: 120, ignore_stderr: true)
      class Other; def ten = 10; end

      def work(depth, other, &block) = depth.zero? ? block.call : work(depth - 1, other, &block) + other.ten

      def fibers(turns)
        Array.new(20) do |i|
          Fiber.new { other = Other.new; turns.times.sum { |turn| work(i, other) { Fiber.yield(turn); 1 } } }
        end
      end

      makers = Array.new(6) do
        Ractor.new do
          Array.new(5) do
            kept = fibers(40)
            40.times do |turn|
              kept.each(&:resume)
              fibers(2).each(&:resume) # abandoned
              Ractor.new { Fiber.new { 1 }.resume }.take if turn % 10 == 0
              sleep 0.02
            end
            [kept.map(&:resume) == Array.new(20) { |i| 40 * (1 + 10 * i) }, kept.none?(&:alive?)]
          end
        end
      end
      main = Thread.new { makers.map(&:take) }
      turns = 0
      while main.alive?
        100.times do |i|
          name = "filler#{turns += 1}"
          eval("def #{name}(x) = [x, x + #{i}, x.to_s, x * 2].map { |y| y.to_s + x.to_s }.join.size")
          3.times { send(name, i) }
          Object.send(:remove_method, name)
        end
        RubyVM::YJIT.code_gc
        Other.class_eval { def ten = 10 }
        GC.start
      end
      assert_equal([[[true, true]] * 5] * 6, main.value)
    RUBY
  end

  def test_fibers_at_exit
    %w[0 1].each do |free|
      assert_separately([{ "RUBY_FREE_AT_EXIT" => free }, *%w[-W0 --disable-gems]], <<~'RUBY', timeout: 60, ignore_stderr: true)
        kept = Array.new(100) { Fiber.new { Fiber.yield }.tap(&:resume) }
        Array.new(3) { Ractor.new { Array.new(100) { Fiber.new { Fiber.yield }.tap(&:resume) }.size } }.each(&:take)
        running = Ractor.new { Fiber.new { Ractor.receive }.resume }
        pid = fork { Fiber.new { 1 }.resume; Ractor.new { Fiber.new { 2 }.resume }.take }
        assert_predicate(Process.wait2(pid)[1], :success?)
        assert_equal(100, kept.size)
      RUBY
    end
  end
end
