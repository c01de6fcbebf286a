# frozen_string_literal: true
# string/test_symbol_intern.rb - string/symbol_intern.h: names that several Ractors meet first.

require "test/unit"

class TestLockfreeSymbolIntern < Test::Unit::TestCase
  def test_racing_intern_and_intern
    assert_ractor(<<~'RUBY', timeout: 60)
      ractors = Array.new(4) do
        Ractor.new do
          Ractor.receive
          Array.new(20_000) { |n| eval(":met_by_all_#{n}") }
        end
      end
      ractors.each { |ractor| ractor.send(:go) }
      symbols = ractors.map(&:take)
      assert_equal([symbols[0]], symbols.uniq)
      assert_equal(symbols[0], Array.new(20_000) { |n| :"met_by_all_#{n}" })
    RUBY
  end

  def test_racing_definition_of_new_name_and_call
    assert_ractor(<<~'RUBY', timeout: 60)
      ractors = Array.new(4) do |i|
        Ractor.new(i) do |i|
          Ractor.receive
          Array.new(3_000) do |n|
            object = eval("Class.new { attr_accessor :new_to_all_#{n}; def initialize = @new_to_all_#{n} = 1 }").new
            object.__send__("new_to_all_#{n}=", object.instance_variable_get("@new_to_all_#{n}") + 1)
          end.tally
        end
      end
      ractors.each { |ractor| ractor.send(:go) }
      assert_equal([{2 => 3_000}] * 4, ractors.map(&:take))
    RUBY
  end

  # The message of the error has what String#inspect returns.
  def test_racing_inspect_of_invalid_name_and_compute
    assert_ractor(<<~'RUBY', timeout: 60)
      class String
        alias inspect_bytes inspect
        def inspect = (Ractor.new { 1 }.take; inspect_bytes)
      end
      Ractor.new { loop { Array.new(100) { |n| "name_#{n}".to_sym } } }
      invalid = "\xff"
      [-> { invalid.to_sym }, -> { Object.new.instance_variable_set("@#{invalid}", 1) },
       -> { Class.new.define_method(invalid) { } }, -> { Class.new.attr_reader(invalid) }].each do |call|
        assert_raise(EncodingError, &call)
      end
    RUBY
  end
end
