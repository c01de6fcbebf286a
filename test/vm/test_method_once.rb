# frozen_string_literal: true
# vm/test_method_once.rb - vm/method_once.h, class/id_table_filter.h, rb_class_unmet_p: the first call of a method on a class.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVmMethodOnce < Test::Unit::TestCase
  include LockfreeAssertRactors

  BASE = <<~'RUBY'
    class Base
      attr_reader :left
      attr_accessor :right
      def initialize(left = 1, right: 2, &block) = (@left, @right = left, right; yield self if block)
      def a(x = 0, *rest, key: 0, &block) = [:base, x, rest, key, block&.call]
      def b = :base
      def ==(other) = other.is_a?(Base) && left == other.left
      def coerce(number) = [number, 10]
      def secret = :secret
      private :secret
      define_method(:block, &Ractor.make_shareable(proc { |x| [:block, x, self.class.superclass] }))
      def method_missing(name, *args) = name == :gone ? [:missing, *args] : super
      def respond_to_missing?(name, all) = name == :gone
    end

    def fresh(...) = Class.new(Base, ...)
    def ractor(*args, &block) = Ractor.new(*args, &block).take
    def change_for(ractor) = 20.times { change(ractor.take); ractor << :changed }
  RUBY

  def test_calls_of_a_class_that_is_met_once
    assert_ractors(BASE + <<~'RUBY')
      wrong = ractor do
        100.times.flat_map do
          o = fresh.new(3) { |made| made.right += 5 }
          p = fresh.new(3, right: 4)
          [
            [o.left, 3], [o.right, 7], [p.right, 4], [p.right = 9, 9], [p.right, 9], [o == p, true], [o != p, false],
            [o.a, [:base, 0, [], 0, nil]], [fresh.new.a(1, 2, key: 3) { 4 }, [:base, 1, [2], 3, 4]],
            [fresh.new.a(*[1, 2], **{ key: 3 }), [:base, 1, [2], 3, nil]], [5 + fresh.new, 15],
            [o.block(1), [:block, 1, Base]], [o.gone(1), [:missing, 1]], [o.respond_to?(:gone), true],
            [o.send(:secret), :secret], [(o.secret rescue $!.class), NoMethodError], [(o.none rescue $!.class), NoMethodError],
            [fresh.new.public_send(:b), :base], [fresh.new.method(:b).call, :base], [fresh.new&.b, :base],
            [[fresh.new].map(&:b), [:base]], [fresh.instance_method(:b).bind_call(fresh.new), :base],
          ].reject { |is, should| is == should }.map(&:first)
        end
      end
      assert_equal([], wrong)
    RUBY
  end

  # Each of +changes+ is made after the first call of `b`, and before it.
  {
    "def b = :own" => :own, "define_method(:b) { :own }" => :own, "attr_reader :b" => nil, "alias b left" => 1,
    "undef_method :b" => NoMethodError, "private :b" => NoMethodError, "include Module.new { def b = :included }" => :included,
    "prepend Module.new { def b = :prepended }" => :prepended, "prepend Module.new { def b = [super] }" => [:base],
    "def c = 1; remove_method :c" => :base, "def b = super; undef_method :b" => NoMethodError,
    "def b = [super]" => [:base], "const_set(:MOD, Module.new); include self::MOD; self::MOD.define_method(:b) { :late }" => :late,
    "const_set(:MOD, Module.new); include self::MOD; self::MOD.prepend(Module.new { def b = :very_late })" => :very_late,
  }.each do |change, expected|
    define_method("test_after_#{change}") do
      assert_ractors(BASE + <<~RUBY)
        seen = ractor do
          80.times.flat_map do
            met, unmet = fresh, fresh
            object = met.new
            object.b
            call = proc { |o| o.b rescue $!.class }
            [met, unmet].each { |klass| klass.class_eval #{change.dump} }
            [call[object], call[unmet.new], call[met.new], call[object]]
          end.uniq
        end
        assert_equal([#{expected.inspect}], seen)
      RUBY
    end
  end

  # A method of the class's own is called first by the Ractor that has defined it, after a change that this Ractor makes, or main.
  {
    "def b = :new" => :new, "define_method(:b, &NEW)" => :new, "attr_reader :b" => nil, "alias b left" => 1,
    "remove_method :b" => :base, "undef_method :b" => NoMethodError, "private :b" => NoMethodError,
    "prepend Module.new { def b = [super] }" => [:own], "prepend Module.new" => :own, "include Module.new { def b = :no }" => :own,
    "remove_method :b; include Module.new { def b = :included }" => :included, "alias_method :c, :b; remove_method :b" => :base,
    "prepend Module.new; remove_method :b" => :base, "prepend Module.new; def b = :origin" => :origin,
    "klass = self; Module.new { refine(klass) { def b = :no } }" => :own, "Class.new(self) { def b = :no }.new.b" => :own,
    "klass = self; Module.new { refine(klass) { def b = :no } }; remove_method :b" => :base,
    "remove_method :b; def b = :again" => :again, "def c = 1; remove_method :c" => :own,
  }.each do |change, expected|
    define_method("test_own_method_after_#{change}") do
      assert_ractors(BASE + <<~RUBY)
        $VERBOSE = nil # "method redefined"
        NEW = nil.instance_eval { Ractor.make_shareable(proc { :new }) }
        def change(klass) = klass.class_eval(#{change.dump})
        changes_here = ractor do
          40.times.map do
            klass = fresh { def b = :own }
            change(klass)
            klass.new.b rescue $!.class
          end.uniq
        end
        assert_equal([#{expected.inspect}], changes_here)

        other = Ractor.new do
          20.times.map do
            klass = fresh { def b = :own }
            Ractor.yield klass
            Ractor.receive
            klass.new.b rescue $!.class
          end.uniq
        end
        change_for(other)
        assert_equal([#{expected.inspect}], other.take)
      RUBY
    end
  end

  # A method of a module is remembered with the module, and asked of objects that have just got it.
  {
    "def b = :new" => :new, "define_method(:b, &NEW)" => :new, "attr_reader :b" => nil, "alias b c" => :other,
    "remove_method :b" => :base, "undef_method :b" => NoMethodError, "private :b" => NoMethodError,
    "prepend Module.new { def b = [super] }" => [:module], "prepend Module.new" => :module,
    "include Module.new { def b = :no }" => :module, "def b = [super]" => [:base], "remove_method :b; def b = :again" => :again,
    "remove_method :b; include Module.new { def b = :included }" => :included, "def d = 1; remove_method :d" => :module,
    "mod = self; Module.new { refine(mod) { def b = :no } }" => :module,
    "mod = self; Module.new { refine(mod) { def b = :no } }; remove_method :b" => :base,
    "prepend Module.new; remove_method :b" => :base, "prepend Module.new; def b = :origin" => :origin,
    "alias_method :was, :b; def b = [was]" => [:module],
  }.each do |change, expected|
    define_method("test_method_of_a_module_after_#{change}") do
      assert_ractors(BASE + <<~RUBY)
        $VERBOSE = nil # "method redefined"
        NEW = nil.instance_eval { Ractor.make_shareable(proc { :new }) }
        def change(mod) = mod.class_eval(#{change.dump})
        def made = Module.new { def b = :module; def c = :other }
        def objects(mod) = [fresh { include mod }.new, fresh { prepend mod }.new, Base.new.extend(mod), fresh.new.extend(mod)]
        def calls(mod) = objects(mod).map { |o| o.b rescue $!.class }.uniq
        here = ractor do
          30.times.flat_map do
            mod = made
            before = [calls(mod), calls(mod)].flatten.uniq
            old = objects(mod)
            change(mod)
            [[before, calls(mod), calls(mod), old.map { |o| o.b rescue $!.class }.uniq]]
          end.uniq
        end
        expected = [#{expected.inspect}]
        assert_equal([[[:module], expected, expected, expected]], here)

        other = Ractor.new do
          20.times.flat_map do
            mod = made
            before = [calls(mod), calls(mod)].flatten.uniq
            Ractor.yield mod
            Ractor.receive
            [[before, calls(mod), calls(mod)]]
          end.uniq
        end
        change_for(other)
        assert_equal([[[:module], expected, expected]], other.take)
      RUBY
    end
  end

  def test_methods_of_modules
    assert_ractors(BASE + <<~'RUBY')
      module Inner
        def deep = [:inner, __method__]
      end
      module Outer
        include Inner
        attr_accessor :kept
        def self.extended(object) = object.kept = :extended
        def a(x, y = 2, *rest, key: nil, **) = [:outer, x, y, key, yield, super(3)]
        def deep = [:outer, super]
        def label = caller_locations(0, 1).first.label
        def calls_private = hidden
        def b = [super, method(:b).owner, method(:b).super_method.owner]
        define_method(:block, &Ractor.make_shareable(proc { |x| [:of_module, super(x).first] }))
        private def hidden = :private
      end
      def of(o) = [o.a(1) { 3 }, o.deep, o.label, o.calls_private, (o.hidden rescue $!.class), o.b, o.block(1), o.kept, (o.kept = 7),
                   o.clamp(o, o).equal?(o), o.left]
      outer = [[:outer, 1, 2, nil, 3, [:base, 3, [], 0, 3]], [:outer, [:inner, :deep]], "Outer#label", :private, NoMethodError,
               [:base, Outer, Base], [:of_module, :block]]
      extended, included = ractor do
        60.times.map do
          o = Base.new.extend(Comparable).extend(Outer)
          p = fresh { include Comparable; include Outer }.new
          [of(o), of(p)]
        end.transpose.map(&:uniq)
      end
      assert_equal([outer + [:extended, 7, true, 1]], extended)
      assert_equal([outer + [nil, 7, true, 1]], included)
    RUBY
  end

  # Each Ractor sees the methods in the order in which main defines them, be the object new or not.
  def test_racing_redefinition_of_a_module
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      module Counted
        def number = 0
      end
      class Plain; end
      ractors = 4.times.map do
        Ractor.new do
          last, wrong = 0, []
          until last < 0
            o = Plain.new.extend(Counted)
            [o.number, Class.new(Plain) { include Counted }.new.number, o.number].each do |n|
              wrong << [last, n] if n < last && n >= 0 && wrong.size < 5
              last = n
            end
          end
          wrong
        end
      end
      1.upto(2000) { |n| Counted.class_eval("def number = #{n}") }
      Counted.class_eval("def number = -1")
      assert_equal([[]] * 4, ractors.map(&:take))
    RUBY
  end

  def test_own_methods
    assert_ractors(BASE + <<~'RUBY')
      assert_equal([[[:own, 1, 2, nil, 3], :block, :reader, 5, :private, :super, :singleton, :overridden, NoMethodError, [:"b?"]]],
        ractor {
          60.times.map do
            klass = fresh do
              def a(x, y = 2, *rest, key: nil, **) = [:own, x, y, key, yield]
              define_method(:d) { :block }
              attr_reader :reader
              attr_writer :writer
              def initialize = @reader = :reader
              def calls_private = hidden
              def with_super = super rescue :super
              def left = :overridden
              def method_missing(name, *) = name == :"b?" ? [name] : super
              private def hidden = :private
            end
            o = klass.new
            def o.one = :singleton
            [o.a(1) { 3 }, o.d, o.reader, (o.writer = 5), o.calls_private, o.with_super, o.one, o.left,
             (o.hidden rescue $!.class), o.b?]
          end.uniq
        })
    RUBY
  end

  # Where a subclass has subclasses, and a method of the same name, or has been given a module that has one, another entry of the
  # method comes into the table, and changes.
  def test_own_methods_whose_entry_is_another_now
    assert_ractors(<<~'RUBY')
      $VERBOSE = nil
      BUILD = nil.instance_eval { Ractor.make_shareable(proc { }) }
      def made
        klass = Class.new { def self.build(*) = :own; def hidden(*) = :own; def seen(*) = :own; private :seen }
        subclass = Class.new(klass)
        Class.new(subclass)
        2.times { klass.build; klass.new.hidden; klass.new.send(:seen) }
        [klass, subclass]
      end
      def change(klass, subclass, i)
        i.odd? ? subclass.class_eval { def hidden(*) = 2; def seen(*) = 2 } :
          subclass.include(Module.new { def hidden(*) = 2; def seen(*) = 2 })
        subclass.define_singleton_method(:build, &BUILD)
        klass.private_class_method :build
        klass.class_eval { i % 3 == 0 ? protected(:hidden) : private(:hidden); public(:seen) }
      end
      def call(klass) = [(klass.build(1) rescue $!.class), (klass.new.hidden(1) rescue $!.class), (klass.new.seen(1) rescue $!.class)]

      expected = [[NoMethodError, NoMethodError, :own]]
      assert_equal(expected, Ractor.new {
        30.times.map { |i| klass, subclass = made; change(klass, subclass, i); call(klass) }.uniq
      }.take)
      other = Ractor.new do
        30.times.map { klass, subclass = made; Ractor.yield([klass, subclass]); Ractor.receive; call(klass) }.uniq
      end
      30.times { |i| change(*other.take, i); other << :changed }
      assert_equal(expected, other.take)
    RUBY
  end

  def test_own_methods_that_others_refine
    assert_ractors(<<~'RUBY')
      refiner = Ractor.new do
        20.times.map do
          klass = Class.new { def b(*) = :own }
          Ractor.yield klass
          Ractor.receive
          klass.class_eval("using REFINED; [new.b(1), new.b(1, 2)]")
        end.uniq
      end
      20.times do
        klass = refiner.take
        klass.const_set(:REFINED, Module.new { refine(klass) { def b(*) = :refined } })
        refiner << :refined
      end
      assert_equal([[:refined, :refined]], refiner.take)
    RUBY
  end

  def test_own_methods_and_collections
    assert_ractors(BASE + <<~'RUBY')
      wrong = Array.new(4) { |k|
        Ractor.new(k) do |k|
          GC.auto_compact = true if k == 0
          (0...3000).reject do |i|
            GC.start(full_mark: i % 3 == 0) if i % 100 == k
            klass = fresh
            klass.class_eval("def b = #{i}; def c = #{-i}", __FILE__, __LINE__)
            o = klass.new
            o.b == i && o.c == -i && fresh.new.b == :base
          end
        end
      }.flat_map(&:take)
      assert_equal([], wrong)
    RUBY
  end

  def test_refinements
    assert_ractors(BASE + <<~'RUBY')
      module Refined
        refine(Base) { def b = [:refined, super] }
      end
      using Refined
      assert_equal([[:refined, :base], :own], ractor {
        20.times.map { [fresh.new.b, fresh { def b = :own }.new.b] }.uniq.flatten(1)
      })
    RUBY
  end

  def test_singleton_classes
    assert_ractors(BASE + <<~'RUBY')
      assert_equal([[:base, true, :own, [:extended, :base], false]], ractor {
        80.times.map do
          o = Base.new
          o.extend(Comparable)
          before = [o.b, o.is_a?(Comparable)]
          def o.b = :own
          before << o.b
          o = Base.new
          o.extend(Module.new { def b = [:extended, super] })
          before << o.b << o.is_a?(Comparable)
        end.uniq
      })
    RUBY
  end

  def test_collected_compacted_and_traced
    assert_ractors(BASE + <<~'RUBY')
      assert_equal([[:base, 1, :base]], ractor {
        GC.auto_compact = true
        30.times.map do
          GC.stress = true
          o = fresh.new
          seen = [o.b, o.left, o.a[0]]
          GC.stress = false
          seen
        end.uniq
      })
    RUBY
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], BASE + <<~'RUBY')
      assert_equal([[:call, :b], [:c_call, :object_id]], ractor {
        seen = []
        trace = TracePoint.new(:call, :c_call) { |point| seen << [point.event, point.method_id] }
        o = fresh.new
        trace.enable { o.b; o.object_id }
        seen & [[:call, :b], [:c_call, :object_id]]
      })
    RUBY
  end

  def test_nothing_is_filed_for_the_first_call
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], BASE + <<~'RUBY')
      module Mixed
        def b = :mixed
      end
      turns = Ractor.new do
        once = proc { o = fresh.new; o.b; o.block(1); o.extend(Comparable); o.is_a?(Comparable) }
        own = proc { fresh { def d = 1 }.new.d }
        kept = fresh
        mixed = proc { Object.new.extend(Mixed).b; fresh { include Mixed }.new.b }
        again = proc { kept.class_eval { def d = 1 }; kept.new.d; kept.remove_method(:d) }
        thrice = proc { o = fresh.new; 3.times { o.b } }
        [once, own, again, once, own, mixed, again, thrice].each do |turn|
          Ractor.receive
          Ractor.yield 200.times(&turn)
        end
      end
      count = ->{ ObjectSpace.count_imemo_objects[:imemo_callcache] }
      filed = ->{ before = count[]; (turns << :go).take; count[] - before }
      3.times { filed[] }
      GC.start
      GC.disable
      caches, own, mixed, again, thrice = filed[], filed[], filed[], filed[], filed[]
      assert_operator(caches, :<, 500) # of 1,000: two names may have one bit
      assert_operator(own, :<, 100) # of 400
      assert_operator(mixed, :<, 300) # of 1,200: extend, extended and the call of an object; include, new and the call of a class
      assert_operator(again, :<, 20) # of 200: each definition's next call is a first one
      assert_operator(thrice, :>=, 200) # the second time it is
    RUBY
  end

  # It did, for each name of the module, in the superclass: `==` of all objects was looked up again.
  # Each definition calls one, and the second call of it filed it with the metaclass, which was to be swept with all stopped.
  def test_hooks
    assert_ractors(<<~'RUBY')
      module Told; def method_added(name) = tell(name); end
      class Base; end
      def tell(name) = (Ractor.current[:told] ||= []) << name
      def told = (yield; Ractor.current[:told].tap { Ractor.current[:told] = nil })
      wrong = Ractor.new do
        200.times.flat_map do
          plain = told { Class.new(Base) { def a = 1; def b = 2; def c = 3 } }
          own = told do
            Class.new(Base) do
              def a = 1
              def b = 2
              def self.method_added(name) = tell([name])
              def c = 3
              def d = 4
              singleton_class.remove_method(:method_added)
              def e = 5
              extend Told
              def f = 6
              def g = 7
              singleton_class.prepend(Module.new { def method_added(name) = super("#{name}!") })
              def h = 8
            end
          end
          object = told do
            o = Object.new
            def o.singleton_method_added(name) = tell(name)
            def o.x = 1
            def o.y = 2
          end
          [[plain, nil], [own, [[:c], [:d], :f, :g, "h!"]], [object, %i[singleton_method_added x y]]].reject { |is, wanted| is == wanted }
        end
      end.take
      assert_equal([], wrong)
    RUBY
  end

  # Base's hook comes and goes while others define.
  def test_racing_hooks
    assert_ractors(<<~'RUBY')
      class Base; end
      def tell(name) = (Ractor.current[:told] ||= []) << name
      HOOK = Ractor.make_shareable(nil.instance_eval { proc { |name| tell(name) } })
      defining = 3.times.map do
        Ractor.new do
          4000.times { Class.new(Base) { def a = 1; def b = 2; def c = 3 } }
          Ractor.yield Ractor.current[:told].to_a.tally
          Ractor.receive
          Ractor.current[:told] = nil
          Class.new(Base) { def a = 1; def b = 2 }
          Ractor.current[:told]
        end
      end
      300.times do
        Base.define_singleton_method(:method_added, &HOOK)
        sleep 0.0005
        Base.singleton_class.remove_method(:method_added)
      end
      tallies = defining.map(&:take)
      assert_empty(tallies.flat_map(&:keys) - %i[a b c])
      defining.each { |ractor| ractor << :removed }
      assert_equal([nil] * 3, defining.map(&:take))
    RUBY
  end

  def test_including_into_an_unmet_class_forgets_nothing
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], <<~'RUBY')
      def same(a, b) = a == b
      count = ->{ ObjectSpace.count_imemo_objects[:imemo_callcache] }
      objects = Array.new(50) { Class.new.new }
      2.times { objects.each { |o| same(o, 1) } }
      GC.disable
      Object.new.extend(Comparable)
      before = count[]
      20.times do
        Object.new.extend(Comparable)
        objects.each { |o| same(o, 1) }
      end
      assert_operator(count[] - before, :<, 200)
    RUBY
  end

  # The class has no method cache, but its method has run, and what calls super is compiled.
  def test_including_into_a_class_whose_method_has_run
    assert_ractors(<<~'RUBY')
      class Parent; def foo = :parent; end
      def define(klass) = klass.class_eval { def foo = super }
      def check
        20.times.map do
          klass = Class.new(Parent)
          define(klass)
          foo = klass.instance_method(:foo)
          object = klass.allocate
          5.times { foo.bind_call(object) }
          klass.include(Module.new { def foo = :included })
          [foo.bind_call(object), object.foo]
        end.uniq
      end
      assert_equal([[:included, :included]], check)
      assert_equal([[:included, :included]], Ractor.new { check }.take)
    RUBY
  end

  # A metaclass has no superclass when it is seen first.
  def test_racing_first_singleton_class_and_call
    assert_ractors(<<~'RUBY')
      callers = 2.times.map do
        Ractor.new do
          while (klasses = Ractor.receive)
            klasses.each { |klass| klass.singleton_class.itself }
            Ractor.yield(:done)
          end
          :ok
        end
      end
      300.times do
        klasses = Ractor.make_shareable(Array.new(200) { Class.new })
        callers.each { |caller| caller.send(klasses) }
        callers.each(&:take)
      end
      callers.each { |caller| caller.send(nil) }
      assert_equal([:ok, :ok], callers.map(&:take))
    RUBY
  end

  %w[include prepend define].each do |change|
    define_method(:"test_racing_#{change}") do
      change = { "include" => "klass.include(NEW)", "prepend" => "klass.prepend(NEW)", "define" => "klass.class_eval { def number = 1 }" }[change]
      assert_ractors(<<~RUBY)
        class Old; def number = 0; end
        NEW = Module.new { def number = 1 }
        callers = 2.times.map do
          Ractor.new do
            wrong = 0
            while (klasses = Ractor.receive)
              klasses.each do |klass|
                o = klass.allocate
                first, second = o.number, o.number
                wrong += 1 if first > second
              end
              klasses.each { |klass| wrong += 1 if klass.allocate.number != 1 } if Ractor.receive
            end
            wrong
          end
        end
        60.times do
          klasses = Ractor.make_shareable(Array.new(60) { Class.new(Old) })
          callers.each { |caller| caller.send(klasses) }
          klasses.reverse_each { |klass| #{change} }
          callers.each { |caller| caller.send(true) }
        end
        callers.each { |caller| caller.send(nil) }
        assert_equal([0, 0], callers.map(&:take))
      RUBY
    end
  end
end
