# frozen_string_literal: true
# vm/test_class_variable.rb - vm/class_variable.h: @@x from every Ractor, and its inline cache.

require "test/unit"

class TestLockfreeVmClassVariable < Test::Unit::TestCase
  GET = "can not get unshareable values from class variables from non-main Ractors"
  SET = "can not access class variables from non-main Ractors"

  FAMILY = <<~'RUBY'
    class Parent
      @@x = 1
      def self.x() = @@x
      def self.x=(value)
        @@x = value
      end
      def self.known() = defined?(@@x)
      def self.new_y(value)
        @@y = value
      end
    end

    class Child < Parent
      def self.child_x() = @@x
      def child_x = @@x
    end

    def in_ractor(*args, &body)
      Ractor.new(*args) do |*args|
        Thread.current.report_on_exception = false
        yield(*args)
      end
    end

    def error_of
      yield
      nil
    rescue => error
      error = error.cause if Ractor::RemoteError === error
      [error.class, error.message]
    end
  RUBY

  def assert_reads(code)
    assert_ractor(FAMILY + code)
  end

  # ---- who may

  def test_shareable_values_from_every_ractor
    assert_reads(<<~'RUBY')
      ways = Ractor.new do
        3.times.map do
          [Parent.x, Child.x, Child.child_x, Child.new.child_x, Child.class_variable_get(:@@x), Parent.known,
           Parent.class_variables, Child.class_variable_defined?(:@@x)]
        end
      end.take
      assert_equal([[1, 1, 1, 1, 1, "class variable", [:@@x], true]] * 3, ways)
    RUBY
  end

  def test_frozen_deeply_but_not_marked
    assert_reads(<<~'RUBY')
      Parent.x = ["a".freeze, [1].freeze].freeze
      assert_equal([["a", [1]]] * 2, Ractor.new { [Parent.x, Parent.x] }.take)
    RUBY
  end

  def test_isolation_errors
    assert_reads(<<~RUBY)
      Parent.x = [+"unshareable"]
      Parent.x
      reads = Ractor.new do
        2.times.flat_map do
          [->{ Parent.x }, ->{ Child.child_x }, ->{ Child.class_variable_get(:@@x) }].map do |read|
            begin; read.call; rescue Ractor::IsolationError => e; e.message; end
          end
        end
      end.take
      assert_equal(["#{GET} (@@x from Parent)"] * 6, reads)

      writes = Ractor.new do
        [->{ Parent.x = 1 }, ->{ Parent.new_y(1) }, ->{ Child.class_variable_set(:@@x, 1) },
         ->{ Parent.remove_class_variable(:@@x) }].map do |write|
          begin; write.call; rescue Ractor::IsolationError => e; e.message; end
        end
      end.take
      assert_equal(["#{SET} (@@x from Parent)", "#{SET} (@@y from Parent)", "#{SET} (@@x from Child)",
                    "#{SET} (@@x from Parent)"], writes)
      assert_equal([["unshareable"]] * 2, [Parent.x, Child.child_x])
      assert_equal([:@@x], Parent.class_variables)
      assert_equal("class variable", Ractor.new { Parent.known }.take)
    RUBY
  end

  def test_unset
    assert_reads(<<~'RUBY')
      def Parent.unset = class_eval("@@unset")
      messages = Ractor.new { 2.times.map { begin; Parent.unset; rescue NameError => e; e.message; end } }.take
      assert_equal(["uninitialized class variable @@unset in Parent"] * 2, messages)
      assert_equal([nil, false], Ractor.new { [Parent.class_eval("defined?(@@unset)"), Parent.class_variable_defined?(:@@unset)] }.take)
    RUBY
  end

  # ---- the cache, on main

  def test_overwrite_through_the_cache
    assert_reads(<<~'RUBY')
      values = 5.times.map { |i| Parent.x = i; [Parent.x, Child.child_x, Child.new.child_x] }
      assert_equal(5.times.map { |i| [i] * 3 }, values)
    RUBY
  end

  def test_removed_under_a_warm_cache
    assert_reads(<<~'RUBY')
      2.times { Parent.x }
      assert_equal(1, Parent.remove_class_variable(:@@x))
      2.times { assert_equal([NameError, "uninitialized class variable @@x in Parent"], error_of { Parent.x }) }
      Parent.x = 2
      assert_equal([2, 2], [Parent.x, Child.child_x])
    RUBY
  end

  def test_moved_under_a_warm_cache
    assert_reads(<<~'RUBY')
      2.times { Parent.x }
      Parent.class_variable_set(:@@before, 0)
      20.times { |i| Parent.class_variable_set(:"@@after#{i}", i) }
      assert_equal(1, Parent.x)
      Parent.remove_class_variable(:@@before)
      assert_equal(1, Parent.x)
      Parent.x = 3
      assert_equal([3, 3], [Parent.x, Child.child_x])
    RUBY
  end

  def test_too_complex
    assert_reads(<<~'RUBY')
      complex = Class.new
      300.times do |i|
        complex.class_variable_set(:"@@v#{i}", i)
        complex.remove_class_variable(:"@@v#{i - 1}") if i > 0 && i < 200
      end
      complex.class_eval("def self.last() = @@v299; def self.last=(v); @@v299 = v; end")
      assert_equal([299] * 3, 3.times.map { complex.last })
      complex.last = 1
      assert_equal([1, 1], [complex.last, complex.class_variable_get(:@@v299)])
      assert_equal(1, Ractor.new(complex) { |c| c.last; c.last }.take)
    RUBY
  end

  def test_overtaken
    assert_reads(<<~'RUBY')
      class Child
        @@late = :child
        def self.late() = @@late
      end
      2.times { assert_equal(:child, Child.late) }
      Parent.class_variable_set(:@@late, :parent)
      2.times { assert_equal([RuntimeError, "class variable @@late of Child is overtaken by Parent"], error_of { Child.late }) }
      assert_equal(RuntimeError, error_of { Ractor.new { Thread.current.report_on_exception = false; Child.late }.take }[0])
    RUBY
  end

  def test_overtaken_by_an_included_module
    assert_reads(<<~'RUBY')
      module Late; end
      Late.class_variable_set(:@@z, :module)
      class Child
        @@z = :child
        def self.z() = @@z
      end
      2.times { assert_equal(:child, Child.z) }
      Parent.include(Late)
      2.times { assert_equal([RuntimeError, "class variable @@z of Child is overtaken by Late"], error_of { Child.z }) }
    RUBY
  end

  # stock's caches do not notice these two, or do, depending on which site was last filled
  def test_overtaken_by_a_variable_that_an_ancestor_gets_later
    assert_reads(<<~'RUBY')
      module Included; end
      class Below < Parent
        include Included
        def self.below_x() = @@x
      end
      2.times { assert_equal(1, Below.below_x) }
      Included.class_variable_set(:@@x, :module)
      2.times { assert_equal([RuntimeError, "class variable @@x of Included is overtaken by Parent"], error_of { Below.below_x }) }

      module Other; end
      Other.class_variable_set(:@@w, :module)
      class Child
        include Other
        def self.w() = @@w
      end
      2.times { assert_equal(:module, Child.w) }
      Parent.class_variable_set(:@@w, :parent)
      2.times { assert_equal([RuntimeError, "class variable @@w of Other is overtaken by Parent"], error_of { Child.w }) }
    RUBY
  end

  # a clone's methods are the same code, with another class to look from
  def test_one_site_for_two_classes
    assert_reads(<<~'RUBY')
      class Own
        @@own = 1
        def own = @@own
        def own=(value)
          @@own = value
        end
      end
      copy = Own.clone
      3.times { assert_equal([1, 1], [Own.new.own, copy.new.own]) }
      copy.new.own = 2
      3.times { assert_equal([1, 2], [Own.new.own, copy.new.own]) }
      assert_equal([[1, 2]] * 3, Ractor.new(copy) { |copy| 3.times.map { [Own.new.own, copy.new.own] } }.take)
    RUBY
  end

  def test_top_level_still_raises
    assert_in_out_err(%w[-W0], <<~'RUBY', ["class variable access from toplevel"] * 3, [])
      3.times do
        eval("@@top")
      rescue RuntimeError => error
        puts error.message
      end
    RUBY
  end

  def test_the_cache_survives_the_gc
    assert_reads(<<~'RUBY')
      10.times do
        assert_equal([1, 1], [Parent.x, Child.child_x])
        GC.start
        GC.compact if GC.respond_to?(:compact)
      end
      GC.stress = true
      assert_equal([1, 1], [Parent.x, Child.child_x])
      Parent.remove_class_variable(:@@x)
      Parent.x = 5
      assert_equal([5, 5], [Parent.x, Child.child_x])
    RUBY
  end

  # ---- while main writes: Bug #22072 was a crash of 4.0's cache

  RACE = <<~'RUBY'
    def race(seconds = 1.0, &change)
      readers = 3.times.map do
        Ractor.new do
          seen = Hash.new(0)
          until Parent.class_variable_defined?(:@@stop)
            200.times do
              seen[Parent.x] += 1
              seen[Child.child_x] += 1
            rescue NameError, RuntimeError => error
              seen[error.class] += 1
            end
          end
          seen
        end
      end
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      i = 0
      yield(i += 1) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
      Parent.class_variable_set(:@@stop, true)
      [i, readers.map(&:take)]
    end
  RUBY

  def test_racing_set_and_get
    assert_reads(RACE + <<~'RUBY')
      Parent.x = -1
      count, seen = race { |i| Parent.x = i % 1000 }
      assert_operator(count, :>, 100)
      seen.each { |hash| assert_empty(hash.keys - [*-1..999]) }
    RUBY
  end

  def test_racing_remove_and_get
    assert_reads(RACE + <<~'RUBY')
      Parent.class_variable_set(:@@other, :wrong)
      _, seen = race do |i|
        Parent.remove_class_variable(:@@x)
        Parent.class_variable_set(:"@@y#{i % 50}", :wrong)
        Parent.x = 1
        Parent.remove_class_variable(:"@@y#{i % 50}")
      end
      seen.each { |hash| assert_empty(hash.keys - [1, NameError]) }
    RUBY
  end

  def test_racing_overtake_and_get
    assert_reads(RACE + <<~'RUBY')
      class Child
        @@own = :child
        singleton_class.remove_method(:child_x)
        def self.child_x() = @@own
      end
      _, seen = race do |i|
        next if i > 2000
        Parent.class_variable_set(:@@own, :parent)
        Parent.remove_class_variable(:@@own)
        Parent.include(Module.new { class_variable_set(:@@own, :module) }) if i == 2000
      end
      seen.each { |hash| assert_empty(hash.keys - [1, :child, RuntimeError]) }
      assert_equal(RuntimeError, error_of { Child.child_x }[0])
    RUBY
  end

  def test_racing_include_and_get
    assert_reads(RACE + <<~'RUBY')
      _, seen = race(0.5) { |i| Child.include(Module.new { class_variable_set(:"@@m#{i}", i) }) if i < 2000 }
      seen.each { |hash| assert_equal([1], hash.keys) }
    RUBY
  end
end
