# frozen_string_literal: true
# test_ractor.rb - ractor.c: which Ractor may do what with the variables of a class.

require "test/unit"

class TestLockfreeRactor < Test::Unit::TestCase
  GET = "can not get unshareable values from instance variables of classes/modules from non-main Ractors"
  SET = "can not set instance variables of classes/modules by non-main Ractors"

  def assert_isolation_error(message, prelude, access)
    assert_ractor(<<~RUBY)
      #{prelude}
      2.times do # the second time by way of the inline cache
        error = Ractor.new { begin; #{access}; rescue Ractor::IsolationError => e; e.message; end }.take
        assert_equal(#{message.dump}, error)
      end
    RUBY
  end

  UNSHAREABLE = "module Mod; @a = [1]; class << self; attr_accessor :a; def get = @a; def set = (@a = 1); end; end"

  def test_get_unshareable
    assert_isolation_error("#{GET} (@a from Mod)", UNSHAREABLE, "Mod.get")
    assert_isolation_error("#{GET} (@a from Mod)", UNSHAREABLE, "Mod.a")
    assert_isolation_error("#{GET} (@a from Mod)", UNSHAREABLE, "Mod.instance_variable_get(:@a)")
  end

  def test_set
    assert_isolation_error("#{SET} (@a from Mod)", UNSHAREABLE, "Mod.set")
    assert_isolation_error("#{SET} (@a from Mod)", UNSHAREABLE, "Mod.a = 1")
    assert_isolation_error("#{SET} (@b from Mod)", UNSHAREABLE, "Mod.instance_variable_set(:@b, 1)")
    assert_isolation_error("#{SET} (@a from Mod)", UNSHAREABLE, "Mod.remove_instance_variable(:@a)")
  end

  def test_names_of_modules
    assert_isolation_error("#{SET} (@a from A::B)", "module A; class B; end; end", "A::B.instance_variable_set(:@a, 1)")
  end

  def test_anonymous_module
    assert_ractor(<<~RUBY)
      message = Ractor.new(Module.new) { |m| begin; m.instance_variable_set(:@a, 1); rescue => e; e.message; end }.take
      assert_equal(#{SET.dump} + " (@a from #<Module:0x>)", message.sub(/0x\\h+/, "0x"))
    RUBY
  end

  def test_defined_and_list_ask_no_leave
    assert_ractor(<<~RUBY)
      #{UNSHAREABLE}
      def Mod.known = defined?(@a)
      assert_equal(["instance-variable", true, [:@a]] * 2,
                   Ractor.new { 2.times.flat_map { [Mod.known, Mod.instance_variable_defined?(:@a), Mod.instance_variables] } }.take)
    RUBY
  end

  def test_a_value_frozen_later_becomes_readable
    assert_ractor(<<~RUBY)
      #{UNSHAREABLE}
      assert_equal(:no, Ractor.new { begin; Mod.get; rescue Ractor::IsolationError; :no; end }.take)
      Ractor.make_shareable(Mod.a)
      assert_equal([1], Ractor.new { Mod.get }.take)
    RUBY
  end

  def test_an_error_in_a_reader_leaves_nothing_locked
    assert_ractor(<<~RUBY)
      #{UNSHAREABLE}
      readers = Array.new(4) { Ractor.new { 500.times { begin; Mod.get; rescue Ractor::IsolationError; end }; :done } }
      500.times { |i| Mod.instance_variable_set(:"@x\#{i % 40}", i) }
      assert_equal([:done] * 4, readers.map(&:take))
    RUBY
  end

  # Main may overwrite a shareable value with an unshareable one at any moment: the value that was loaded is tested.
  def test_racing_set_unshareable_and_get
    assert_ractor(<<~'RUBY', timeout: 120)
      module Mod
        @a = 1
        def self.get = @a
      end
      reader = Ractor.new do
        Ractor.yield :ready
        wrong = 0
        50_000.times do
          begin
            wrong += 1 unless Mod.get == 1
          rescue Ractor::IsolationError
          end
        end
        wrong
      end
      reader.take
      20_000.times { Mod.instance_variable_set(:@a, [2]); Mod.instance_variable_set(:@a, 1) }
      assert_equal(0, reader.take)
    RUBY
  end
end
