# frozen_string_literal: true
# vm/test_super_site.rb - vm/super_site.h: the name that a `super` calls, where Ractors share the site.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVmSuperSite < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_super_and_super_of_another_name
    assert_ractors(<<~'RUBY')
      class Base
        def one(number) = number
        def method_missing(name, *) = name
        def respond_to_missing?(*) = true
      end
      class Child < Base
        body = Ractor.make_shareable(class_eval { proc { super(1) } })
        %i[one two three].each { |name| define_method(name, &body) }
      end
      ractors = Array.new(4) do
        Ractor.new { child = Child.new; Array.new(30_000) { [child.one, child.two, child.three] }.uniq }
      end
      assert_equal([[[1, :two, :three]]] * 4, ractors.map(&:take))
    RUBY
  end

  def test_racing_super_with_keywords_and_super_with_keywords
    assert_ractors(<<~'RUBY')
      class Base; def initialize(k:, z: 1) = @k = k; attr_reader :k; end
      class Child < Base; def initialize(number) = super(k: number, z: 2); end
      ractors = Array.new(8) { Ractor.new { 250_000.times.all? { Child.new(5).k == 5 } } }
      assert_equal([true] * 8, ractors.map(&:take))
    RUBY
  end

  # With one Ractor the site takes each name.
  def test_super_of_other_names
    assert_ractors(<<~'RUBY')
      class Base; def one(k:) = [1, k]; def two(k:) = [2, k]; def method_missing(name, **) = name; end
      class Child < Base
        body = proc { super(k: 3) }
        %i[one two three].each { |name| define_method(name, &body) }
      end
      assert_equal([[[1, 3], [2, 3], :three]], Array.new(20) { [Child.new.one, Child.new.two, Child.new.three] }.uniq)
    RUBY
  end
end
