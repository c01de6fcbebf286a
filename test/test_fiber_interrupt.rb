# frozen_string_literal: true
# test_fiber_interrupt.rb - fiber_interrupt.h: interrupts that meet a change of Fibers.

require "test/unit"

class TestLockfreeFiberInterrupt < Test::Unit::TestCase
  # The Fiber that a Ractor changes to computes for longer than the test may take, without coming to a safe point otherwise.
  def test_racing_barrier_and_resume
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      ractors = 4.times.map do
        Ractor.new do
          short = Fiber.new { loop { Fiber.yield } }
          long = Fiber.new { i = 0; i += 1 while true }
          50_000.times { short.resume }
          long.resume
        end
      end
      200.times { GC.start(full_mark: false); sleep 0.001 }
      assert_equal([4, 5], [ractors.size, Ractor.count])
    RUBY
  end

  # Main is asked to load, in a Fiber that looks no more before it ends.
  def test_racing_require_and_end_of_fiber
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      ractor = Ractor.new { 5_000.times { require "set" }; :loaded }
      answer = nil
      Thread.new { answer = ractor.take }
      until answer
        100.times { Fiber.new { 1 }.resume }
        Thread.pass
      end
      assert_equal(:loaded, answer)
    RUBY
  end
end
