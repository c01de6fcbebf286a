# frozen_string_literal: true
# gc/test_remember.rb - the GC's remembered set, which Ractors write to at once.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCRemember < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Arrays of several Ractors lie side by side, so that their bits share words.  Stock: a crash, or other elements.
  def test_racing_fill_old_arrays
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do |n|
        Ractor.new(n) do |n|
          arrays = Array.new(1500) { Ractor.receive }
          finish = Ractor.receive
          4.times { GC.start }
          wrong = 0
          while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
            arrays.each { |array| array[0, 20] = Array.new(20) { [n] } } # more than 16: copied at once
            GC.start(full_mark: false) if n == 0
            Array.new(3000) { [:other] }
            wrong += arrays.count { |array| !array.all?([n]) }
          end
          wrong
        end
      end
      1500.times { ractors.each { |ractor| ractor.send(Array.new(20), move: true) } }
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 6
      ractors.each { |ractor| ractor.send(finish) }
      assert_equal([0] * 4, ractors.map(&:take))
    RUBY
  end

  # Copies of a StringIO share what they read from: the old one of two has what was written through the young.  Stock: "try to mark T_NONE object".
  def test_string_of_a_copied_stringio
    assert_separately(["-rstringio"], <<~'RUBY')
      strings = Array.new(50) do |k|
        old = StringIO.new("x" * 100).dup
        4.times { GC.start }
        ->(string) { old.dup.string = string }.call("live#{k}" * 20)
        2.times do
          GC.start(full_mark: false)
          Array.new(2000) { |i| "junk#{i}" * 20 }
        end
        old.string
      end
      assert_equal(Array.new(50) { |k| "live#{k}" * 20 }, strings)
    RUBY
  end
end
