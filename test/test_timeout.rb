# frozen_string_literal: true
# test_timeout.rb - timeout_any_ractor.patch: Timeout.timeout in Ractors.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeTimeout < Test::Unit::TestCase
  include LockfreeAssertRactors

  WORK = <<~'RUBY'
    require "timeout"
    module Work
      def self.all
        [failure { Timeout.timeout(0.02) { sleep 60 } }, Timeout.timeout(60) { 3 },
         failure { Timeout.timeout(0.02, ArgumentError, "x") { loop {} } },
         failure { Timeout.timeout(60) { Timeout.timeout(0.02) { sleep 60 } } }, Timeout.timeout(0) { 4 }]
      end

      def self.failure
        yield
      rescue Timeout::Error, ArgumentError => error
        [error.class.name, error.message]
      end

      EXPECTED = Ractor.make_shareable([late = ["Timeout::Error", "execution expired"], 3, %w[ArgumentError x], late, 4])
    end
  RUBY

  def test_racing_timeout_and_timeout
    assert_ractors(WORK + <<~'RUBY')
      ractors = Array.new(4) { Ractor.new { Array.new(5) { Work.all } } }
      assert_equal(Work::EXPECTED, Work.all)
      ractors.each { |ractor| assert_equal([Work::EXPECTED] * 5, ractor.take) }
    RUBY
  end

  # They have one thread that looks after them, which the first call makes: one each, if they come to that at once.
  def test_threads_of_a_ractor
    assert_ractors(WORK + <<~'RUBY')
      ractor = Ractor.new do
        threads = Array.new(4) { Thread.new { Array.new(20) { Work.failure { Timeout.timeout(0.002) { sleep 60 } } } } }
        [threads.flat_map(&:value).uniq, Thread.list.size]
      end
      failures, size = ractor.take
      assert_equal([["Timeout::Error", "execution expired"]], failures)
      assert_operator(size, :<=, 5)
    RUBY
  end

  # What is over before that thread has run is forgotten, and what is not comes to its end.
  def test_many
    assert_ractors(WORK + <<~'RUBY')
      ractor = Ractor.new do
        10_000.times { Timeout.timeout(60) { 1 } }
        left = Ractor.current[:"\0timeout_watch"].queue.size
        late = Work.failure { Timeout.timeout(0.1) { loop { Timeout.timeout(60) { 1 } } } }
        [left, late, Work.all]
      end
      assert_equal([0, ["Timeout::Error", "execution expired"], Work::EXPECTED], ractor.take)
    RUBY
  end

  def test_fork_in_a_ractor
    omit "no fork" unless Process.respond_to?(:fork)
    assert_ractors(STATUS + WORK + <<~'RUBY')
      pid = Ractor.new do
        Work.all
        fork { exit!(Work.all == Work::EXPECTED) }
      end.take
      assert_equal(0, status(pid))
    RUBY
  end

  # Of a class that includes Timeout, and of what libraries that mock the time do.
  def test_names_and_mocks
    assert_ractors(WORK + <<~'RUBY')
      class Watch; end
      class Job
        include Timeout
        def watch = Watch
      end
      assert_same(Watch, Job.new.watch)
      def Process.clock_gettime(...) = 0.0
      ractor = Ractor.new do
        Ractor.current[:timeout_watch] = 5
        group = ThreadGroup.new
        [Thread.new { group.add(Thread.current); Work.all }.value, group.list.size]
      end
      assert_equal([Work::EXPECTED, 0], ractor.take)
      assert_equal(Work::EXPECTED, Work.all)
    RUBY
  end
end
