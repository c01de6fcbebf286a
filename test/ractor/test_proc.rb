# frozen_string_literal: true
# ractor/test_proc.rb - ractor/proc.c: which Procs without Ruby code may be shared.

require "test/unit"

class TestLockfreeRactorProc < Test::Unit::TestCase
  def assert_not_made(proc)
    assert_raise(Ractor::IsolationError) { Ractor.make_shareable(proc) }
    assert_false(Ractor.shareable?(proc))
  end

  def assert_made(expected, proc, *arguments)
    assert_same(proc, Ractor.make_shareable(proc))
    assert_equal(expected, Ractor.new(proc, arguments) { |pr, args| pr.call(*args) }.take)
  end

  def setup
    @experimental, Warning[:experimental] = Warning[:experimental], false
  end

  def teardown
    Warning[:experimental] = @experimental
  end

  # Bug #19765
  def test_method
    assert_not_made((+"receiver").method(:<<).to_proc)
    assert_made(3, 1.method(:+).to_proc, 2)
    assert_made("ab", "a".method(:+).to_proc, "b")
    assert_made("C", :upcase.to_proc, "c")
  end

  def test_composed
    shareable = nil.instance_eval { proc { |x| x + 1 } }
    assert_not_made(shareable >> proc { |x| x })
    assert_not_made(1.method(:+) << (+"receiver").method(:<<))
    assert_made(6, shareable >> 4.method(:+), 1)
  end

  def test_curried
    sum = nil.instance_eval { lambda { |x, y| [x, y] } }
    assert_not_made(sum.curry[+"passed"])
    assert_made([1, 2], sum.curry[1], 2)
  end

  def test_block_of_c_code
    block = nil
    each = Object.new.tap { |o| o.define_singleton_method(:each) { |&b| block = b; b.call(1) } }
    each.extend(Enumerable)
    each.to_a
    assert_not_made(block)
  end
end
