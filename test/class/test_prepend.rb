# frozen_string_literal: true
# class/test_prepend.rb - iclass_origin_insert, in class/method_table.h: something is prepended to a module whose methods were called.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeClassPrepend < Test::Unit::TestCase
  include LockfreeAssertRactors

  CLASSES = <<~'RUBY'
    $VERBOSE = nil
    def made
      mod = Module.new do
        def kept = [:kept, (super rescue :none)]
        def replaced = [:replaced, (super rescue :none)]
        def calls = [kept, replaced]
        def refined = :plain
      end
      base = Class.new { def kept = :base; def calls_super = :base }
      klass = Class.new(base) { include mod; def calls_super = [super, kept] }
      [mod, klass, Class.new(klass) { def kept = [:sub, super]; def replaced = [:sub, super] }]
    end
    def call(*classes)
      classes.flat_map do |klass|
        o = klass.new
        %i[kept replaced calls calls_super refined added].map { |name| o.__send__(name) rescue $!.class } +
          [(o.kept rescue $!.class), (o.replaced rescue $!.class), o.respond_to?(:added),
           klass.instance_method(:calls).owner.eql?(o.method(:calls).owner)]
      end
    end
    PREPENDED = Module.new do
      def replaced = [:prepended, super]
      def added = :added
    end
  RUBY

  # After each change: called before, and never called before.
  [
    "mod.prepend(PREPENDED)",
    "mod.define_method(:kept, &PROC)",
    "mod.remove_method(:kept)",
    "mod.send(:private, :kept)",
    "mod.undef_method(:replaced)",
    "klass.superclass.define_method(:replaced, &PROC)",
    "klass.define_method(:kept, &PROC)",
    "mod.prepend(Module.new { def kept = [:second, super] })",
    "mod.include(Module.new { def kept = :below; def added = :below })",
    "klass.include(Module.new { def kept = [:above, super] })",
    "Module.new { refine(mod) { def refined = :refined } }",
  ].each do |change|
    define_method("test_prepend_then_#{change}") do
      assert_ractors(CLASSES + <<~RUBY)
        PROC = nil.instance_eval { Ractor.make_shareable(proc { :new }) }
        def change(mod, klass) = #{change}
        def turn(first)
          mod, klass, sub = made
          3.times { call(klass, sub) } if first
          seen = [(mod.prepend(PREPENDED); call(klass, sub)), call(klass, sub)]
          change(mod, klass)
          seen << call(klass, sub) << call(klass, sub) << call(Class.new(klass), klass.dup)
        end
        expected = turn(false)
        20.times { assert_equal(expected, turn(true)) }
        assert_equal([expected] * 3, Array.new(3) { Ractor.new { Array.new(20) { turn(true) }.uniq } }.flat_map(&:take))
        assert_equal(expected, turn(true))
      RUBY
    end
  end

  # The module has nothing of the name, but that it is refined, and keeps that.
  def test_prepend_to_a_module_that_is_refined
    assert_ractors(<<~'RUBY')
      def seen(called)
        mod = Module.new
        klass = Class.new(Class.new { def foo = :base }) { include mod }
        Module.new { refine(mod) { def foo = :refined } }
        call = -> { [klass.new.foo, klass.new.method(:foo).call] }
        3.times { call[] } if called
        mod.prepend(Module.new { def foo = [:prepended, super] })
        after = call[]
        mod.define_method(:foo, &FOO)
        [after, call[], Class.new(klass).new.foo]
      end
      FOO = nil.instance_eval { Ractor.make_shareable(proc { [:own, super()] }) }
      expected = seen(false)
      assert_equal([[:prepended, :base]] * 2, expected[0])
      20.times { assert_equal(expected, seen(true)) }
      assert_equal([expected], Ractor.new { Array.new(20) { seen(true) }.uniq }.take)
    RUBY
  end

  # Upstream calls what was there before for ever: the copies of the module whose methods change are not in its list.
  def test_method_that_is_put_anew_below_a_prepended_one
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      def call(object) = object.foo
      PREPENDED = Module.new { def foo = [:prepended, super] }
      EMPTY = Module.new
      FOO, NEW = [:own, :new].map { |value| nil.instance_eval { Ractor.make_shareable(proc { value }) } }
      REFINED = Module.new { def self.of(mod) = refine(mod) { def foo = :refined } }
      def seen(warm, prepended, refined)
        mod = Module.new
        mod.define_method(:foo, &FOO)
        object = Class.new(Class.new { def foo = :base }) { include mod }.new
        warmed = -> { warm ? Array.new(3) { call(object) }.last : call(object) }
        if refined
          warmed.call
          REFINED.of(mod)
        end
        mod.prepend(prepended)
        [warmed, -> { mod.define_method(:foo, &NEW); warmed.call }, -> { mod.remove_method(:foo); warmed.call }].map(&:call) <<
          object.respond_to?(:foo)
      end
      prepended = [[:prepended, :own], [:prepended, :new], [:prepended, :base], true]
      own = [:own, :new, :base, true]
      def all = [true, false].flat_map { |warm| [true, false].map { |refined| [seen(warm, PREPENDED, refined), seen(warm, EMPTY, refined)] } }
      5.times { assert_equal([[prepended, own]] * 4, all) }
      assert_equal([[[prepended, own]] * 4] * 2, Array.new(2) { Ractor.new { all } }.map(&:take))
    RUBY
  end

  # What the first Ractor prepends is not what an alias of Kernel#require means.
  def test_require_that_is_put_in_place_of_kernels_after_the_first_ractor
    assert_separately(%w[-W0], <<~'RUBY')
      Ractor.new {}.take
      require "set"
      $names = []
      module Kernel
        alias kept_require require
        def require(name) = ($names << name; kept_require(name))
      end
      assert_equal([false, false], [require("set"), Ractor.new { require "fileutils"; require "fileutils" }.take])
      assert_equal(%w[set fileutils], $names.uniq & %w[set fileutils])
    RUBY
    assert_separately(%w[-W0], <<~'RUBY')
      Kernel.prepend(Module.new { def require(name) = name == "set" ? :prepended : super })
      Ractor.new {}.take
      module Kernel
        alias kept_require require
      end
      assert_equal(:prepended, kept_require("set"))
    RUBY
  end

  def test_racing_prepend_and_call
    assert_ractors(CLASSES + <<~'RUBY')
      ractors = Array.new(3) { Ractor.new { n = 0; while (klass = Ractor.receive); 300.times { o = klass.new; o.kept == [:kept, :base] && o.calls or n += 1 }; end; n } }
      30.times do
        mod, klass, = made
        ractors.each { |ractor| ractor.send(klass) }
        mod.prepend(PREPENDED)
      end
      ractors.each { |ractor| ractor.send(nil) }
      assert_equal([0] * 3, ractors.map(&:take))
    RUBY
  end

  # All of Kernel's methods were looked up, and compiled, again.
  def test_the_first_ractor_tells_nobody
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-stats=quiet --yjit-call-threshold=5], <<~'RUBY')
      def asked(o) = o.respond_to?(:abs) && o.is_a?(Integer) && !o.frozen?
      20.times { asked(1) }
      invalidated = -> { RubyVM::YJIT.runtime_stats(:invalidate_method_lookup) }
      before = invalidated.call
      assert_equal(1, Ractor.new { 1 }.take)
      assert_equal(before, invalidated.call)
    RUBY
  end

  # A copy of a module that is dead, and in the module's list until it is swept, had an origin, which has been swept before.
  def test_dead_copy_whose_origin_is_swept
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil # "method redefined"
      class Plain; end
      work = proc do
        5.times do
          others = Array.new(6000) { Class.new }
          mod = Module.new { def a = 1 }
          objects = Array.new(300) { Plain.new.extend(mod) }
          raise unless objects.size == 300
          others = others.each_slice(3).map(&:first)
          GC.start
          mod.prepend(Module.new { def b = 2 })
          objects = nil
          GC.start(immediate_sweep: false)
          100.times do |k|
            20.times { Class.new(Plain) }
            mod.module_eval("def a = #{k}")
          end
          others.size
        end
        :done
      end
      assert_equal(:done, work.call)
      assert_equal([:done] * 2, 2.times.map { Ractor.new(&work) }.map(&:take))
    RUBY
  end
end
