# frozen_string_literal: true
# gc/test_malloc_arenas.rb - gc/malloc_arenas.h: how many arenas the C library makes for 8 Ractors, and what they keep.

require "test/unit"
require_relative "../minirubies"

class TestLockfreeGCMallocArenas < Test::Unit::TestCase
  include LockfreeMinirubies

  # glibc's arenas but main's lie in blocks of 64 MB, of which what is not in use has no rights.
  PROGRAM = <<~'RUBY'
    Warning[:experimental] = false
    ractors = Array.new(8) { Ractor.new { kept = Array.new(100) { "x" * 5000 }; Ractor.yield(:made); Ractor.receive; kept.size } }
    ractors.each(&:take)
    maps = File.readlines("/proc/self/maps").map { |line| line.split.values_at(0, 1) }
    puts maps.each_cons(2).count { |(here, _), (beyond, rights)|
      from, to = here.split("-").first.hex, beyond.split("-").last.hex
      rights == "---p" && from % (1 << 26) == 0 && to == from + (1 << 26)
    }
    ractors.each { |ractor| ractor.send(:end) }
  RUBY

  # Blocks of less than what is mapped, which each turn gives back; and holes among those of main's, into which more fits.
  TURNS = <<~'RUBY'
    Warning[:experimental] = false
    A = ("a" * 90_000).freeze
    def block(bytes) = String.new(capacity: bytes) << "a"
    holes = Array.new(60) { block(30_000) }
    after = Array.new(20) { block(2000) }
    holes.each(&:clear)
    def faults = Integer(File.read("/proc/self/stat").split[9])
    puts(Ractor.new {
      turn = proc { Array.new(4) { block(100_000) << A }.each(&:clear) }
      100.times(&turn)
      before = faults
      1000.times(&turn)
      faults - before
    }.take)
  RUBY

  def setup
    omit "not glibc's malloc" unless RUBY_PLATFORM.match?(/linux/) && IO.popen(%w[getconf GNU_LIBC_VERSION], &:read).start_with?("glibc")
  end

  def arenas(environment = {})
    Integer(IO.popen([environment, "taskset", "--cpu-list", first_processor, our_miniruby, "--disable-all", "-e", PROGRAM], &:read))
  end

  def first_processor = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\d+)/, 1]

  def test_two_for_each_processor = assert_equal(1, arenas) # and main's

  # Each turn gave the arena's end back to the system, and had its pages anew.
  def test_end_of_an_arena_is_kept
    assert_operator(Integer(IO.popen([our_miniruby, "--disable-all", "-e", TURNS], &:read)), :<, 1000)
  end

  def test_as_many_as_the_user_wants
    assert_operator(arenas("MALLOC_ARENA_MAX" => "6"), :>, 2)
    assert_operator(arenas("GLIBC_TUNABLES" => "glibc.malloc.arena_max=6"), :>, 2)
  end
end
