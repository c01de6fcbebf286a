# frozen_string_literal: true
# test_class.rb - class/list.h, class/include.h, class_make_singleton_under_lock: Ractors that make classes of one.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeClass < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_subclasses_and_new
    assert_ractors(<<~'RUBY')
      class Base; end
      makers = Array.new(8) { Ractor.new { 10_000.times { |i| Class.new(Base); Base.subclasses if i % 100 == 0 }; :made } }
      100.times { Base.subclasses.each { |made| raise unless made < Base && made.singleton_class.attached_object == made } }
      assert_equal([:made] * 8, makers.map(&:take))
    RUBY
  end

  # Each Ractor's come next to each other, in lists that others write, too, and from which they are taken when they die, get an
  # origin, or die with their superclass.  Those that live are all there, of each Ractor the newest first.
  def test_racing_lists
    assert_ractors(<<~'RUBY')
      Base = Class.new
      module Included; end
      lists = Array.new(6) { |r|
        Ractor.new(r) do |r|
          kept = []
          3000.times do |i|
            made = Class.new(Base)
            kept << made if i % 10 == 0
            Class.new(Base).prepend(Module.new) if i % 7 == 0
            kept.last.prepend(Module.new { def a = super }) if i % 50 == 25
            made.include(Included)
            own = Class.new
            3.times { Class.new(own) }
            2.times { Class.new(Base).define_singleton_method(:a, &nil.instance_eval { Ractor.make_shareable(proc { }) }) }
            GC.start(full_mark: i % 1000 == r) if i % 250 == r
          end
          GC.compact if r == 0 && GC.respond_to?(:compact)
          kept
        end
      }.map(&:take)
      all = Base.subclasses
      lists.each { |kept| assert_equal(kept.reverse, all & kept) }
      lists.flatten.each { |made| made.class_eval { def b = 1 } }
      module Included; def c = 2; end
      assert_equal([[1, 2]], lists.flatten.map { |made| [made.new.b, made.new.c] }.uniq)
    RUBY
  end

  # Between a class and its origin, which it is given with the first module that is prepended, nothing is missed.
  def test_racing_prepend_and_constants
    assert_ractors(<<~'RUBY')
      X = :object
      Prepended = Module.new
      prepends = Ractor.new do
        while (klasses = Ractor.receive)
          klasses.each { |klass| klass.prepend(Prepended) }
          Ractor.yield(:prepended)
        end
      end
      wrong = 1500.times.flat_map do
        klasses = Ractor.make_shareable(Array.new(4) { Class.new { const_set(:X, :own) } })
        subclasses = klasses.map { |klass| Class.new(klass) { class_eval("def x = X") } }
        objects = subclasses.map(&:new)
        prepends << klasses
        seen = 200.times.flat_map { subclasses.map { |klass| klass.const_get(:X) } }
        seen.concat(objects.map(&:x))
        listed = subclasses.zip(klasses).map { |subclass, klass| subclass.ancestors.include?(klass) }
        prepends.take
        seen.concat(objects.map(&:x)).uniq - [:own] + listed - [true]
      end
      prepends << nil
      assert_equal([], wrong)
    RUBY
  end

  # A class next to which the next one would come is dead, swept, and its memory another's.
  def test_list_after_a_sweep
    assert_ractors(<<~'RUBY')
      Base = Class.new
      Base::FIRST = Class.new(Base)
      wrong = Ractor.new {
        kept = []
        12.times.reject do |i|
          40.times { Class.new(Base) }
          GC.start
          Array.new(200) { "x" * 23 + i.to_s }.map { |s| s * 2 }
          kept << Class.new(Base)
          Base.subclasses & kept == kept.reverse
        end
      }.take
      assert_equal([], wrong)
    RUBY
  end

  # class/include.h, and upstream's code where there is more to do.  With one Ractor as well.
  INCLUDES = <<~'RUBY'
    $VERBOSE = nil
    module Plain; def number = 1; end
    module Constant; LIMIT = 5; end
    module Inner; def inner = 3; end
    module Outer; include Inner; def number = 10 + super; end
    module Prepended; prepend(Module.new { def number = 100 + super }); def number = 2; end
    module Late; end
    class Base; LIMIT = 4; @@cvar = 1; def self.cvar = class_variable_get(:@@cvar); end
    def answers
      empty = Class.new { include Plain }
      before = Class.new(Base) { def number = super + 20; include Plain }
      after = Class.new(Base) { include Plain; def number = super + 20 }
      twice = Class.new(empty) { include Plain }
      constant = Class.new(Base) { include Constant; def limit = self.class::LIMIT }
      nested = Class.new { include Plain; include Outer }
      prepended = Class.new { include Prepended }
      subclassed = Class.new(Base).then { |one| sub = Class.new(one); one.include(Plain); sub }
      asked = Class.new(Base).then { |one| one.new.respond_to?(:number); one.new.number rescue one.include(Plain); one }
      (object = Object.new).extend(Plain)
      (again = object.dup).extend(Prepended)
      meta = Class.new(Base) { extend Plain }
      late = Class.new { include Late }
      raise unless [empty, late].none? { |one| Object.subclasses.include?(one) ^ one.superclass.subclasses.include?(one) }
      [[empty, before, after, twice, nested, prepended, subclassed, asked].map { |one| one.new.number }, constant.new.limit,
       nested.new.inner, object.number, again.number, Class.new(meta).number, Class.new(before).cvar,
       twice.ancestors.count(Plain), after.ancestors.take(3).map { |one| one == after ? 0 : one }, late.new.respond_to?(:number),
       object.singleton_class.ancestors.include?(Plain)]
    end
    EXPECTED = [[1, 21, 21, 1, 11, 102, 1, 1], 5, 3, 1, 102, 1, 1, 1, [0, Plain, Base], false, true]
  RUBY

  def test_includes
    assert_ractors(INCLUDES + <<~'RUBY')
      assert_equal(EXPECTED, answers)
      ones = Array.new(3) { Class.new { include Late } } << Object.new.extend(Late).singleton_class
      module Late; def number = 7; end
      assert_equal([7], ones.first(3).map { |one| one.new.number }.uniq)
      module Late; include Inner; def number = 8; prepend(Module.new { def number = super + 1 }); end
      assert_equal([[9, 3]], ones.first(3).map { |one| [one.new.number, one.new.inner] }.uniq)
      assert_equal(9, ones.last.attached_object.number)
      (frozen = Class.new).freeze
      assert_raise(FrozenError) { frozen.include(Plain) }
      class One; end
      class Two < One; include Comparable; end
      assert_equal([Two], One.subclasses)
      Two.class_variable_set(:@@late, 1)
      Mixed = Module.new { class_variable_set(:@@late, 2) }
      three = Class.new { include Mixed }
      assert_equal(2, three.class_variable_get(:@@late))
      one = Object.new.extend(Plain)
      two = Class.new(Class.new { include Plain })
      made = GC.stat(:total_allocated_objects)
      1_000.times { one.extend(Plain); two.include(Plain) }
      assert_operator(GC.stat(:total_allocated_objects) - made, :<, 100)
    RUBY
  end

  def test_racing_includes
    assert_ractors(INCLUDES + <<~'RUBY')
      ractors = Array.new(4) { Ractor.new { Array.new(500) { answers }.tally } }
      shared = Array.new(300) { Class.new }
      includers = Array.new(3) { |r| Ractor.new(r, shared) { |r, list| list.each { |one| one.include([Plain, Constant, Comparable][r]) }; :done } }
      assert_equal([{ EXPECTED => 500 }] * 4, ractors.map(&:take))
      assert_equal([:done] * 3, includers.map(&:take))
      ancestors = shared.map { |one| one.ancestors.take(4).to_set }.uniq - [shared.first.ancestors.take(4).to_set]
      assert_equal(300, shared.count { |one| one.ancestors.take(5) & [Plain, Constant, Comparable] == one.ancestors[1, 3] && one.new.number == 1 && one::LIMIT == 5 })
      assert_equal(299, ancestors.size)
    RUBY
  end

  # A class that another Ractor was about to give its table of methods, an origin, or its place in a list, is garbage in the child.
  # With these limits most safe points are in malloc: one fork of two, or three, failed.
  def test_racing_new_and_fork
    omit "no fork" unless Process.respond_to?(:fork)
    limits = { "RUBY_GC_MALLOC_LIMIT" => "100000", "RUBY_GC_MALLOC_LIMIT_MAX" => "100000", "RUBY_GC_OLDMALLOC_LIMIT" => "1000000" }
    ["Class.new(BASES[i % 8]).include(Comparable)", "Object.new.singleton_class", "PREPENDED.dup.clone",
     "Module.new.prepend(Module.new); Class.new(Class.new(BASES[1]) { prepend Comparable })"].each do |make|
      assert_separately([limits, *%w[-W0 --disable-gems]], STATUS + <<~RUBY, timeout: 60)
        BASES = Ractor.make_shareable(Array.new(8) { Class.new })
        PREPENDED = Module.new { prepend Module.new; def a = 1; def b = 2 }
        4.times { Ractor.new { i = 0; loop { i += 1; #{make} } } }
        statuses = Array.new(15) do
          status(fork do
            GC.start
            300.times { |i| #{make} }
            made = Ractor.new { Array.new(2) { Class.new(BASES[1]) } }.take
            GC.start
            exit!(BASES[1].subclasses & made == made.reverse)
          end)
        end
        assert_equal([0], statuses.uniq)
      RUBY
    end
  end

  # What is not marked as shareable, and yet is shared: literals that are frozen, main's group of threads, and what lies in the
  # storage of a Fiber.
  def test_racing_singleton_class_of_what_is_not_marked
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      module Literals
        500.times { |i| module_eval "def self.a#{i} = [#{i}r, #{i}i, #{i}..#{i + 3}, /a#{i}/]" }
      end
      group = Thread.current.group
      Fiber[:stored] = Array.new(20_000) { Object.new }
      ractors = 6.times.map do |r|
        Ractor.new(r) do |r|
          Ractor.receive
          Thread.current.group.define_singleton_method(:"from#{r}", &Ractor.make_shareable(proc { }))
          shared = 500.times.flat_map { |i| Literals.send("a#{i}") } + Fiber[:stored]
          shared.map { |object| [object.object_id, object.singleton_class.object_id] }
        end
      end
      ractors.each { |ractor| ractor << :go }
      seen = ractors.map(&:take).transpose
      assert_equal([1], seen.map { |pairs| pairs.uniq.size }.uniq)
      assert_equal(6, group.singleton_methods.grep(/from/).size)
    RUBY
  end

  def test_racing_singleton_class_and_singleton_class
    assert_ractors(<<~'RUBY')
      MODULES = Ractor.make_shareable(Array.new(20_000) { Module.new })
      OBJECTS = Ractor.make_shareable(Array.new(20_000) { Object.new })
      CLASSES = Ractor.make_shareable(Array.new(20_000) { Class.new })
      lookers = Array.new(4) do
        Ractor.new do
          Ractor.receive
          (MODULES + OBJECTS).map { |object| object.singleton_class.object_id } +
            CLASSES.map { |made| made.singleton_class.singleton_class.object_id }
        end
      end
      lookers.each { |looker| looker.send(:go) }
      assert_equal(1, lookers.map(&:take).uniq.size)
    RUBY
  end

  def test_racing_new_and_kind_of
    assert_ractors(<<~'RUBY')
      500.times do
        Base = Class.new(Class.new)
        makers = Array.new(4) { Ractor.new { Array.new(20) { Class.new(Base).new }.all?(Base) && Base.is_a?(Module) } }
        assert_equal([true] * 4, makers.map(&:take))
        Object.send(:remove_const, :Base)
      end
    RUBY
  end
end
