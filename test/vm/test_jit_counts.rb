# frozen_string_literal: true
# vm/test_jit_counts.rb - vm/jit_counts.h: what YJIT counts of all Ractors, each Ractor by itself.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVMJITCounts < Test::Unit::TestCase
  def assert_counts(code)
    omit("no YJIT") unless defined?(RubyVM::YJIT)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=30], <<~'RUBY' + code, timeout: 60)
      def live_and_made = RubyVM::YJIT.runtime_stats.values_at(:live_iseq_count, :iseq_alloc_count)
    RUBY
  end

  UNTOLD = 256

  # A Ractor tells what it has counted as it ends.
  def test_racing_iseqs
    assert_counts(<<~RUBY)
      Ractor.new { }.take
      GC.start
      live, made = live_and_made
      Array.new(6) { Ractor.new { 5_000.times { |i| eval("i") } } }.each(&:take)
      Array.new(50) { Ractor.new { 10.times { |i| eval("i") } } }.each(&:take)
      more = live_and_made[1] - made
      3.times { GC.start }
      assert_in_delta(30_500, more, #{UNTOLD})
      assert_in_delta(live, live_and_made[0], 2 * #{UNTOLD} + 100)
    RUBY
  end

  def test_one_ractor_counts_exactly
    assert_counts(<<~'RUBY')
      made = live_and_made[1]
      1000.times { |i| eval("i") }
      assert_equal(1000, live_and_made[1] - made)
    RUBY
  end

  # What is called often in a Ractor is compiled there, whatever others call meanwhile.
  def test_calls_of_a_ractor_are_compiled
    assert_counts(<<~'RUBY')
      others = Array.new(2) { Ractor.new { until Ractor.receive_if { true } == :end; 2000.times { |i| eval("i") }; end } }
      compiled = Ractor.new(others) do |others|
        before = RubyVM::YJIT.runtime_stats[:compiled_iseq_count]
        20.times do |n|
          others.each { |other| other << :go }
          eval("def called_often_#{n} = #{n}")
          500.times { Object.new.__send__("called_often_#{n}") }
        end
        RubyVM::YJIT.runtime_stats[:compiled_iseq_count] - before
      end.take
      others.each { |other| other << :end }
      assert_operator(compiled, :>=, 20)
    RUBY
  end
end
