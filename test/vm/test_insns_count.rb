# frozen_string_literal: true
# vm/test_insns_count.rb - vm/insns_count.c: the count is there for who asks, and right.

require "test/unit"
require "open3"
require_relative "../minirubies"

class TestLockfreeVMInsnsCount < Test::Unit::TestCase
  include LockfreeMinirubies

  PROGRAM = <<~'RUBY'
    $VERBOSE = nil
    count = -> { RubyVM::YJIT.runtime_stats(:vm_insns_count) }
    work = ->(n) { n.times { |i| i + 1 } }
    before = count.()
    work.(100_000)
    on_main = count.() - before
    before = count.()
    Array.new(3) { Ractor.new { 100_000.times { |i| i + 1 } } }.each(&:take)
    puts on_main, count.() - before
  RUBY

  def setup
    omit "no YJIT here" unless defined?(RubyVM::YJIT)
  end

  def counts(ruby, *options)
    out, err, status = Open3.capture3(ruby, "--disable-all", *options, "-e", PROGRAM)
    assert_predicate status, :success?, err[0, 2000]
    out.split.map(&:to_i)
  end

  # Without compilation, each turn of the loops takes the same instructions on both.
  def test_same_as_stock
    options = ["--yjit", "--yjit-call-threshold=1000000", "--yjit-stats=quiet"]
    ours = counts(EnvUtil.rubybin, "--yjit-disable-loop-entry", *options)
    theirs = counts(stock, *options)
    assert_equal theirs[0], ours[0]
    # stock loses counts of Ractors that run at once
    assert_operator ours[1], :>=, theirs[1]
    assert_in_delta 3 * ours[0], ours[1], ours[0] * 0.02
  end

  def test_nothing_is_counted_unasked
    assert_equal [0, 0], counts(EnvUtil.rubybin, "--yjit")
  end
end
