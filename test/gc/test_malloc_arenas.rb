# frozen_string_literal: true
# gc/test_malloc_arenas.rb - gc/malloc_arenas.h: how many arenas the C library makes for 8 Ractors.

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

  def setup
    omit "not glibc's malloc" unless RUBY_PLATFORM.match?(/linux/) && IO.popen(%w[getconf GNU_LIBC_VERSION], &:read).start_with?("glibc")
  end

  def arenas(environment = {})
    Integer(IO.popen([environment, "taskset", "--cpu-list", first_processor, our_miniruby, "--disable-all", "-e", PROGRAM], &:read))
  end

  def first_processor = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\d+)/, 1]

  def test_two_for_each_processor = assert_equal(1, arenas) # and main's

  def test_as_many_as_the_user_wants
    assert_operator(arenas("MALLOC_ARENA_MAX" => "6"), :>, 2)
    assert_operator(arenas("GLIBC_TUNABLES" => "glibc.malloc.arena_max=6"), :>, 2)
  end
end
