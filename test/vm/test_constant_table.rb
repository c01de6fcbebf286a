# frozen_string_literal: true
# vm/test_constant_table.rb - vm/constant_table.h: constants that a Ractor looks up again and again.

require "test/unit"

class TestLockfreeVmConstantTable < Test::Unit::TestCase
  HEAD = <<~'RUBY'
    $VERBOSE = nil
    module Outer
      LIMIT = 1
      class Base; INHERITED = [:base].freeze; end
      class Child < Base; end
    end
    def found(mod, name, *rest)
      mod.const_get(name, *rest)
    rescue NameError => e
      e.message
    end

    # A Ractor that answers what it finds, each time that it is asked.
    def asker = Ractor.new { while (asked = Ractor.receive); Ractor.yield(found(*asked)); end }
    def ask(ractor, *asked)
      answers = 3.times.map { ractor.send(asked); ractor.take }
      assert_equal(1, answers.uniq.size)
      answers[0]
    end
  RUBY

  def assert_constants(code)
    assert_separately(%w[-W:no-experimental --disable-gems], HEAD + code, timeout: 60)
  end

  def test_a_ractor_that_looks_up_has_a_table
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      require "objspace"
      ractor = Ractor.new { receive; Object.const_get(:String); Ractor.yield(:done); receive } # `Ractor` is looked up, too
      before = ObjectSpace.memsize_of(ractor)
      ractor.send(:look)
      ractor.take
      after = ObjectSpace.memsize_of(ractor)
      ractor.send(:end)
      assert_operator(after - before, :>=, 2048)
    RUBY
  end

  def test_set_again_removed_and_set_anew
    assert_constants(<<~'RUBY')
      ractor = asker
      assert_equal(1, ask(ractor, Outer, :LIMIT))
      Outer.const_set(:LIMIT, 2)
      assert_equal(2, ask(ractor, Outer, :LIMIT))
      Outer.send(:remove_const, :LIMIT)
      assert_equal("uninitialized constant Outer::LIMIT", ask(ractor, Outer, :LIMIT))
      Outer.const_set(:LIMIT, 3)
      assert_equal(3, ask(ractor, Outer, :LIMIT))
      assert_equal(3, Ractor.new { found(Outer, "LIMIT") }.take)
    RUBY
  end

  def test_a_nearer_class_gets_the_constant
    assert_constants(<<~'RUBY')
      ractor = asker
      assert_equal([:base], ask(ractor, Outer::Child, :INHERITED))
      assert_equal("uninitialized constant Outer::Child::INHERITED", ask(ractor, Outer::Child, :INHERITED, false))
      Outer::Child.const_set(:INHERITED, :child)
      assert_equal(:child, ask(ractor, Outer::Child, :INHERITED))
      assert_equal(:child, ask(ractor, Outer::Child, :INHERITED, false))
      Outer::Child.send(:remove_const, :INHERITED)
      Outer::Child.include(Module.new { const_set(:INHERITED, :included) })
      assert_equal(:included, ask(ractor, Outer::Child, :INHERITED))
      Outer::Child.prepend(Module.new { const_set(:INHERITED, :prepended) })
      assert_equal(:prepended, ask(ractor, Outer::Child, :INHERITED))
    RUBY
  end

  def test_visibility_deprecation_and_isolation
    assert_constants(<<~'RUBY')
      def path(string) = Object.const_get(string)
      ractor = asker
      assert_equal(1, ask(ractor, Object, "Outer::LIMIT"))
      Outer.send(:private_constant, :LIMIT)
      assert_equal(1, ask(ractor, Outer, :LIMIT))
      scoped = "begin; Outer::LIMIT; rescue NameError => e; e.message; end"
      assert_equal("private constant Outer::LIMIT referenced", Ractor.new(scoped) { |code| 3.times.map { eval(code) }.last }.take)
      Outer.send(:public_constant, :LIMIT)
      assert_equal(1, Ractor.new(scoped) { |code| eval(code) }.take)

      Outer.const_set(:LIST, [+"unshareable"])
      message = "can not access non-shareable objects in constant Outer::LIST by non-main Ractor."
      assert_equal([message] * 3, Ractor.new { 3.times.map { Outer.const_get(:LIST) rescue $!.message } }.take)
      assert_equal(["unshareable"], Outer.const_get(:LIST))

      Warning[:deprecated] = true
      Outer.deprecate_constant(:LIMIT)
      module Warning; def self.warn(text, **) = (Ractor.current[:warned] ||= []) << text; end
      warned = Ractor.new { $VERBOSE = false; 3.times { Outer.const_get(:LIMIT) }; Ractor.current[:warned].map { _1[/constant.*/] } }.take
      assert_equal(["constant Outer::LIMIT is deprecated"] * 3, warned)
    RUBY
  end

  # The warning is Ruby code, and comes when the constant is gone already.
  def test_removed_before_it_is_warned_of
    assert_constants(<<~'RUBY')
      ractor = asker
      $VERBOSE = false
      Warning[:deprecated] = true
      Outer.deprecate_constant(:LIMIT)
      def Warning.warn(*, **) = nil
      3.times { Outer.const_get(:LIMIT) }
      def Warning.warn(*, **) = $found = found(Outer, :LIMIT)
      Outer.send(:remove_const, :LIMIT)
      assert_equal("uninitialized constant Outer::LIMIT", $found)
      ractor.send(nil)
    RUBY
  end

  # Stock frees the value when the warning collects, and gives another object.
  def test_value_of_a_removed_constant_while_it_is_warned_of
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      $VERBOSE = false
      Warning[:deprecated] = true
      def Warning.warn(*) = (GC.start; $made = Array.new(10_000) { |i| "#{i}" * 8 }; nil)
      names = Array.new(50) { |i| :"X#{i}" }
      names.each { |name| Object.const_set(name, "value of #{name}" * 5); Object.deprecate_constant(name) }
      clear = ->(n) { n > 0 ? clear.(n - 1) : nil } # of what the stack has had
      clear.(200)
      names.each { |name| assert_equal("value of #{name}" * 5, Object.send(:remove_const, name)) }
    RUBY
  end

  def test_racing_remove_and_collect
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      ractors = Array.new(3) { Ractor.new { 800.times { GC.start; Array.new(200) { "z" * 40 } } } }
      40_000.times do |i|
        Object.const_set(:X, ("v%08d" % i) * 6)
        removed = Object.send(:remove_const, :X)
        raise removed.inspect unless removed == ("v%08d" % i) * 6
      end
      ractors.each(&:take)
    RUBY
  end

  def test_autoload_and_const_missing
    require "tempfile"
    Tempfile.create(%w[lazy .rb]) do |file|
      file.write("module Outer; Lazy = :loaded; end")
      file.close
      assert_constants(<<~RUBY)
        path = #{file.path.dump}
        ractor = asker
        assert_equal("uninitialized constant Outer::Lazy", ask(ractor, Outer, :Lazy))
        Outer.autoload(:Lazy, path)
        assert_equal(:loaded, Outer.const_get(:Lazy))
        assert_equal(:loaded, ask(ractor, Outer, :Lazy))
        Outer.send(:remove_const, :Lazy)
        def Outer.const_missing(name) = [:missing, name]
        assert_equal([:missing, :Lazy], ask(ractor, Outer, :Lazy))
        $LOADED_FEATURES.delete(File.realpath(path))
        Outer.autoload(:Lazy, path)
        assert_equal(:loaded, ask(ractor, Outer, :Lazy))
      RUBY
    end
  end

  def test_more_than_there_is_room_for
    assert_constants(<<~'RUBY')
      MODULES = Ractor.make_shareable(Array.new(300) { |i| Module.new { const_set(:NUMBER, i) } })
      other = Ractor.new { loop { Ractor.yield(Array.new(3) { MODULES.map { |m| m.const_get(:NUMBER) } }.uniq) while Ractor.receive } }
      look = -> { other.send(true); other.take }
      numbers = (0...300).to_a
      2.times { assert_equal([numbers], look.call) }
      MODULES.each_slice(3) { |m, *| m.send(:remove_const, :NUMBER); m.const_set(:NUMBER, -1) }
      numbers = numbers.map { |i| i % 3 == 0 ? -1 : i }
      2.times { assert_equal([numbers], look.call) }
    RUBY
  end

  def test_copies_have_their_own
    assert_constants(<<~'RUBY')
      ractor = asker
      assert_equal(1, ask(ractor, Outer, :LIMIT))
      copy = Outer.dup
      assert_equal(1, ask(ractor, copy, :LIMIT))
      copy.const_set(:LIMIT, 5)
      assert_equal([1, 5], [ask(ractor, Outer, :LIMIT), ask(ractor, copy, :LIMIT)])
    RUBY
  end

  # A class takes the place of one that has died.
  def test_classes_that_die
    assert_constants(<<~'RUBY')
      ractors = 2.times.map do
        Ractor.new do
          300.times.count do |i|
            classes = 30.times.map { |k| Class.new { const_set(:NUMBER, [i, k].freeze) if (i + k).odd? } }
            answers = 2.times.map { classes.map { |klass| found(klass, :NUMBER, false) } }
            GC.start if i % 50 == 0
            expected = 30.times.map { |k| [i, k] if (i + k).odd? }
            answers.any? { |list| list.map { |answer| answer if answer.is_a?(Array) } != expected }
          end
        end
      end
      50.times { GC.start; GC.compact if GC.respond_to?(:compact) }
      assert_equal([0, 0], ractors.map(&:take))
    RUBY
  end

  def test_fork
    omit "no fork" unless Process.respond_to?(:fork)
    assert_constants(<<~'RUBY')
      ractor = asker
      assert_equal(1, ask(ractor, Outer, :LIMIT))
      3.times { found(Outer, :LIMIT); found(Outer, :OTHER) }
      pid = fork do
        Outer.send(:remove_const, :LIMIT)
        Outer.const_set(:OTHER, 4)
        exit!([found(Outer, :LIMIT), found(Outer, :OTHER)] == ["uninitialized constant Outer::LIMIT", 4] &&
              Ractor.new { [found(Outer, :LIMIT), found(Outer, :OTHER)] }.take == ["uninitialized constant Outer::LIMIT", 4])
      end
      assert_predicate(Process.wait2(pid)[1], :success?)
      assert_equal(1, ask(ractor, Outer, :LIMIT))
    RUBY
  end

  # initialize_copy takes the constants of a module away that others have looked up; include gives it a table anew.
  def test_copied_over
    assert_constants(<<~'RUBY')
      ractor = asker
      empty = Module.new
      including = Class.new
      names = Array.new(100) { |i| :"A#{i}" }
      100.times do
        mod = Module.new { names.each { |name| const_set(name, name.name) } }
        assert_equal(names.map(&:name), names.map { |name| found(mod, name) })
        assert_equal("A1", ask(ractor, mod, :A1))
        mod.send(:initialize_copy, empty)
        including.include(mod)
        300.times.map { |i| "j" * (24 + i % 16) }
        assert_equal([], names.map { |name| found(mod, name) }.grep_v(/\Auninitialized constant/))
        assert_match(/\Auninitialized constant/, ask(ractor, mod, :A1))
      end
      ractor.send(nil)
    RUBY
  end

  # What main says that it has added is found, and what it has removed is not.
  def test_racing_change_and_get
    assert_constants(<<~'RUBY')
      2001.times { |i| Outer.const_set(:"OLD#{i}", i) }
      ractors = 3.times.map do
        Ractor.new do
          wrong = 0
          while (i = Ractor.receive)
            wrong += 1 if found(Outer, :"NEXT#{i}") != i || Outer.const_defined?(:"OLD#{i}")
            20.times { found(Outer, :"NEXT#{i + 1}"); found(Outer, :"OLD#{i + 1}") }
          end
          wrong
        end
      end
      2000.times do |i|
        Outer.const_set(:"NEXT#{i}", i)
        Outer.send(:remove_const, :"OLD#{i}")
        ractors.each { |ractor| ractor.send(i) }
      end
      ractors.each { |ractor| ractor.send(nil) }
      assert_equal([0, 0, 0], ractors.map(&:take))
    RUBY
  end
end
