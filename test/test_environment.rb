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
end
