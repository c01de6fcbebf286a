# frozen_string_literal: true
# yjit/test_define_method.rb - calls of methods that a shareable Proc defines, compiled with several Ractors.

require "test/unit"

class TestLockfreeYjitDefineMethod < Test::Unit::TestCase
  # #both is called by main and by another Ractor, each until its calls are compiled.
  PROGRAM = <<~'RUBY'
    $VERBOSE = nil # methods are redefined on purpose
    class Adder
      FIRST = Ractor.make_shareable(nil.instance_exec { proc { |number, by: 1, &block| block ? block.call(number + by) : number + by } })
      SECOND = Ractor.make_shareable(nil.instance_exec { proc { |number, by: 2, &block| (block ? block.call(number) : number) - by } })
      define_method(:add, &FIRST)
    end

    def calls(adder) = [adder.add(1), adder.add(1, by: 5), adder.add(1) { |number| number * 10 }, adder.then { |it| it.add(7) }]
    def warm(adder) = 100.times { calls(adder) }
    OTHER = Ractor.new do
      adder = Adder.new
      while Ractor.receive
        warm(adder)
        Ractor.yield(calls(adder))
      end
    end

    def both(adder = Adder.new)
      warm(adder)
      OTHER.send(true)
      [calls(adder), OTHER.take]
    end
    BY_FIRST = [2, 6, 20, 8]
    BY_SECOND = [-1, -4, 8, 5]
  RUBY

  def assert_both(code)
    omit("no YJIT") unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=2], PROGRAM + code, timeout: 60)
  end

  def test_redefined
    assert_both(<<~'RUBY')
      3.times do
        assert_equal([BY_FIRST] * 2, both)
        Adder.define_method(:add, &Adder::SECOND)
        assert_equal([BY_SECOND] * 2, both)
        Adder.define_method(:add, &Adder::FIRST)
      end
      Adder.remove_method(:add)
      assert_raise(NoMethodError) { calls(Adder.new) }
    RUBY
  end

  # A Proc that nobody else has any more lies at an address that the collector gives away.
  def test_the_replaced_proc_is_collected
    assert_both(<<~'RUBY')
      20.times do |turn|
        number = turn # of its own binding: a new Proc each time
        Adder.define_method(:add, &Ractor.make_shareable(nil.instance_exec { proc { |one, by: 0, &block| one + number } }))
        assert_equal([[1 + turn, 1 + turn, 1 + turn, 7 + turn]] * 2, both)
        GC.start
        1000.times { proc {} }
      end
    RUBY
  end

  def test_traced
    assert_both(<<~'RUBY')
      both
      names = []
      adder = Adder.new
      TracePoint.new(:call, :return) { |event| names << [event.event, event.method_id] }.enable { adder.add(1) }
      assert_equal([[:call, :add], [:return, :add]], names)
      assert_equal([BY_FIRST] * 2, both)
    RUBY
  end

  # One that is not shareable raises in the other Ractor, and there only, also after it was compiled here.
  def test_not_shareable
    assert_both(<<~'RUBY')
      assert_equal([BY_FIRST] * 2, both)
      array = [1]
      Adder.define_method(:sum) { array.sum }
      100.times { assert_equal(1, Adder.new.sum) }
      error = Ractor.new { 3.times.map { Adder.new.sum rescue $!.class } }.take
      assert_equal([RuntimeError] * 3, error)
    RUBY
  end
end
