# frozen_string_literal: true
# vm/test_method_cache.rb - vm/method_cache.h, yjit/class_method.rs: call sites that meet many classes.

require "test/unit"

class TestLockfreeVmMethodCache < Test::Unit::TestCase
  FAMILY = <<~'RUBY'
    $VERBOSE = nil # methods are redefined on purpose
    class Base
      def self.config = @config
      def self.double = config * 2
      def self.with(number, *rest, key: 0, **) = @config + number + rest.sum + key
      singleton_class.attr_reader :setting
    end

    CHILDREN = Ractor.make_shareable(Array.new(30) do |i|
      Class.new(Base) { @config = @setting = i }
    end)
    SUM = CHILDREN.each_index.sum

    def configs = CHILDREN.sum { |child| child.config }
    def settings = CHILDREN.sum { |child| child.setting }
    def doubles = CHILDREN.sum { |child| child.double }
    def withs = CHILDREN.sum { |child| child.with(1, 2, key: 3) }
    def warm = 50.times { configs; settings; doubles; withs }
  RUBY

  YJIT = defined?(RubyVM::YJIT.enable) ? [[], %w[--yjit --yjit-call-threshold=2]] : [[]]

  def assert_calls(code, modes = YJIT)
    modes.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, FAMILY + code, timeout: 60)
    end
  end

  # With the tables of the Ractor, and then without what changed meanwhile.
  def test_defined_and_method_defined
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      class Base
        def open = 1
        protected def kept = defined?(Base.new.kept)
        private def hidden = 1
        def asks(other) = defined?(other.kept)
      end
      class Sub < Base
        def respond_to_missing?(name, all) = name == :ghost
      end
      module Other
        refine(Base) { def only_here = 1; def open = 2 }
      end

      answers = -> {
        s = Sub.new
        [defined?(s.open), defined?(s.kept), defined?(s.hidden), defined?(s.ghost), defined?(s.none), defined?(s.only_here), s.asks(Base.new),
         Sub.method_defined?(:open), Sub.method_defined?(:kept), Sub.method_defined?(:hidden), Sub.method_defined?(:open, false),
         Sub.private_method_defined?(:hidden), Sub.public_method_defined?(:kept), Kernel.method_defined?(:then)]
      }
      expected = ["method", nil, nil, "method", nil, nil, "method", true, true, false, false, true, false, true]
      3.times { assert_equal(expected, answers.call) }
      shared = Ractor.make_shareable(nil.instance_exec { proc { s = Sub.new; [defined?(s.open), defined?(s.hidden), Sub.method_defined?(:kept)] } })
      ractors = Array.new(4) { Ractor.new(shared) { |p| Array.new(2_000) { p.call }.uniq } }
      assert_equal([[["method", nil, true]]] * 4, ractors.map(&:take))

      class Base; private :open; public :hidden; undef kept; end
      assert_equal([nil, nil, "method"], answers.call.first(3))
      assert_equal([false, false, true], answers.call[7, 3])
      class Sub; def open = 3; end
      assert_equal("method", answers.call[0])
      class Sub; remove_method(:open); undef_method(:hidden); end
      assert_equal([nil, nil, nil], answers.call.first(3))
    RUBY
  end

  def test_many_classes_at_one_site
    assert_calls(<<~'RUBY')
      3.times { assert_equal([SUM, SUM, 2 * SUM, SUM + 180], [configs, settings, doubles, withs]) }
      warm
      assert_equal([SUM, SUM, 2 * SUM, SUM + 180], [configs, settings, doubles, withs])
    RUBY
  end

  def test_many_classes_at_one_site_in_ractors
    assert_calls(<<~'RUBY')
      ractors = 3.times.map { Ractor.new { warm; [configs, settings, doubles, withs] } }
      warm
      ractors.each { |ractor| assert_equal([SUM, SUM, 2 * SUM, SUM + 180], ractor.take) }
    RUBY
  end

  def test_one_child_overrides
    assert_calls(<<~'RUBY')
      warm
      def (CHILDREN[20]).config = 1000
      3.times { assert_equal([SUM - 20 + 1000, 2 * (SUM - 20 + 1000)], [configs, doubles]) }
      CHILDREN[20].singleton_class.remove_method(:config)
      3.times { assert_equal([SUM, 2 * SUM], [configs, doubles]) }
      CHILDREN[7].singleton_class.attr_writer(:config)
      CHILDREN[7].singleton_class.prepend(Module.new { def setting = super + 1 })
      3.times { assert_equal([SUM, SUM + 1], [configs, settings]) }
    RUBY
  end

  def test_the_parent_is_redefined
    assert_calls(<<~'RUBY')
      warm
      def Base.config = @config + 1
      Base.singleton_class.define_method(:setting) { @setting + 2 }
      3.times { assert_equal([SUM + 30, SUM + 60], [configs, settings]) }
      warm
      class << Base; undef_method :setting; end
      3.times { assert_raise(NoMethodError) { settings } }
      assert_equal(SUM + 30, configs)
    RUBY
  end

  def test_redefined_while_ractors_call
    assert_calls(<<~'RUBY')
      ready = 2.times.map do
        Ractor.new do
          warm
          Ractor.yield :warm
          seen = Hash.new(0)
          loop do
            seen[configs] += 1
            break if Base.instance_variable_get(:@stop)
          end
          [seen.keys, configs]
        end
      end
      ready.each(&:take)
      40.times do |i|
        Base.class_eval("def self.config = @config + #{i}")
        sleep 0.002
      end
      Base.instance_variable_set(:@stop, true)
      ready.each do |ractor|
        sums, last = ractor.take
        assert_equal(SUM + 30 * 39, last)
        assert_operator(sums.max, :<=, last)
      end
    RUBY
  end

  def test_visibility
    assert_calls(<<~'RUBY')
      warm
      Base.private_class_method(:setting)
      3.times { assert_raise(NoMethodError) { settings } }
      CHILDREN[3].public_class_method(:setting)
      assert_equal(3, CHILDREN[3].setting)
      assert_raise(NoMethodError) { settings }
    RUBY
  end

  def test_receivers_that_are_no_classes
    assert_calls(<<~'RUBY')
      other = Struct.new(:config).new(5)
      mixed = [*CHILDREN, other, *CHILDREN.reverse]
      total = ->{ mixed.sum { |receiver| receiver.config } }
      50.times { assert_equal(2 * SUM + 5, total.call) }
      mixed << nil
      3.times { assert_raise(NoMethodError) { total.call } }
    RUBY
  end

  # Tables grow, and give up what they have no room for.
  def test_more_than_there_is_room_for
    assert_calls(<<~'RUBY')
      MANY = Ractor.make_shareable(Array.new(1_200) do |i|
        Class.new { class_eval("def hash = #{i}; def eql?(other) = true; def number = #{i}; def same = self") }
      end)
      OBJECTS = Ractor.make_shareable(MANY.map(&:new))
      TABLE = Ractor.make_shareable(OBJECTS.each_with_index.to_h)
      def asked
        [OBJECTS.sum { |o| TABLE[o.dup] || 0 }, OBJECTS.sum { |o| o.number }, OBJECTS.count { |o| o.respond_to?(:added) },
         OBJECTS.count { |o| o.same.equal?(o) }]
      end
      other = Ractor.new { loop { Ractor.yield([asked, asked, asked].uniq) while Ractor.receive } }
      look = -> { other.send(true); [[asked, asked].uniq, other.take].uniq }
      all = (0...1_200).sum
      2.times { assert_equal([[[all, all, 0, 1_200]]], look.call) }
      thirds = (0...1_200).step(3).sum
      MANY.each_slice(3) { |many, *| many.class_eval("def eql?(other) = false; def number = 0; def added = 1") }
      2.times { assert_equal([[[all - thirds, all - thirds, 400, 1_200]]], look.call) }
      MANY.each_slice(3) { |many, *| many.class_eval { remove_method(:added, :number) } }
      MANY.each_slice(3) { |many, *| many.include(Module.new { def number = 2 }) }
      2.times { assert_equal([[[all - thirds, all - thirds + 800, 0, 1_200]]], look.call) }
    RUBY
  end

  def test_classes_come_and_go
    assert_calls(<<~'RUBY')
      100.times do |round|
        classes = Array.new(40) { |i| Class.new(Base) { @config = round * i } }
        assert_equal(round * 780, classes.sum { |klass| klass.config })
        GC.start(full_mark: round.odd?) if round % 5 == 0
      end
      GC.compact if GC.respond_to?(:compact)
      warm
      assert_equal([SUM, 2 * SUM], [configs, doubles])
      GC.stress = true
      assert_equal([SUM, 2 * SUM], [configs, doubles])
    RUBY
  end

  # class_list_subclasses_under_lock.patch: stock crashes here in every third run
  def test_ractors_make_classes
    assert_calls(<<~'RUBY')
      ractors = 3.times.map do |n|
        Ractor.new(n) do |n|
          30.times.all? do |round|
            classes = Array.new(40) { |i| Class.new { define_singleton_method(:number, &Ractor.make_shareable(proc { i + round })) } }
            GC.start if round % 10 == n
            classes.sum { |klass| klass.number } == 780 + 40 * round
          end
        end
      end
      assert_equal([true] * 3, ractors.map(&:take))
    RUBY
  end

  def test_classes_come_and_go_in_ractors
    assert_calls(<<~'RUBY')
      ractors = 3.times.map do
        Ractor.new do
          while (classes = Ractor.receive)
            Ractor.yield classes.sum { |klass| klass.config }
            GC.start
          end
          configs
        end
      end
      30.times do |round|
        classes = Ractor.make_shareable(Array.new(40) { |i| Class.new(Base) { @config = i + round } })
        ractors.each { |ractor| ractor.send(classes) }
        ractors.each { |ractor| assert_equal(780 + 40 * round, ractor.take) }
      end
      ractors.each { |ractor| ractor.send(nil) }
      assert_equal([SUM] * 3, ractors.map(&:take))
    RUBY
  end

  # class_include_under_lock.patch: stock calls the old method for ever after
  %i[include prepend].each do |change|
    define_method(:"test_racing_#{change}_and_call") do
      assert_calls(<<~RUBY)
        class Old; def number = 0; end
        NEW = Module.new { def number = 1; 300.times { |i| define_method("other\#{i}") {} } }
        module Current; class << self; attr_accessor :object; end; end
        def call = Current.object&.number
        Current.object = Ractor.make_shareable(Old.new)
        callers = 2.times.map { Ractor.new { nil while call } }
        stale = 300.times.count do
          klass = Class.new(Old)
          Current.object = Ractor.make_shareable(klass.new)
          Thread.pass
          klass.#{change}(NEW)
          eval("Current.object.number") != 1
        end
        Current.object = nil
        callers.each(&:take)
        assert_equal(0, stale)
      RUBY
    end
  end

  # No Ruby code runs while the lock is held: here it would wait for a Ractor that waits for the lock.
  def test_include_that_is_refused
    assert_calls(<<~'RUBY')
      other = Ractor.new { loop { GC.start; Ractor.yield 1 } }
      mod = Module.new
      taken = []
      TracePoint.new(:raise) { taken << other.take }.enable { assert_raise(ArgumentError) { mod.include(mod) } }
      assert_equal([1], taken)
    RUBY
  end

  # The caches are cleared after the warning that the method is being defined again, which may call it.
  def test_called_while_it_is_redefined
    assert_calls(<<~'RUBY')
      class Twice; def number = 1; end
      CALL = ->{ Twice.new.number }
      def Warning.warn(*, **) = CALL.call
      $VERBOSE = true
      class Twice; def number = 2; end
      assert_equal([2, 2], [CALL.call, Twice.new.number])
    RUBY
  end

  def test_method_missing_and_respond_to
    assert_calls(<<~'RUBY')
      ghosts = Array.new(20) { |i| Class.new { define_singleton_method(:method_missing) { |name, *| name == :ghost ? i : super(name) } } }
      call = ->{ ghosts.sum { |ghost| ghost.ghost } }
      20.times { assert_equal(190, call.call) }
      def (ghosts[4]).ghost = 100
      20.times { assert_equal(286, call.call) }
    RUBY
  end

  def test_refinements
    assert_calls(<<~'RUBY')
      module Refined
        refine(Base.singleton_class) { def config = -1 }
      end
      warm
      refined = eval("using Refined; ->{ CHILDREN.sum { |child| child.config } }", TOPLEVEL_BINDING.dup)
      20.times { assert_equal([-30, SUM], [refined.call, configs]) }
    RUBY
  end

  # The call cache of a refined method is one that its class does not know: it must not stay in the site.
  # Interpreted only: compiled code goes on with the method, in stock, too.
  def test_prepended_before_a_refined_method
    assert_calls(<<~'RUBY', [[]])
      waiting = Ractor.new { Ractor.receive }
      module First; def hash = 22; end
      Refined = Class.new
      Module.new { refine(Refined) { def hash = 5 } }
      def ask(object) = object.hash
      objects = [Refined.new, Object.new]
      50.times { objects.each { |object| ask(object) } }
      Refined.prepend(First)
      3.times { assert_equal([22, true], [ask(objects[0]), ask(objects[1]) == objects[1].hash]) }
      waiting.send(nil)
    RUBY
  end

  def test_keywords_blocks_and_splats
    assert_calls(<<~'RUBY')
      def Base.all(*args, **opts, &block) = [args, opts, block&.call, @config]
      site = ->(child, args, opts) { [child.all, child.all(*args), child.all(**opts), child.all(1, *args, k: 2, **opts) { 3 }] }
      CHILDREN.cycle(5) do |child|
        c = child.config
        assert_equal([[[], {}, nil, c], [[8, 9], {}, nil, c], [[], { o: 1 }, nil, c], [[1, 8, 9], { k: 2, o: 1 }, 3, c]],
                     site.call(child, [8, 9], { o: 1 }))
      end
    RUBY
  end

  # What C asks by name (respond_to?, conversions, keys of a Hash) is known to a Ractor as soon as it hears of the change.
  CHANGES = <<~'RUBY'
    class Parent; def to_ary = [:parent]; def hash = 1; def eql?(_) = true; end
    class Leaf < Parent; end
    class Bare; end
    MIXIN = Module.new { def mixed = 1 }
    HIDDEN = Module.new { def hash = 5; def to_ary = super + [:prepended] }

    def answers
      [Leaf.new, Bare.new].map { |object| %i[to_ary added mixed inherited].map { |name| object.respond_to?(name) } } +
        [[Leaf.new].flatten.map(&:to_s).grep_v(/Leaf/), Array(Leaf.new).size, { Leaf.new => 1 }.key?(Leaf.new), Leaf.new.hash]
    end

    STEPS = Ractor.make_shareable([
      "class Leaf; def added = 1; end",
      "class Leaf; def to_ary = [:leaf]; end",                  # inherited till now, and still Parent's
      "class Leaf; def hash = 2; end",
      "class Leaf; def eql?(_) = false; end",
      "class Leaf; remove_method :to_ary; end",
      "class Leaf; undef_method :to_ary; end",
      "class Leaf; def to_ary = [:again]; end",
      "class Parent; include MIXIN; end",
      "class Bare; include MIXIN; end",
      "class Object; def inherited = 1; end",
      "class Leaf; private :added; end",
      "class Leaf; prepend HIDDEN; end",
      "module HIDDEN; remove_method :to_ary; end",
      "class Parent; remove_method :hash; def hash = 3; end",
      "class Object; remove_method :inherited; end",
    ])
  RUBY

  def test_names_are_forgotten_where_they_change
    assert_calls(CHANGES + <<~'RUBY')
      askers = 3.times.map { Ractor.new { Ractor.yield((1..30).map { answers }.last) while Ractor.receive } }
      ask = -> { askers.each { |asker| asker.send(true) }.map(&:take) }
      before = answers
      assert_equal([before] * 3, ask.call)
      STEPS.each_with_index do |step, i|
        eval(step)
        GC.start if i % 4 == 3
        now = answers
        assert_equal([now] * 3, ask.call, step)
      end
      assert_not_equal(before, answers)
    RUBY
  end

  # A collection empties the tables: what is found then is what there is.
  def test_names_are_forgotten_with_one_ractor
    assert_calls(CHANGES + <<~'RUBY')
      before = 3.times.map { answers }.last
      STEPS.each do |step|
        eval(step)
        now = answers
        GC.start
        assert_equal(answers, now, step)
        3.times { answers }
      end
      assert_not_equal(before, answers)
    RUBY
  end

  # Main is one of those who ask; another Ractor changes what they ask for.
  def test_racing_define_and_respond_to
    assert_calls(<<~'RUBY')
      class Parent; def to_ary = [0]; end
      LEAVES = Ractor.make_shareable(Array.new(8) { Class.new(Parent) })
      changer = Ractor.new do
        200.times do |i|
          LEAVES[i % 8].class_eval("def to_ary = [#{i}]; def added#{i} = 1")
          Ractor.yield i
        end
        :done
      end
      asker = Ractor.new { LEAVES.each { |leaf| [leaf.new].flatten } until Ractor.receive == :end; :end }
      while (i = changer.take) != :done
        leaf = LEAVES[i % 8]
        20.times { assert_equal([[i], true, false], [[leaf.new].flatten, leaf.new.respond_to?("added#{i}"), leaf.new.respond_to?("added#{i + 1}")]) }
        asker.send(i)
      end
      asker.send(:end)
      assert_equal(:end, asker.take)
    RUBY
  end

  # A class at the address of another one that is gone is not taken for it.
  def test_names_of_classes_that_come_and_go
    assert_calls(<<~'RUBY')
      askers = 3.times.map do
        Ractor.new do
          60.times.all? do |round|
            klass = Class.new
            klass.class_eval(round.odd? ? "def to_ary = [1]" : "def odd = 1")
            expected = round.odd? ? [1] : :self
            found = 10.times.map { object = klass.new; [object].flatten.then { |list| list == [object] ? :self : list } }.uniq
            GC.start if round % 10 == 0
            found == [expected] && klass.new.respond_to?(:odd) == round.even?
          end
        end
      end
      assert_equal([true] * 3, askers.map(&:take))
    RUBY
  end

  def test_forwarding_in_ractors
    assert_calls(<<~'RUBY')
      class Base; def self.forward(...) = with(...); end
      sums = 3.times.map { Ractor.new { 50.times.map { CHILDREN.sum { |child| child.forward(1, 2, key: 3) } }.uniq } }.map(&:take)
      assert_equal([[SUM + 180]] * 3, sums)
    RUBY
  end

  # puts asks how many arguments write takes; a module's visibility of a method that only Object has leads to no class. With one Ractor.
  def test_arity_of_what_a_module_makes_public
    assert_in_out_err(%w[-W0 --disable-gems], <<~'RUBY', %w[a b])
      module Kernel; private def write(*list) = STDOUT.syswrite(list.join); end
      module Public; public :write; end
      class Out; include Public; end
      out = Class.new(IO) { remove_method(:write) if method_defined?(:write, false); include Public }
      IO.class_eval { remove_method(:write); include Public }
      out.for_fd(1, "w", autoclose: false).puts("a", "b")
    RUBY
  end
end
