# frozen_string_literal: true
# test_compile_stack.rb - compile_stack.h: eval that goes on in eval without end.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeCompileStack < Test::Unit::TestCase
  include LockfreeAssertRactors

  # From several depths, so that some of them would come to the end of the stack in malloc: then another Ractor waits for good.
  def test_eval_without_end
    assert_ractors(<<~'RUBY')
      class Deep
        def eval_on(n) = instance_eval("eval_on(n + 1)")
        def class_eval_on(n) = self.class.class_eval("Deep.new.class_eval_on(#{n + 1})")
        def from(k, name) = k.zero? ? public_send(name, 0) : [1].map { from(k - 1, name) }
      end
      def Deep.all
        4.times.flat_map do |k|
          %i[eval_on class_eval_on].flat_map do |name|
            deep = proc { Deep.new.from(k, name) }
            [deep, proc { Fiber.new(&deep).resume }].map { |work| message(&work) }
          end
        end.uniq
      end

      def Deep.message
        yield
      rescue SystemStackError => error
        error.message
      end

      ractors = Array.new(4) { Ractor.new { Deep.all } }
      assert_equal(["stack level too deep"], Deep.all)
      ractors.each { |ractor| assert_equal(["stack level too deep"], ractor.take) }
    RUBY
  end
end
