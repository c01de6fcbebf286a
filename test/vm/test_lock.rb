# frozen_string_literal: true
# vm/test_lock.rb - vm/lock.h, vm/stop.h: the VM lock, and stops of all Ractors.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVMLock < Test::Unit::TestCase
  include LockfreeAssertRactors

  # How often threads went to sleep, of themselves: a count, and no clock.
  COUNT = <<~'RUBY'
    def switches(thread = "*")
      Dir.glob("/proc/self/task/#{thread}/status").sum { |file| File.read(file)[/^voluntary_ctxt_switches:\s+(\d+)/, 1].to_i }
    end

    # For each collection in the block.
    def switches_per_collection
      before, collections = switches, GC.count
      yield
      (switches - before).fdiv(GC.count - collections)
    end
  RUBY

  def assert_counts(code, options = [])
    omit("no counts of each thread's switches") unless File.exist?("/proc/self/task/#{Process.pid}/status") &&
      Thread.current.respond_to?(:native_thread_id)
    assert_separately(%w[-W:no-experimental --disable-gems] + options, COUNT + code, timeout: 120)
  end

  def assert_forks(code)
    omit("no fork") unless Process.respond_to?(:fork)
    assert_separately(%w[-W:no-experimental --disable-gems], STATUS + code, timeout: 400)
  end

  # Who computes sleeps once for a stop: 7 to 9 times for 8 Ractors, where stock does 14 to 18 times.
  def test_switches_of_a_stop
    assert_counts(<<~'RUBY')
      Array.new(8) { Ractor.new { n = 0; n += 1 while true } }
      sleep 0.2
      assert_operator(switches_per_collection { 40.times { GC.start } }, :<=, 12)
    RUBY
  end

  # All make objects: 14 to 17 times for each of some 150 collections, where stock does 45 times.
  def test_switches_of_a_stop_that_many_want
    assert_counts(<<~'RUBY')
      ractors = Array.new(8) do
        Ractor.new(Ractor.current) do |main|
          Ractor.receive
          600_000.times { |i| [i, "a"] }
          main.send(:done)
          Ractor.receive
        end
      end
      per_collection = switches_per_collection do
        ractors.each { |ractor| ractor.send(:go) }
        8.times { Ractor.receive }
      end
      assert_operator(per_collection, :<=, 2 * 9)
    RUBY
  end

  # A redefinition that is warned about warns with the VM lock, and the handler collects again and again.  Who waits for
  # the lock sleeps through that; who computes sleeps from the first stop to the end of the section.
  def test_stops_inside_a_section
    assert_counts(<<~'RUBY', %w[-W1])
      $waits = Ractor.new(Ractor.current) { |main| main.send(Thread.current.native_thread_id); loop { Class.new } }
      WAITS = Ractor.receive
      $computes = Ractor.new(Ractor.current) { |main| main.send(Thread.current.native_thread_id); n = 0; n += 1 while true }
      COMPUTES = Ractor.receive
      Warning[:performance] = true

      def Warning.warn(*)
        last, unchanged = switches(WAITS), 0
        500.times do
          break if unchanged == 10
          sleep 0.01
          now = switches(WAITS)
          unchanged = now == last ? unchanged + 1 : 0
          last = now
        end
        $before = [switches(WAITS), switches(COMPUTES)]
        20.times { GC.start; sleep 0.02 }
        $after = [switches(WAITS), switches(COMPUTES)]
      end

      module Adds; end
      class Integer
        prepend Adds
      end
      module Adds
        def +(other) = super
      end
      assert_not_nil($before, "nobody was warned")
      assert_operator($after[0] - $before[0], :<=, 2)
      assert_operator($after[1] - $before[1], :<=, 2)
    RUBY
  end

  # Some collect over and over: the next has the lock, and stops the others, before those that the last one has released
  # are on a processor.  With their turn they get on some 30 to 60 times in 400 collections; without it fewer than 10 times,
  # or never.
  def test_stops_over_and_over_let_others_go_on
    assert_ractors(<<~'RUBY')
      KEPT = Ractor.make_shareable(Array.new(100_000) { |i| [i] }) # so that a collection takes milliseconds
      collections = GC.count
      8.times { Ractor.new { loop { GC.start } } }
      Thread.pass until GC.count > collections + 10
      { "computes" => -> { }, "wants the lock" => -> { Class.new } }.each do |what, work|
        seen, got_on = GC.count, 0
        last = seen + 400
        while (now = GC.count) < last
          got_on += 1 if now != seen
          seen = now
          work.call
        end
        assert_operator(got_on, :>, 15, what)
      end
    RUBY
  end

  # Sections that are left by an exception, between stops.
  def test_sections_left_by_exceptions
    assert_ractor(<<~'RUBY', timeout: 60)
      others = Array.new(3) { Ractor.new { 300.times { Class.new { def a = 1 }.new.a }; :done } }
      200.times do |i|
        Class.new { define_method(:b) { }; remove_method(:c) } rescue nil
        Module.new { const_get(:None) } rescue nil
        GC.start(full_mark: false) if i % 10 == 0
      end
      assert_equal([:done] * 3, others.map(&:take))
    RUBY
  end

  # Threads come back from waiting while all stand, in several Ractors, each with what it held.
  def test_racing_stops_and_waits
    assert_ractor(<<~'RUBY', timeout: 120)
      ractors = Array.new(4) do |i|
        Ractor.new(i) do |i|
          threads = Array.new(3) do |j|
            Thread.new do
              Array.new(150) do |k|
                held = ["#{i} #{j}", [k]]
                sleep 0.0003 * (k % 3)
                held
              end
            end
          end
          20.times { GC.start(full_mark: false); Thread.pass }
          threads.map(&:value) == Array.new(3) { |j| Array.new(150) { |k| ["#{i} #{j}", [k]] } }
        end
      end
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end

  # The child has the lock of a moment at which some wait for it and all stand.
  def test_racing_fork_and_waiters
    assert_forks(<<~'RUBY')
      Array.new(4) { Ractor.new { loop { Class.new } } }
      Array.new(2) { Ractor.new { loop { GC.start(full_mark: false) } } }
      results = Array.new(20) do
        status(fork { exit!(Array.new(2) { Ractor.new { 3.times { GC.start; Class.new }; 3 } }.sum(&:take)) }, 30)
      end
      assert_equal({6 => 20}, results.tally)
    RUBY
  end

  # Main waits for the others' end as none of the running threads: they stop all meanwhile.
  def test_racing_exit_and_stops
    assert_forks(<<~'RUBY')
      results = Array.new(15) do |i|
        status(fork do
          Array.new(6) { Ractor.new { loop { GC.start(full_mark: false); Array.new(30) { "a" } } } }
          Array.new(2) { Ractor.new { loop { Class.new } } }
          sleep 0.002 * i
          exit(7)
        end, 30)
      end
      assert_equal({7 => 15}, results.tally)
    RUBY
  end

  # The last one tells main, which may not wait yet.
  def test_racing_exit_and_ends
    assert_forks(<<~'RUBY')
      results = Array.new(20) do |i|
        status(fork do
          Array.new(4) { Ractor.new { Ractor.receive } }
          4.times { |n| Ractor.new(n + i) { |n| (n * 1000).times { } } }
          exit(7)
        end, 30)
      end
      assert_equal({7 => 20}, results.tally)
    RUBY
  end
end
