# frozen_string_literal: true
# test_environment.rb - environment.h: variables of the environment that C code reads.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeEnvironment < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Without the lock, a crash in some runs.
  def test_racing_set_and_expand_home
    assert_ractors(<<~'RUBY')
      ENV["HOME"] = home = Dir.pwd
      others = Array.new(3) { Ractor.new { Array.new(50_000) { File.expand_path("~") }.tally } }
      60.times do
        200.times { |i| ENV["LOCKFREE#{i}"] = "x" * 30 }
        200.times { |i| ENV.delete("LOCKFREE#{i}") }
      end
      assert_equal([{ home => 50_000 }] * 3, others.map(&:take))
    RUBY
  end

  # A Ractor that works out a Time reads TZ while it is deleted.
  def test_racing_delete_zone_and_local_time
    assert_ractors(<<~'RUBY')
      ENV["TZ"] = "UTC"
      others = Array.new(3) { Ractor.new { Time.at(0).hour until ENV["LOCKFREE_STOP"] } }
      offsets = Array.new(20_000) do
        ENV["TZ"] = "Asia/Tokyo"
        set = Time.now.utc_offset
        ENV.delete("TZ")
        [set, Time.now.utc_offset]
      end
      ENV["LOCKFREE_STOP"] = "1"
      others.each(&:take)
      assert_equal([[32_400, 0]], offsets.uniq)
    RUBY
  end
end
