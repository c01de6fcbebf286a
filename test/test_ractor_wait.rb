# frozen_string_literal: true
# test_ractor_wait.rb - ractor_wait.h: threads of one Ractor that wait at once.

require "test/unit"

class TestLockfreeRactorWait < Test::Unit::TestCase
  # Bug #21037
  def test_racing_take_and_take
    assert_ractor(<<~'RUBY', timeout: 60)
      threads = Array.new(4) { |i| Thread.new { Array.new(25) { Ractor.new { sleep 0.001; 1 }.take }.sum } }
      assert_equal([25] * 4, threads.map(&:value))
    RUBY
  end

  def test_racing_take_and_take_from_one
    assert_ractor(<<~'RUBY', timeout: 60)
      echo = Ractor.new { loop { Ractor.yield(Ractor.receive) } }
      threads = Array.new(4) { |i| Thread.new { Array.new(50) { echo.send(i); echo.take } } }
      assert_equal([[0, 50], [1, 50], [2, 50], [3, 50]], threads.flat_map(&:value).tally.sort)
    RUBY
  end

  def test_racing_receive_and_take
    assert_ractor(<<~'RUBY', timeout: 60)
      Main = Ractor.current
      sender = Ractor.new { 100.times { |i| Main.send(i); Ractor.yield(-i) }; :end }
      receiver = Thread.new { Array.new(100) { Ractor.receive } }
      taker = Thread.new { Array.new(101) { sender.take } }
      assert_equal(Array.new(100) { |i| i }, receiver.value)
      assert_equal(Array.new(100) { |i| -i } << :end, taker.value)
    RUBY
  end

  def test_interrupting_one_of_two
    assert_ractor(<<~'RUBY', timeout: 60)
      slow = Ractor.new { Ractor.receive }
      other = Ractor.new { Ractor.receive }
      waiting = Thread.new { slow.take }
      killed = Thread.new { other.take }
      Thread.pass until [waiting, killed].all?(&:stop?)
      killed.kill
      assert_nil(killed.value)
      slow.send(:value)
      assert_equal(:value, waiting.value)
    RUBY
  end
end
