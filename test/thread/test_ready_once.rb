# frozen_string_literal: true
# thread/test_ready_once.rb - thread/ready_once.h: threads that wait for the timer.

require "test/unit"

class TestLockfreeThreadReadyOnce < Test::Unit::TestCase
  def test_racing_sleep_and_timer
    assert_ractor(<<~'RUBY', timeout: 60)
      ractors = Array.new(8) do |i|
        Ractor.new(i) do |i|
          random = Random.new(i)
          Array.new(150) do
            Array.new(4) { |k| time = random.rand * 0.0012 + 0.0004; Thread.new { sleep(time); k } }.sum(&:value)
          end.tally
        end
      end
      assert_equal([{6 => 150}] * 8, ractors.map(&:take))
    RUBY
  end
end
