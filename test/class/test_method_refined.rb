# frozen_string_literal: true
# class/test_method_refined.rb - class/method_refined.h: methods that are refined while Ractors call them.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeMethodRefined < Test::Unit::TestCase
  include LockfreeAssertRactors

  # What a method is made by, each a way to call it.
  DEFINITIONS = {
    "iseq" => "def number(a) = a", "rest" => "def number(*a) = a[0]", "keywords" => "def number(a, k: 1) = a",
    "alias" => "def x(a) = a; alias number x",
    "block" => "define_method(:number, &Ractor.make_shareable(class_eval { proc { |a| a } }))"
  }.freeze

  def assert_racing(definition, change)
    assert_ractors(<<~RUBY)
      def make = Class.new { #{definition} }
      module Holder; end
      Holder::KLASS = make
      $VERBOSE = nil
      callers = Array.new(2) do
        Ractor.new do
          until Holder.const_defined?(:STOP)
            object = Holder::KLASS.new
            300.times { x = object.number(5); raise x.inspect if x != 5 }
          end
          true
        end
      end
      100.times do
        klass = make
        Holder.const_set(:KLASS, klass)
        sleep 0.001
        #{change}
      end
      Holder::STOP = true
      assert_equal([true] * 2, callers.map(&:take))
    RUBY
  end

  DEFINITIONS.each do |name, definition|
    define_method("test_racing_refine_and_call_#{name}") do
      assert_racing(definition, "Module.new { refine(klass) { def number(a) = :never } }")
    end
  end

  def test_racing_prepend_and_call_refined
    assert_racing(DEFINITIONS["iseq"], <<~RUBY)
      Module.new { refine(klass) { def number(a) = :never } }
      sleep 0.001
      klass.prepend(Module.new { def other = 1 })
    RUBY
  end

  # With one Ractor as well.
  def test_refined_before_and_after_prepend
    assert_ractors(<<~'RUBY')
      class Base; def number = 1; def other = 3; end
      module First; refine(Base) { def number = 10 + super }; end
      Base.prepend(Module.new { def number = 100 + super })
      module Second; refine(Base) { def other = 30 + super }; end
      class Base; def number = 2; end
      using First
      using Second
      assert_equal([112, 33], [Base.new.number, Base.new.other])
    RUBY
  end

  # A class of which a method is refined that it has from a module, where that is refined too.  With one Ractor as well.
  def test_refined_of_module_that_is_refined
    assert_ractors(<<~'RUBY')
      class Base; def number = 1; end
      module Mixin; def number = 10 + super; end
      class Sub < Base; include Mixin; end
      module Mixed; refine(Mixin) { def number = 100 + super }; end
      module Refining; refine(Sub) { def number = 1_000 + super }; end
      sub = Sub.new
      ways = [sub.number, sub.__send__(:number), sub.public_send(:number), sub.method(:number).call, [sub].map(&:number)[0],
              sub.public_method(:number).unbind.bind_call(sub), Sub.instance_method(:number).bind_call(sub)]
      assert_equal([11] * 7, ways)
      assert_equal(1, sub.method(:number).super_method.call)

      module Ahead; def other = 5 + super; end # before what is refined
      module Behind; def other = 20; prepend(Ahead); end
      class Base; def other = 30; end
      class Sub; include Behind; end
      module Third; refine(Behind) { def other = 1 } end
      module Only; refine(Mixin) { def plain = 1 } end # which has none
      class Base; def plain = 3; end
      [[:other, 25], [:plain, 3]].each do |name, number|
        assert_equal([number] * 5, [eval("sub.#{name}"), sub.__send__(name), sub.public_send(name), sub.method(name).call, [sub].map(&name)[0]])
        assert(sub.respond_to?(name))
      end
      using Refining
      assert_equal([1_011] * 4, [sub.number, sub.__send__(:number), sub.method(:number).call, [sub].map(&:number)[0]])
    RUBY
  end

  # What is found is filed as it was found.
  def test_racing_redefine_and_look_up_refined_of_module
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      module Mixin; def number = 0; end
      class Base; include Mixin; end
      module Refining; refine(Base) { def number = :refined }; end
      module Holder; end
      lookers = Array.new(3) do
        Ractor.new { base = Base.new; (base.method(:number); base.respond_to?(:number)) until Holder.const_defined?(:STOP) }
      end
      base = Base.new
      stale = 4_000.times.find { |i| Mixin.module_eval("def number = #{i}"); base.number != i }
      Holder::STOP = true
      lookers.each(&:take)
      assert_nil(stale)
    RUBY
  end

  # A class that made it protected goes on to what is not there: a crash, with one Ractor as well.
  def test_visibility_of_an_undefined_refined_method
    assert_ractors(<<~'RUBY')
      parent = Class.new { def foo = 1 }
      child = Class.new(parent) { protected :foo }
      Module.new { refine(parent) { def foo = 2 } }
      parent.undef_method(:foo)
      assert_raise(NoMethodError) { child.new.instance_eval { foo() } }
    RUBY
  end
end
