# frozen_string_literal: true
# ractor/test_wait.rb - ractor/wait.h: threads of one Ractor that wait at once.

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

  # The answer is copied, slowly, while the thread that takes it is killed.
  def test_racing_interrupted_take_and_yield
    %w[yielder.take Ractor.select(yielder)].each do |take|
      assert_ractor(<<~RUBY, timeout: 60)
        class Slow
          def initialize_clone(*, **) = (sleep 0.002; super)
        end
        yielder = Ractor.new { loop { Ractor.yield(Slow.new) } }
        150.times do |i|
          thread = Thread.new { #{take} }
          sleep 0.0005 * (i % 8)
          thread.kill.join
        end
        assert_instance_of(Slow, yielder.take)
      RUBY
    end
  end

  # One thread passes over a message while another one looks at it, and puts it back.
  def test_racing_receive_if_and_receive
    assert_ractor(<<~'RUBY', timeout: 60)
      looking = Ractor.current
      receiver = Ractor.new(looking) do |main|
        Thread.new { Ractor.receive_if { |message| main.send(:looks); sleep 0.3; message == :never } }
        Ractor.yield(Ractor.receive)
      end
      receiver.send(:message)
      assert_equal(:message, receiver.take)
    RUBY
  end

  # One thread holds the taker while it copies, and gives it back.
  def test_racing_failing_yield_and_yield
    assert_ractor(<<~'RUBY', timeout: 60)
      class Refused
        def initialize_clone(*, **) = (sleep 0.3; raise "refused")
      end
      yielder = Ractor.new do
        Thread.new { Ractor.yield(Refused.new) rescue nil; sleep }
        Thread.new { sleep 0.1; Ractor.yield(:other) }
        sleep
      end
      assert_equal(:other, yielder.take)
    RUBY
  end

  # The thread that is next is alone on its Ractor when another Ractor is ready as well.
  def test_racing_end_of_thread_and_ready_ractors
    assert_ractor(<<~'RUBY', timeout: 120)
      ractors = 4.times.map do
        Ractor.new { 200.times { Array.new(3) { Thread.new { Thread.pass; 1 } }.sum(&:value) }; :end }
      end
      assert_equal([:end] * 4, ractors.map(&:take))
    RUBY
  end
end
