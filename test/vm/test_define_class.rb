# frozen_string_literal: true
# test_define_class.rb - constant_set.h: constants, classes and modules that several Ractors define at the same time.

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
end
