# frozen_string_literal: true
# gc/test_room.rb - gc/room.h: how often several Ractors collect, and how large their heap is.

require "etc"
require "test/unit"
require_relative "../minirubies"

class TestLockfreeGCRoom < Test::Unit::TestCase
  include LockfreeMinirubies

  PROGRAM = <<~'RUBY'
    Warning[:experimental] = false
    before = GC.stat
    ractors = Array.new(8) { Ractor.new { Ractor.receive; 200_000.times { |i| [i] }; nil } }
    ractors.each { |ractor| ractor.send(:start) }
    ractors.each(&:take)
    puts GC.count - before[:count], GC.stat(:major_gc_count) - before[:major_gc_count], GC.stat(:heap_allocated_pages)
  RUBY

  # What a miniruby prints for +program+, as numbers.
  def numbers(miniruby, program)
    IO.popen([miniruby, "--disable-all", "-e", program], &:read).lines.map { |line| Integer(line) }
  end

  def ours(program) = numbers(our_miniruby, program)

  # Stock: some 500 collections, every fourth a major one.
  def test_eight_ractors_collect_seldom
    collections, majors, pages = ours(PROGRAM)
    assert_operator(collections, :<, numbers(stock, PROGRAM)[0] / 2)
    assert_operator(majors, :<, 20)
    assert_operator(pages, :<, 14 + 8 * (24 + 5) + 8)
  end

  # Each makes the heap look small to upstream, which wants 4,096 free slots for each Ractor, of whatever size.
  def test_no_major_collections_where_one_thread_has_none
    ["{ a: i, b: i }", "'x' * 2000", "'x' * 20_000", "Array.new(200)"].each do |object|
      collections, majors, = ours(PROGRAM.sub("[i]", "kept = #{object}").sub("200_000", "160_000"))
      assert_operator(collections, :>, 16, object)
      assert_operator(majors, :<, collections / 8 + 2, object)
    end
  end

  # What becomes old and dies: a sixth of them, or a ninth if what upstream wants free were always wanted once.
  def test_major_collections_where_memory_of_malloc_gets_old
    ring = "kept = Array.new(5_000); 100_000.times { |i| kept[i % 5_000] = 'x' * 2000; 5.times { [i] } }"
    collections, majors, = ours(PROGRAM.sub("200_000.times { |i| [i] }", ring))
    assert_operator(majors, :>, collections * 0.125)
  end

  def test_one_thread_has_the_heap_of_stock
    program = "500_000.times { |i| [i] }; puts GC.count, GC.stat(:heap_allocated_pages)"
    numbers(stock, program).zip(ours(program)) { |theirs, mine| assert_in_delta(theirs, mine, theirs * 0.2 + 1) }
  end

  # A page of them has megabytes of malloc's: there is no room for those.
  def test_objects_with_memory_of_malloc
    _, _, pages = ours(PROGRAM.sub("[i]", "Array.new(1000)").sub("200_000", "10_000"))
    assert_operator(pages, :<, 14 + 8 * 12)
  end

  # Stock has 14 pages there, with one Ractor or with 200.
  def test_room_is_for_as_many_as_can_run
    _, _, pages = ours(PROGRAM.sub("new(8)", "new(200)").sub("200_000", "4_000"))
    running = [8, Etc.nprocessors].max
    assert_operator(pages, :<, 25 + running * (24 * 2 + 5))
  end

  # Each collection goes through the stacks of all.
  def test_idle_ractors_are_gone_through_less_often
    idle = PROGRAM.sub("before =", "idle = Array.new(1000) { Ractor.new { Ractor.receive } }; before =")
    alone, beside_idle = [PROGRAM, idle].map { |program| ours(program.sub("200_000", "600_000")) }
    assert_operator(beside_idle[0], :<, alone[0] * 0.8)
    assert_operator(beside_idle[2], :<, 25 + 8 * (24 * 2 + 5))
  end

  GIVEN_BACK = <<~'RUBY'
    Warning[:experimental] = false
    ractors = Array.new(8) { Ractor.new { Ractor.receive; 200_000.times { |i| [i] }; nil } }
    ractors.each { |ractor| ractor.send(:start) }
    ractors.each(&:take)
    with_room = GC.stat(:heap_allocated_pages)
    sleep 0.01 until Ractor.count == 1 # who has answered may not have ended yet
    4.times { GC.start }
    puts with_room, GC.stat(:heap_allocated_pages)
  RUBY

  # A busy machine may run the Ractors one after the other, and then they get no room.
  def test_collections_of_main_alone_give_the_room_back
    with_room, pages = Array.new(5) { ours(GIVEN_BACK) }.max
    assert_operator(with_room, :>, 30)
    assert_operator(pages, :<, 25)
  end

  # Main's own pages are not room, though a Ractor was there.
  def test_the_heap_of_main_stays
    pages, given_back = ours(<<~'RUBY')
      Warning[:experimental] = false
      Ractor.new { 1 }.take
      living = Array.new(100_000) { |i| [i] }
      10.times { Ractor.new { GC.start; 1 }.take; 100_000.times { |i| [i] } }
      GC.start
      puts GC.stat(:heap_allocated_pages), GC.stat(:total_freed_pages)
    RUBY
    assert_operator(given_back, :<, pages / 4)
  end

  def test_a_child_has_the_heap_of_one_thread
    omit "no fork" unless Process.respond_to?(:fork)
    pages = ours(<<~'RUBY')
      Warning[:experimental] = false
      ractors = Array.new(8) { Ractor.new { loop { [1] } } }
      sleep 0.5
      Process.wait(fork { 2.times { GC.start }; 100_000.times { |i| [i] }; puts GC.stat(:heap_allocated_pages); STDOUT.flush; exit! })
      exit!
    RUBY
    assert_operator(pages[0], :<, 40)
  end

  # Where there is no memory for room, the heap does as it does without; and malloc gets what room has taken.
  def test_no_memory
    omit "no limit of memory" unless File.readable?("/proc/self/status") && Process.const_defined?(:RLIMIT_AS)
    done = ours(<<~'RUBY')
      Warning[:experimental] = false
      ractors = Array.new(8) { Ractor.new { Ractor.receive; 50_000.times { |i| [i] }; Ractor.yield nil; Ractor.receive } }
      Process.setrlimit(Process::RLIMIT_AS, (Integer(File.read("/proc/self/status")[/VmSize:\s+(\d+)/, 1]) + 4096) * 1024)
      ractors.each { |ractor| ractor.send(:start) }
      ractors.each(&:take)
      puts Array.new(11) { "x" * (256 * 1024) }.size
      $stdout.flush
      exit!
    RUBY
    assert_equal([11], done)
  end

  def test_growth_is_bounded_by_the_variable
    limited = IO.popen([{ "RUBY_GC_HEAP_GROWTH_MAX_SLOTS" => "2000" }, EnvUtil.rubybin, "--disable-gems", "-e", PROGRAM], &:read)
    assert_operator(Integer(limited.lines[2]), :<, 14 + 8 * 5)
  end

  def test_room_with_compaction
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 120)
      GC.auto_compact = true if GC.respond_to?(:auto_compact=)
      ractors = Array.new(4) { |n| Ractor.new(n) { |k| Array.new(30_000) { |i| [k, i] }.sum { |_, i| i } } }
      5.times { GC.start; GC.compact if GC.respond_to?(:compact) }
      assert_equal([30_000 * 29_999 / 2] * 4, ractors.map(&:take))
      GC.verify_internal_consistency
    RUBY
  end
end
