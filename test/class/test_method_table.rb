# frozen_string_literal: true
# class/test_method_table.rb - class/method_table.c: Ractors that copy, list and change the methods of one class.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeMethodTable < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_dup_and_dup
    assert_ractors(<<~'RUBY')
      class Base
        class << self
          attr_accessor :setting
          def number = 1
          define_method(:block, &Ractor.make_shareable(proc { 2 }))
        end
        attr_accessor :variable
        def number = 4
      end
      ractors = Array.new(8) do
        Ractor.new { 12_000.times.sum { copy = Base.dup; copy.number + copy.block + copy.new.number } }
      end
      assert_equal([12_000 * 7] * 8, ractors.map(&:take))
    RUBY
  end

  def test_racing_dup_and_define
    assert_ractors(<<~'RUBY')
      class Base; def self.number = 1; def number = 2; FIRST = 4; end
      copiers = Array.new(3) do
        Ractor.new { 1_000.times.sum { copy = Base.dup; copy.number + copy.new.number + copy::FIRST } }
      end
      1_000.times do |i|
        Base.attr_accessor("a#{i}")
        Base.singleton_class.attr_accessor("a#{i}")
        Base.const_set("A#{i}", i)
      end
      assert_equal([7_000] * 3, copiers.map(&:take))
    RUBY
  end

  # A class that something is prepended to has its methods in another table.
  def test_racing_clone_and_prepend_to_singleton_class
    assert_ractors(<<~'RUBY')
      def make = Class.new { def self.one = 1; def self.two = 2 }
      module Holder; end
      Holder::KLASS = make
      cloners = Array.new(3) do
        Ractor.new { copy = Holder::KLASS.clone until Holder.const_defined?(:STOP) || (copy && copy.one + copy.two != 3); true }
      end
      $VERBOSE = nil
      300.times do
        Holder.const_set(:KLASS, klass = make)
        sleep 0.0002
        klass.extend(Module.new { def other = super })
        klass.singleton_class.prepend(Module.new { def one = super })
      end
      Holder::STOP = true
      assert_equal([true] * 3, cloners.map(&:take))
    RUBY
  end

  # Of Ractors that remove a method, one does; the others are told that there is none.
  def test_racing_remove_and_remove
    assert_ractors(<<~'RUBY')
      class Base; end
      Base.attr_reader(*Array.new(3_000) { |i| "a#{i}" })
      removers = Array.new(4) do
        Ractor.new { 3_000.times.count { |i| Base.remove_method("a#{i}") rescue false } }
      end
      assert_equal(3_000, removers.sum(&:take))
    RUBY
  end

  # What method_added sees while a class is copied may change the class.
  def test_dup_whose_hook_defines
    assert_ractors(<<~'RUBY')
      class Base
        20.times { |i| attr_reader "a#{i}" }
        def self.method_added(name)
          Base.attr_reader("#{name}_") if equal?(Base) == false && !name.end_with?("_")
        end
      end
      methods = Ractor.new { Base.dup.instance_methods(false).size }.take
      assert_equal([21, 41], [methods, Base.instance_methods(false).size]) # method_added itself
    RUBY
  end

  def test_racing_list_and_define
    assert_ractors(<<~'RUBY')
      class Base; def number = 1; end
      listers = Array.new(3) do
        Ractor.new do
          1_000.times.all? do
            Base.instance_methods(false).include?(:number) && Base.instance_method(:number) &&
              Base.new.methods.include?(:number) && Base.new.public_method(:number).call == 1
          end
        end
      end
      3_000.times { |i| Base.attr_accessor("a#{i}"); Base.remove_method("a#{i}") if i.odd? }
      assert_equal([true] * 3, listers.map(&:take))
    RUBY
  end

  def test_racing_define_and_define
    assert_ractors(<<~'RUBY')
      class Base; end
      definers = Array.new(4) do |i|
        Ractor.new(i) { |i| 5_000.times { |j| Base.attr_reader("a#{i}_#{j}"); Base.send(:private, "a#{i}_#{j}") }; i }
      end
      assert_equal([0, 1, 2, 3], definers.map(&:take))
      assert_equal([20_000, 0], [Base.private_instance_methods(false).size, Base.instance_methods(false).size])
    RUBY
  end

  def test_racing_define_and_prepend
    assert_ractors(<<~'RUBY')
      300.times do
        Base = Class.new
        definer = Ractor.new { 300.times { |i| Base.attr_reader("a#{i}") } }
        Base.prepend(Module.new { def other = 1 })
        definer.take
        assert_equal([true] * 300, Array.new(300) { |i| Base.new.respond_to?("a#{i}") })
        assert_equal(300, Base.instance_methods(false).grep(/\Aa/).size)
        Object.send(:remove_const, :Base)
      end
    RUBY
  end

  # With one Ractor as well.
  def test_methods_of_a_refined_module
    assert_ractors(<<~'RUBY')
      module Mixin; def number = 1; def method_missing(name, *) = name; def respond_to_missing?(*) = true; end
      class Base; include Mixin; end
      class Child < Base; def number = 2; end
      REFINES = Module.new { refine(Mixin) { def number = 8; def method_missing(*) = 9; def respond_to_missing?(*) = false } }
      called = proc do
        [Base.new.method(:number).call, Child.new.method(:number).super_method.call, Base.new.method(:number).owner == Mixin,
         Base.instance_method(:number).bind_call(Child.new), Base.new.missing, Base.new.method(:missing).call]
      end
      assert_equal([1, 1, true, 1, :missing, :missing], called.call)
      assert_equal([1, 1, true, 1, :missing, :missing], Ractor.new(&called).take)
    RUBY
  end
end
