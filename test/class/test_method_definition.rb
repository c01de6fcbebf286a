# frozen_string_literal: true
# class/test_method_definition.rb - class/method_definition.h: Ractors that make objects of one method.

require "test/unit"
require_relative "../assert_ractors"

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

  # Over 31 keywords whose defaults are to be computed, and not given, are noted in a Hash.
  def test_racing_redefine_and_fill_keywords
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      class Base
        DEFINITION = Ractor.make_shareable("def number(" + (1..40).map { |i| "k#{i}: [#{i}]" }.join(", ") + ") = [k1, k2, k40]")
        class_eval DEFINITION
        def call = number(k3: 5, k2: 6)
      end
      callers = Array.new(5) do
        Ractor.new do
          base = Base.new
          200.times { (x = base.call) == [[1], 6, [40]] or raise x.inspect } until Base.const_defined?(:STOP)
          true
        end
      end
      writers = Array.new(2) { Ractor.new { 600.times { |i| Base.class_eval(Base::DEFINITION); GC.start(full_mark: i % 8 == 0) if i.even? } } }
      writers.each(&:take)
      Base::STOP = true
      assert_equal([true] * 5, callers.map(&:take))
    RUBY
  end

  def test_racing_redefine_and_call_method_of_symbol
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      class Target; def given(**k) = k; end
      class Base
        BODY = Ractor.make_shareable(:given.to_proc)
        define_method(:number, &BODY)
      end
      callers = Array.new(5) do
        Ractor.new do
          base = Base.new
          target = Target.new
          200.times { (x = base.number(target, k: 1)) == { k: 1 } or raise x.inspect } until Base.const_defined?(:STOP)
          true
        end
      end
      writers = Array.new(2) do
        Ractor.new { 600.times { |i| Base.define_method(:number, &Base::BODY); GC.start(full_mark: i % 8 == 0) if i.even? } }
      end
      writers.each(&:take)
      Base::STOP = true
      assert_equal([true] * 5, callers.map(&:take))
    RUBY
  end

  # An alias belongs to the class that it is made in, from its first moment.
  def test_redefine_an_alias_in_method_added
    assert_ractors(<<~'RUBY')
      class Base; def number = 1; end
      class Child < Base; end
      class Grandchild < Child; end
      class Child
        def self.method_added(name)
          return if name != :other || @once
          @once = true
          new.other
          class_eval("def other = 2")
        end
        alias other number
      end
      assert_equal([false, 2], [Base.method_defined?(:other), Child.new.other])
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

  # It went on with the class that the method of the same definition came from.
  def test_alias_over_a_method_of_the_same_definition
    b = Class.new { def b = "t#{super rescue "-"}" }
    c = Class.new(b) { alias_method :b, :b; define_method(:a, instance_method(:b)); alias_method :b, :a }
    assert_equal(%w[tt- tt-], [c.new.a, c.new.b])
  end
end
