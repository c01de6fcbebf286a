# frozen_string_literal: true
# test_local_storage.rb - ractor/local_storage.h: what a Ractor has found last in its local storage.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeRactorLocalStorage < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Each Ractor has its own generator, before and after collections, and while others have theirs.
  def test_own_generator
    assert_ractors(<<~'RUBY')
      def numbers
        srand(42)
        Array.new(2_000) { |i| GC.start if i % 500 == 0; rand(1_000) }
      end
      srand(1)
      before = rand
      srand(1)
      expected = Ractor.new { numbers }.take
      assert_equal([expected] * 3, Array.new(3) { Ractor.new { numbers } }.map(&:take))
      assert_equal(before, rand)
      assert_equal(expected, Ractor.new { srand(42); Array.new(2_000) { Random.rand(1_000) } }.take)
    RUBY
  end

  # The Ractor that forks is main in the child, and has what it had.  Upstream goes on with what was main's, which is freed.
  def test_own_generator_in_a_child_that_a_ractor_forks
    omit("no fork") unless Process.respond_to?(:fork)
    assert_ractors(<<~'RUBY')
      srand(1)
      rand
      statuses = Array.new(3) do
        Ractor.new do
          srand(42)
          expected = Array.new(20) { rand(1_000) }
          srand(42)
          Process.wait(fork do
            srand(42)
            20.times { |i| exit!(8) if rand(1_000) != expected[i]; Ractor.new { rand }.take; GC.start }
            strings = Array.new(10_000) { |i| i.to_s * (1 + i % 90) }
            5_000.times { rand }
            exit!(strings.each_with_index.all? { |string, i| string == i.to_s * (1 + i % 90) } ? 7 : 9)
          end)
          [$?.exitstatus || $?.inspect, expected == Array.new(20) { rand(1_000) }]
        end
      end
      assert_equal([[7, true]] * 3, statuses.map(&:take))
    RUBY
  end

  # The console of a Ractor, which is found anew when it was closed, and rand by turns.
  def test_value_that_changes
    begin
      require "pty"
      require "io/console"
    rescue LoadError
      omit "no terminal here"
    end
    code = <<~'RUBY'
      require "io/console"
      answer = Ractor.new do
        srand(7)
        numbers = [rand(1_000)]
        consoles = Array.new(2) do |i|
          IO.console(:close) if i == 1
          numbers << rand(1_000)
          [IO.console, IO.console] # nothing between, which would be remembered
        end.flatten
        [numbers, consoles.map { |console| consoles.index { |other| console.equal?(other) } }, consoles.map(&:closed?)]
      end.take
      p answer == [Ractor.new { srand(7); Array.new(3) { rand(1_000) } }.take, [0, 0, 2, 2], [true, true, false, false]]
      p answer
    RUBY
    YJIT.each do |options|
      PTY.spawn(EnvUtil.rubybin, "-W:no-experimental", "--disable-gems", *options, "-e", code) do |output, input, pid|
        assert_equal("true", output.gets.chomp, -> { output.gets })
        [output, input].each(&:close)
        Process.wait(pid)
      end
    end
  end
end
