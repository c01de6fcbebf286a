# frozen_string_literal: true
# thread/test_fiber_interrupt.rb - thread/fiber_interrupt.h: interrupts that meet a change of Fibers.

require "test/unit"

class TestLockfreeFiberInterrupt < Test::Unit::TestCase
  COMPUTE = <<~'RUBY'
    def compute(seconds)
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    end
  RUBY

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

  # What is raised meanwhile waits until the finalizers are done, whatever Fiber they resume.
  def test_racing_raise_and_finalizer_that_resumes
    assert_separately(%w[-W:no-experimental --disable-gems], COMPUTE + <<~'RUBY', timeout: 60)
      Ractor.new { sleep }
      main = Thread.current
      began = ended = false
      fiber = Fiber.new { loop { compute 0.05; Fiber.yield } }
      fiber.resume
      finalizer = proc do
        next if began
        began = true
        compute 1.0
        fiber.resume
        ended = true
      end
      20.times { ObjectSpace.define_finalizer(Object.new, finalizer) }
      Thread.new do
        sleep 0.001 until began
        sleep 0.02
        main.raise("told")
      end
      error = assert_raise(RuntimeError) do
        GC.start
        compute 0.1
        sleep 10
      end
      assert_equal(["told", true], [error.message, ended])
    RUBY
  end

  # A Fiber that a finalizer made masks postponed jobs for life: what comes while it is resumed is not to go there and stay.
  def test_racing_collection_and_resume_of_who_masks
    assert_separately(%w[-W:no-experimental --disable-gems], COMPUTE + <<~'RUBY', timeout: 60)
      Ractor.new { Ractor.yield(1); sleep }.take # it collects no more: main's finalizers run in another thread then
      finalized = 0
      fiber = nil
      make = ->(count, &finalizer) { count.times { ObjectSpace.define_finalizer(Object.new, finalizer) } }
      make.(20) { fiber ||= Fiber.new { loop { Fiber.yield } }.tap(&:resume) }
      deeper = ->(n) { n.zero? ? 0 : deeper.(n - 1) }
      deeper.(50)
      GC.stress = true
      Object.new
      GC.stress = false
      sleep 0.01 until fiber
      rounds = Array.new(10) do
        finalized = 0
        make.(10) { finalized += 1 }
        deeper.(50)
        GC.stress = true
        fiber.resume(1, 2)
        GC.stress = false
        compute 0.1
        finalized.positive?
      end
      assert_equal([true] * 10, rounds)
    RUBY
  end

  # Who is ended in one Fiber was ended once more in the one that it came from, where it cleans up.
  def test_racing_end_and_resume
    20.times do
      assert_in_out_err(%w[-W:no-experimental --disable-gems], <<~'RUBY', %w[whole], [])
        ractor = Ractor.new do
          fiber = Fiber.new { loop { Fiber.yield } }
          Ractor.yield :began
          loop { fiber.resume }
        ensure
          100.times { fiber.resume if fiber.alive? }
          $stdout.syswrite "whole\n"
        end
        ractor.take
        sleep 0.01
      RUBY
    end
  end
end
