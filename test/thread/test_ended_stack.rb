# frozen_string_literal: true
# thread/test_ended_stack.rb - thread/ended_stack.h: the stack of a thread that has ended is the next one's.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeEndedStack < Test::Unit::TestCase
  include LockfreeAssertRactors

  # A stack takes 12 kB and more, and a Thread that has ended 4.
  def test_memory_of_ended_threads
    omit "/proc tells how much memory a process has" unless File.exist?("/proc/self/status")

    assert_ractors(<<~'RUBY')
      def resident = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i
      GC.start
      GC.disable
      before = resident
      Ractor.new { 4_000.times { Thread.new { }.join } }.take
      assert_operator(resident - before, :<, 30_000)
    RUBY
  end

  # Threads that end at once, deep in calls, by an exception, or killed; more at a time than are kept.
  ENDS = <<~'RUBY'
    def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
    def ends(i)
      wrong = []
      100.times do |n|
        threads = Array.new(n % 20 == 0 ? 40 : 1 + n % 4) do |k|
          Thread.new(n, k) do |n, k|
            Thread.current.report_on_exception = false
            case (n + k) % 5
            when 0 then [i, n, k]
            when 1 then deep(1000) + k - 1000 == k && [i, n, k]
            when 2 then raise IndexError, [i, n, k].inspect
            when 3 then Fiber.new { Fiber.yield([i, n, k]) }.resume
            when 4 then begin Thread.stop ensure Thread.current[:left] = [i, n, k] end
            end
          end
        end
        threads.each_with_index do |thread, k|
          if (n + k) % 5 == 4
            Thread.pass until thread.stop?
            thread.kill.join
          end
          result = begin
            thread.value || thread[:left]
          rescue IndexError => error
            eval(error.message)
          end
          wrong << result unless result == [i, n, k]
        end
      end
      wrong.first(3)
    end
  RUBY

  def test_threads_that_end_in_ractors
    assert_ractors(ENDS + <<~'RUBY')
      ractors = Array.new(8) { |i| Ractor.new(i) { |i| ends(i) } }
      10.times { GC.start; GC.compact }
      assert_equal([[]] * 8, ractors.map(&:take))
    RUBY
  end

  def test_fork_beside_threads_that_end
    assert_ractors(ENDS + <<~'RUBY')
      ractors = Array.new(4) { |i| Ractor.new(i) { |i| ends(i) } }
      children = Array.new(10) { fork { exit!(Array.new(2) { |i| Ractor.new(i) { |i| ends(i) } }.map(&:take) == [[]] * 2) } }
      assert_equal([true] * 10, children.map { |child| Process.wait2(child)[1].success? })
      assert_equal([[]] * 4, ractors.map(&:take))
    RUBY
  end

  # Whoever overflows a stack that was another one's is told so.
  def test_stack_overflow
    assert_ractors(<<~'RUBY')
      def deeper = deeper
      def deep_in_c(a) = [a].each { |b| deep_in_c(b) }
      said = Ractor.new do
        Array.new(6) do |i|
          Thread.new(i) do |i|
            i.even? ? deeper : deep_in_c(i)
          rescue SystemStackError => error
            error.class
          end.value
        end
      end.take
      assert_equal([SystemStackError] * 6, said)
    RUBY
  end
end
