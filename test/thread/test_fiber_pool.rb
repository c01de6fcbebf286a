# frozen_string_literal: true
# thread/test_fiber_pool.rb - thread/fiber_pool.h: stacks of Fibers, taken and given back by several Ractors.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeFiberPool < Test::Unit::TestCase
  include LockfreeAssertRactors

  # How many stacks have been made, used or not: what the process may address, in stacks. Ractors make it 800 more.
  STACKS = <<~'RUBY'
    def stacks
      size = RubyVM::DEFAULT_PARAMS.values_at(:fiber_machine_stack_size, :fiber_vm_stack_size).sum + 4096
      File.read("/proc/self/status")[/^VmSize:\s+(\d+)/, 1].to_i * 1024 / size - (@before || 0)
    end
    @before = stacks
  RUBY

  def test_racing_resume_and_resume
    assert_ractors(<<~'RUBY')
      ractors = 8.times.map { |i| Ractor.new(i) { |i| Array.new(2000) { |j| Fiber.new { i + j }.resume }.sum } }
      assert_equal(8.times.map { |i| 2000 * i + 1999 * 1000 }, ractors.map(&:take))
    RUBY
  end

  def test_racing_next_and_next
    assert_ractors(<<~'RUBY')
      ractors = 8.times.map do
        Ractor.new do
          500.times do
            each = [1, 2].each_entry
            raise unless [each.next, each.next] == [1, 2]
            raise unless Enumerator.new { |y| y << 3 << 4 }.next == 3
            raise unless (1..).lazy.map { |x| x * 2 }.each.next == 2
          end
          :ok
        end
      end
      assert_equal([:ok] * 8, ractors.map(&:take))
    RUBY
  end

  # The GC, in whichever Ractor it runs, gives back the stacks of all.
  def test_racing_resume_and_collect
    assert_ractors(<<~'RUBY')
      ractors = 6.times.map do |i|
        Ractor.new(i) do |i|
          400.times { |j| 5.times { Fiber.new { Fiber.yield j }.resume == j or raise }; GC.start if j % 100 == i }
          :ok
        end
      end
      assert_equal([:ok] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_ends_of_fibers
    assert_ractors(<<~'RUBY')
      ractors = 6.times.map do
        Ractor.new do
          300.times do
            Fiber.new { Fiber.yield }.tap(&:resume).kill
            failing = Fiber.new { begin Fiber.yield; rescue => error; error.message end }.tap(&:resume)
            raise unless failing.raise("told") == "told"
            root = Fiber.current
            raise unless Fiber.new { root.transfer(3) }.transfer == 3
            Fiber[:name] = :value
            raise unless Fiber.new { Fiber[:name] }.resume == :value
            raise unless Thread.new { Fiber.new { 1 }.resume }.value == 1
          end
          :ok
        end
      end
      assert_equal([:ok] * 6, ractors.map(&:take))
    RUBY
  end

  # A Ractor gives the stacks that it kept back to all.
  def test_stacks_of_ended_ractors
    assert_separately(%w[-W:no-experimental --disable-gems], STACKS + <<~'RUBY', timeout: 60)
      omit("no /proc") unless File.exist?("/proc/self/status")
      round = -> { 50.times { Ractor.new { 20.times.map { Fiber.new { Fiber.yield }.tap(&:resume) }.each(&:kill); 1 }.take } }
      round.call
      before = stacks
      5.times { round.call; GC.start }
      assert_operator(stacks, :<, before + 500)
    RUBY
  end

  # Stacks that the GC finds keep their memory while as many are wanted, and lose it when they are not.
  def test_memory_of_dropped_fibers
    omit "no LazyFree in /proc/self/smaps_rollup" unless (File.read("/proc/self/smaps_rollup") rescue "").include?("LazyFree:")
    environment = { "RUBY_SHARED_FIBER_POOL_FREE_STACKS" => nil }
    assert_separately([environment, "-W:no-experimental", "--disable-gems"], <<~'RUBY', timeout: 60)
      def memory(name) = File.read("/proc/self/smaps_rollup")[/^#{name}: +(\d+) kB/, 1].to_i
      def held = memory("Rss") - memory("LazyFree") # what the system may not take
      def use = 1_500.times { [1, 2].each_entry.next }
      GC.disable

      collections = [
        -> { 100.times { GC.start } },
        # batches that end take more than lie there, over and over, and none beyond the first
        -> { 100.times { 20.times { Array.new(200) { Fiber.new { Fiber.yield }.tap(&:resume) }.each(&:resume) }; GC.start } },
        # by Ractors, which end
        -> { 3.times { Array.new(4) { Ractor.new { 400.times { [1, 2].each_entry.next }; GC.start } }.each(&:take) }; 100.times { GC.start } },
      ]
      collections.each_with_index do |idle, at|
        4.times { use; GC.start }
        before = held
        use
        lazy = memory("LazyFree") # of those that are wanted soon
        GC.start
        assert_operator(memory("LazyFree") - lazy, :<, 1_500, at.to_s) # each that is told of has some 8 kB
        idle.call
        assert_operator(before - held, :>, 1_500 * 3, at.to_s)
      end
    RUBY
  end

  # A heap that is not full does not keep as many stacks as it has room for Fibers.
  def test_forgotten_fibers_in_a_large_heap
    omit "no /proc" unless File.exist?("/proc/self/status")
    slots = (0..4).to_h { |i| ["RUBY_GC_HEAP_#{i}_INIT_SLOTS", "100000"] }
    assert_separately([slots, "-W0", "--disable-gems"], STACKS + <<~'RUBY', timeout: 60)
      def resumed = Fiber.new { Fiber.yield }.tap(&:resume)

      40_000.times { resumed }
      assert_operator(stacks, :<, 12_500)

      before = GC.count
      Array.new(4) { Ractor.new { 10_000.times { resumed } } }.each(&:take)
      assert_operator(GC.count - before, :<, 40_000 / 256)
      assert_operator(stacks, :<, 12_500)

      ractors = Array.new(4) { Ractor.new { kept = Array.new(2_500) { resumed }; 10_000.times { resumed }; kept.count(&:alive?) } }
      assert_equal([2_500] * 4, ractors.map(&:take))
      assert_operator(stacks, :<, 22_000)
    RUBY
  end

  # They are collected by the hundred or more, as long as marking takes; those that end, or are kept, ask for few collections.
  def test_collections_for_forgotten_fibers
    assert_separately(%w[-W0 --disable-gems], <<~'RUBY', timeout: 60)
      def resumed = Fiber.new { Fiber.yield }.tap(&:resume)
      def collections
        GC.start
        before = GC.count
        yield
        GC.count - before
      end

      assert_operator(collections { 10_000.times { resumed } }, :<, 100)
      [100, 500, 2_000].each do |burst|
        assert_operator(collections { (10_000 / burst).times { Array.new(burst) { resumed }.each(&:resume) } }, :<, 30)
      end
      kept = nil
      assert_operator(collections { kept = Array.new(10_000) { resumed } }, :<, 20)
      assert_operator(collections { 10_000.times { resumed } }, :<, 10) # each goes through those
      kept.each(&:resume).clear
      kept = nil
      GC.disable
      assert_equal(0, collections { 5_000.times { resumed } })
    RUBY
  end

  # Ractors that find no stack at once make some thousand together, not each.
  def test_racing_expansions
    omit "no /proc" unless File.exist?("/proc/self/status")
    assert_separately([{ "RUBY_MAX_CPU" => "32" }, "-W0", "--disable-gems"], STACKS + <<~'RUBY', timeout: 60)
      ractors = Array.new(32) do
        Ractor.new { Ractor.receive; kept = Array.new(200) { Fiber.new { Fiber.yield }.tap(&:resume) }; kept.count(&:alive?) }
      end
      ractors.each { |r| r.send(:go) }
      assert_equal([200] * 32, ractors.map(&:take))
      assert_operator(stacks, :<, 15_000)
    RUBY
  end

  # What waits for a processor while others collect is not made old; what was kept, and has become old, is found by a major one.
  def test_major_collections_for_forgotten_fibers
    assert_separately(%w[-W0 --disable-gems], STACKS + <<~'RUBY', timeout: 60)
      def majors = GC.stat(:major_gc_count)

      before = majors
      Array.new(8) { Ractor.new { 20_000.times { [1, 2].each_entry.next } } }.each(&:take)
      assert_operator(majors - before, :<, 10)

      omit("no /proc") unless File.exist?("/proc/self/status")
      10.times do
        kept = Array.new(3_000) { Fiber.new { Fiber.yield }.tap(&:resume) }
        4.times { GC.start(full_mark: false) }
        kept.clear
      end
      assert_operator(stacks, :<, 15_000)
    RUBY
  end

  # The heap grows with what is kept.
  def test_fibers_kept_by_several_ractors
    assert_separately(%w[-W0 --disable-gems], <<~'RUBY', timeout: 60)
      ractors = Array.new(4) { Ractor.new { Ractor.receive; Array.new(2_000) { Fiber.new { Fiber.yield }.tap(&:resume) }.size } }
      ractors.each { |r| r.send(:go) }
      assert_equal([2_000] * 4, ractors.map(&:take))
      assert_operator(GC.count, :<, 60)
    RUBY
  end
end
