# frozen_string_literal: true
# test_method_definition.rb - method_definition.h: Ractors that make objects of one method.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeMethodDefinition < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_bind_and_bind
    assert_ractors(<<~'RUBY')
      class Base; def number = 1; attr_reader :variable; end
      ractors = Array.new(4) do
        Ractor.new do
          object = Base.new
          200_000.times.sum do
            Base.instance_method(:variable).bind(object).call
            Base.instance_method(:number).bind(object).call + 5.method(:+).unbind.bind(7).call(1)
          end
        end
      end
      assert_equal([200_000 * 9] * 4, ractors.map(&:take))
    RUBY
  end

  # Arguments are collected between the look-up and the frame: the GC, in another Ractor, may come between.
  def test_racing_redefine_and_collect_arguments
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      ractors = Array.new(6) do
        Ractor.new do
          10_000.times { eval("def among(*a, **k, &b) = [a, k, b&.call]; among(1, x: 2) { 3 }") }
          among(1, x: 2) { 3 }
        end
      end
      assert_equal([[[1], {x: 2}, 3]] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_bind_and_redefine
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      class Base; def number = 1; end
      ractors = Array.new(3) do
        Ractor.new { 60_000.times.all? { [1, 2].include?(Base.instance_method(:number).bind_call(Base.new)) } }
      end
      3_000.times { |i| Base.class_eval("def number = #{1 + i % 2}; alias number#{i} number") }
      GC.start
      assert_equal([true] * 3, ractors.map(&:take))
    RUBY
  end

  # An alias of a module's method finds its class when it is first called.
  def test_racing_first_calls_of_alias
    assert_ractors(<<~'RUBY')
      100.times do
        Mixin = Module.new { 50.times { |j| define_method("m#{j}", &Ractor.make_shareable(proc { j })); alias_method "a#{j}", "m#{j}" } }
        Mixed = Class.new { include Mixin }
        ractors = Array.new(4) { Ractor.new { mixed = Mixed.new; 50.times.sum { |j| mixed.__send__("a#{j}") } } }
        assert_equal([49 * 25] * 4, ractors.map(&:take))
        Object.send(:remove_const, :Mixin)
        Object.send(:remove_const, :Mixed)
      end
    RUBY
  end
end
