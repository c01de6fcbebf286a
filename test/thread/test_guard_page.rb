# frozen_string_literal: true
# thread/test_guard_page.rb - thread/guard_page.h: stacks end at a page that nobody may touch, and need no mapping each; gc/unmap.h: the heap
# where there may be no more mappings.

require "test/unit"

class TestLockfreeGuardPage < Test::Unit::TestCase
  LIMIT = "/proc/sys/vm/max_map_count"
  MAPPINGS = "def mappings = File.foreach('/proc/self/maps').count\n"
  # Marshal descends in C, and looks at no limit.
  OVERFLOW = <<~'RUBY'
    DEEP = 200_000.times.inject([].freeze) { |inner, _| [inner].freeze }
    def overflows
      Marshal.dump(DEEP).size
    rescue SystemStackError => error
      error.class
    end
  RUBY

  def assert_guarded(code)
    assert_separately(%w[-W:no-experimental --disable-gems], OVERFLOW + code, timeout: 120)
  end

  def test_no_mapping_for_each_fiber
    omit "Linux 6.13 and later" unless linux?(6, 13)
    assert_separately(%w[--disable-gems], MAPPINGS + <<~'RUBY')
      Fiber.new {}.resume
      before = mappings
      fibers = Array.new(2000) { Fiber.new { Fiber.yield }.tap(&:resume) }
      assert_operator(mappings - before, :<, 500)
      assert_equal(2000, fibers.count(&:alive?))
    RUBY
  end

  def test_no_mapping_for_each_ractor
    omit "Linux 6.13 and later" unless linux?(6, 13)
    assert_separately(%w[-W:no-experimental --disable-gems], MAPPINGS + <<~'RUBY', timeout: 60)
      Ractor.new {}.take
      before = mappings
      ractors = Array.new(500) { Ractor.new { receive } }
      sleep 0.2
      assert_operator(mappings - before, :<, 300)
      ractors.each { |ractor| ractor.send(nil) }.each(&:take)
    RUBY
  end

  # A stack that has been deep loses its memory, and keeps its guard.
  def test_overflow_in_a_fiber
    assert_guarded(<<~'RUBY')
      def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
      3.times do
        assert_equal([SystemStackError] * 200, Array.new(200) { Fiber.new { deep(500); overflows }.resume })
        GC.start
      end
    RUBY
  end

  def test_overflow_in_ractors
    assert_guarded(<<~'RUBY')
      3.times do
        ractors = Array.new(4) { Ractor.new { [overflows, Fiber.new { overflows }.resume] } }
        assert_equal([[SystemStackError] * 2] * 4, ractors.map(&:take))
      end
    RUBY
  end

  def test_overflow_after_a_fork
    assert_guarded(<<~'RUBY')
      fiber = Fiber.new { Fiber.yield; overflows }
      fiber.resume
      pid = fork { exit!(fiber.resume == SystemStackError && Fiber.new { overflows }.resume == SystemStackError) }
      assert_predicate(Process.wait2(pid)[1], :success?)
      assert_equal(SystemStackError, fiber.resume)
    RUBY
  end

  # Every other page of the heap is to go back, which makes two mappings of one.
  def test_heap_at_the_limit_of_mappings
    omit "no #{LIMIT}" unless File.readable?(LIMIT)
    omit "#{LIMIT} is high" if File.read(LIMIT).to_i > 300_000
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 120)
      strings = Array.new(400_000) { |i| i.to_s }
      file = File.open(RbConfig.ruby)
      buffers = []
      begin
        loop { buffers << IO::Buffer.map(file, 1, 0, IO::Buffer::READONLY) }
      rescue SystemCallError => error
        assert_equal(Errno::ENOMEM, error.class)
      end
      buffers.pop(3).each(&:free)
      strings = strings.each_slice(1700).with_index.map { |slice, i| slice if i % 5 == 0 }
      before = GC.stat(:heap_allocated_pages)
      12.times { GC.start }
      buffers.pop(1000).each(&:free)
      assert_operator(GC.stat(:heap_allocated_pages), :<, before)
      assert_equal((0...400_000).each_slice(1700).each_slice(5).flat_map(&:first).map(&:to_s), strings.compact.flatten)
      assert_equal(100_000, Array.new(100_000) { |i| i.to_s }.size)
    RUBY
  end

  private

  def linux?(*version)
    RUBY_PLATFORM.include?("linux") && (IO.popen(%w[uname -r], &:read).scan(/\d+/).first(2).map(&:to_i) <=> version) >= 0
  end
end
