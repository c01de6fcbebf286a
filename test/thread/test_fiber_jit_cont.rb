# frozen_string_literal: true
# thread/test_fiber_jit_cont.rb - thread/fiber_jit_cont.h: whoever changes compiled code finds each Fiber that is in it.

require "test/unit"

class TestLockfreeFiberJitCont < Test::Unit::TestCase
  # Each stands in a call from compiled code, which is no longer right when it returns: `break` does that by way of the
  # interpreter, which asks the frame where to go on.
  CALLS = <<~'RUBY'
    class Other; def value = 10; end

    def callee = 1.upto(3) { Fiber.yield; break 1 }
    def caller_of(other) = callee + other.value
    def fibers(count) = Array.new(count) { Fiber.new { caller_of(Other.new) } }
    def start(count) = fibers(count).each(&:resume)
    def warm_up = start(5).each(&:resume) # what comes after the call is compiled then

    # Each Fiber that is in compiled code is to leave it.
    def invalidate = TracePoint.new(:c_call, :b_call) { }.enable { }
  RUBY

  def assert_calls(code)
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=1], CALLS + code, timeout: 120)
  end

  def test_code_that_a_fiber_returns_to
    assert_calls(<<~'RUBY')
      warm_up
      mains = start(5)
      ractor = Ractor.new do
        warm_up
        started = start(5)
        Ractor.yield(nil)
        Ractor.receive
        started.map(&:resume)
      end
      ractor.take
      invalidate
      class Other; def value = 20; end
      assert_equal([21] * 5, mains.map(&:resume))
      assert_equal([21] * 5, ractor.send(nil).take)
    RUBY
  end

  # More Ractors than lists, whose Fibers begin, end and are freed meanwhile.
  def test_racing_fibers_and_invalidation
    assert_calls(<<~'RUBY')
      ractors = Array.new(80) do
        Ractor.new do
          results = []
          loop do
            warm_up
            started = start(3)
            value = Ractor.receive or break
            results << started.all? { |fiber| fiber.resume == 1 + value }
            start(2) # abandoned
          end
          results.uniq
        end
      end
      done = false
      others = Thread.new do
        until done
          start(1)
          GC.start
          Thread.new { start(1) }.join
          Ractor.new { start(1) }.take
        end
      end
      10.times do |value|
        sleep 0.02
        invalidate
        eval("class Other; def value = #{value}; end")
        ractors.each { |ractor| ractor.send(value) }
        sleep 0.05
      end
      done = true
      others.join
      assert_equal([[true]] * 80, ractors.each { |ractor| ractor.send(nil) }.map(&:take))
    RUBY
  end

  # Ractors whose numbers are 64 apart are in one list. That may become a circle, which is walked for ever.
  def test_racing_fibers_of_one_list
    assert_calls(<<~'RUBY')
      makers = Array.new(129) do |i|
        ractor = Ractor.new(i % 64 == 0) { |makes| Ractor.receive.times { Fiber.new { } } if makes; 1 }
        i % 64 == 0 ? ractor : ractor.take && nil
      end.compact
      makers.each { |maker| maker.send(200_000) }
      walking = Thread.new { 40.times { invalidate; sleep 0.02 } }
      assert_equal(3, makers.sum(&:take))
      walking.join
      GC.start
      invalidate
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
