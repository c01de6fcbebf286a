# frozen_string_literal: true
# test_define_class.rb - class/constant_set.h: constants, classes and modules that several Ractors define at the same time.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeDefineClass < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_define_and_define_a_class
    assert_ractors(<<~'RUBY')
      ractors = Array.new(6) do |r|
        Ractor.new(r) do |r|
          Array.new(300) do |i|
            eval("class C#{i}; def a#{r} = #{r}; end; module M#{i}; def self.a#{r} = #{r}; end; class M#{i}::Sub < C#{i}; end")
            [Object.const_get("M#{i}::Sub").new.send("a#{r}"), Object.const_get("M#{i}").send("a#{r}")] - [r]
          rescue NameError, TypeError => e
            e.message
          end.uniq
        end
      end
      assert_equal([[[]]] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_define_and_define_a_class_of_another_superclass
    assert_ractors(<<~'RUBY')
      ractors = %w[String Array].map do |superclass|
        Ractor.new(superclass) do |superclass|
          Array.new(500) { |i| eval("class D#{i} < #{superclass}; self; end").superclass.name rescue $!.message[/.*D/] }
        end
      end
      strings, arrays = ractors.map(&:take)
      strings.zip(arrays) { |pair| assert_include([["String", "superclass mismatch for class D"], ["superclass mismatch for class D", "Array"]], pair) }
    RUBY
  end

  def test_racing_define_and_define_a_struct_of_the_same_name
    assert_ractors(<<~'RUBY')
      ractors = Array.new(6) do |r|
        Ractor.new(r) do |r|
          $VERBOSE = nil
          Array.new(300) { |i| Struct.new("S#{i}", *%i[a b c d e f].first(r + 1)).members.size rescue $!.message }.uniq
        end
      end
      assert_equal((1..6).map { |n| [n] }, ractors.map(&:take))
    RUBY
  end

  # Stock: hangs.
  def test_warning_that_waits_for_a_ractor
    assert_ractors(<<~'RUBY')
      def Warning.warn(message, **) = Ractor.receive
      ractor = Ractor.new { 3.times { |i| Object.const_set(:AGAIN, i) }; AGAIN }
      sleep 0.2
      assert_equal(1, Ractor.new { Class.new; GC.start; 1 }.take)
      4.times { ractor.send(:go) }
      assert_equal(2, ractor.take)
    RUBY
  end

  def test_warning_of_a_constant
    assert_in_out_err(%w[-W:no-experimental --disable-gems], <<~'RUBY', [], <<~'ERR'.lines(chomp: true))
      module M
        X = 1
        private_constant :X
        X = 2
      end
      M::X rescue warn $!.message
      Struct.new("Named", :a)
      Struct.new("Named", :b)
      Y = 1
      Ractor.new { Object.const_set(:Y, 2) }.take
    RUBY
      -:4: warning: already initialized constant M::X
      -:2: warning: previous definition of X was here
      private constant M::X referenced
      -:8: warning: redefining constant Struct::Named
      -:10: warning: already initialized constant Y
      -:9: warning: previous definition of Y was here
    ERR
  end

  # Another Ractor removes it between two looks.
  def test_racing_open_and_remove
    assert_ractors(<<~'RUBY')
      removing = Ractor.new do
        100_000.times { Object.send(:remove_const, :Opened) if Object.const_defined?(:Opened) }
      end
      opening = Array.new(3) { Ractor.new { Array.new(50_000) { class ::Opened; self; end.class rescue $!.message }.tally } }
      assert_equal([{ Class => 50_000 }] * 3, opening.map(&:take))
      removing.take
    RUBY
  end

  # Of those that make the same class one is left, also among the subclasses.
  def test_racing_define_and_define_are_one_subclass
    assert_ractors(<<~'RUBY')
      GC.disable
      class Base; end
      source = Array.new(3000) { |i| "class One#{i} < ::Base; end\n" }.join
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.5
      ractors = Array.new(4) do
        Ractor.new(source, start) do |source, start|
          iseq = RubyVM::InstructionSequence.compile(source)
          nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > start
          iseq.eval
        end
      end
      ractors.each(&:take)
      assert_equal([3000, 3000], [Base.subclasses.size, Base.subclasses.map(&:name).uniq.size])
    RUBY
  end

  # The name that lasts stays.
  def test_racing_set_a_constant_and_name_its_module
    assert_ractors(<<~'RUBY')
      ractors = Array.new(3) do |r|
        Ractor.new(r) { |r| while (mod = Ractor.receive); Ractor.yield(mod.const_set("In#{r}", Class.new)); end }
      end
      wrong = Array.new(3000) do |i|
        mod = Module.new
        ractors.each { |ractor| ractor.send(mod) }
        Object.const_set("Named#{i}", mod)
        ractors.map.with_index { |ractor, r| [ractor.take.name, "Named#{i}::In#{r}"] }.reject { |name, expected| name == expected }
      end.flatten(1)
      ractors.each { |ractor| ractor.send(nil) }
      assert_equal([], wrong)
    RUBY
  end
end
