# frozen_string_literal: true
# gc/test_compact.rb - GC.compact beside C code that holds Strings and Arrays.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCCompact < Test::Unit::TestCase
  include LockfreeAssertRactors

  def setup
    omit "compaction is not supported" unless GC.respond_to?(:compact)
  end

  # Bytes that malloc has, though they would fit in the slot: tr of many characters makes such. Stock: SEGV.
  MAKE = <<~'RUBY'
    FROM = [*128..159].pack("U*").freeze
    TO = [*8200..8231].pack("U*").freeze
  RUBY

  def test_dup_that_compacts
    assert_separately([], MAKE + <<~'RUBY', timeout: 60)
      GC.auto_compact = true
      strings = Array.new(100) do
        string = "n12".dup.tr(FROM, TO)
        GC.stress = true
        copy = string.dup
        GC.stress = false
        [string, copy]
      end
      assert_equal([["n12", "n12"]], strings.uniq)
    RUBY
  end

  # Stock: SEGV, "input string invalid", freed bytes.
  def test_racing_copy_and_compact
    assert_ractors(MAKE + <<~'RUBY')
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3
      ractors = Array.new(4) do |n|
        Ractor.new(n, finish) do |n, finish|
          made = []
          until Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
            300.times do
              string = "n1#{n}".tr(FROM, TO)
              made << string.dup << string.upcase.downcase << string.sub(/[<]/, "*") << string + ""
              array = Array.new(30, n)
              array.pop(28)
              made << array.dup.map(&:itself).reverse.rotate.flatten.inspect
            end
            made.uniq!
          end
          made.sort
        end
      end
      until Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
        GC.compact
        sleep 0.003
      end
      assert_equal(Array.new(4) { |n| ["[#{n}, #{n}]", "n1#{n}"] }, ractors.map(&:take))
    RUBY
  end
end
