# frozen_string_literal: true
# yjit/test_unsafe_cfunc.rb - vm/unsafe_cfunc.h, yjit/unsafe_cfunc.rs: C functions that only main may call, compiled.

require "test/unit"

class TestLockfreeYJITUnsafeCfunc < Test::Unit::TestCase
  # objspace does not declare itself safe for Ractors.
  def test_called_in_a_ractor
    omit "YJIT is not built in" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W0 --yjit --yjit-call-threshold=2], <<~'RUBY', timeout: 60)
      require "objspace"

      def alone(one) = ObjectSpace.memsize_of(one)
      def among(one) = ObjectSpace.memsize_of(one)
      def first_there(one, *rest) = ObjectSpace.memsize_of(*[one], *rest)
      def there(name) = Array.new(20) { __send__(name, "") rescue $!.class }.uniq

      size = ObjectSpace.memsize_of("")
      20.times { assert_equal(size, alone("")) }
      assert_equal([Ractor::UnsafeError], Ractor.new { there(:alone) }.take)
      20.times { assert_equal(size, among("")) }
      ractors = Array.new(2) { Ractor.new { [there(:alone), there(:among), there(:first_there)] } }
      20.times { assert_equal([size, size, size], [alone(""), among(""), first_there("")]) }
      assert_equal([[[Ractor::UnsafeError]] * 3] * 2, ractors.map(&:take))
      20.times { assert_equal([size, size, size], [alone(""), among(""), first_there("")]) }
    RUBY
  end
end
