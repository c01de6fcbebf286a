# frozen_string_literal: true
# vm/test_special_variable.rb - vm/special_variable.h: $~, $_ and flip-flops in Procs that Ractors share.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeVMSpecialVariable < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_match_and_match
    assert_ractors(<<~'RUBY')
      NUMBER = nil.instance_eval { Ractor.make_shareable(proc { |s| s =~ /(\d+)/; $1 }) }
      ractors = 4.times.map { |i| Ractor.new("id #{i}") { |s| 30_000.times.map { NUMBER.call(s) }.uniq } }
      assert_equal(4.times.map { |i| [i.to_s] }, ractors.map(&:take))
    RUBY
  end

  def test_racing_gsub_and_gsub_in_methods
    assert_ractors(<<~'RUBY')
      class Digits
        define_method(:count, &nil.instance_eval { Ractor.make_shareable(proc { |s| s.gsub(/\d/) { "" }; $~[0] }) })
        define_method(:both, &nil.instance_eval { Ractor.make_shareable(proc { |s| s =~ /(.)(.)/; count(s); [$1, $2] }) })
      end
      ractors = 4.times.map { |i| Ractor.new("#{i}x") { |s| 20_000.times.map { Digits.new.both(s) }.uniq } }
      assert_equal(4.times.map { |i| [["#{i}", "x"]] }, ractors.map(&:take))
    RUBY
  end

  def test_another_ractor_does_not_see_it
    assert_ractors(<<~'RUBY')
      LAST = nil.instance_eval { Ractor.make_shareable(proc { |s| was = $~; s =~ /./ if s; was }) }
      FLIP = nil.instance_eval { Ractor.make_shareable(proc { |i| (i == 1)..(i == 2) ? true : false }) }
      Ractor.new { LAST.call("secret"); FLIP.call(1) }.take
      assert_nil(Ractor.new { LAST.call(nil) }.take)
      assert_nil(LAST.call(nil))
      assert_false(Ractor.new { FLIP.call(5) }.take)
      assert_false(FLIP.call(5))
    RUBY
  end

  # The method and the cref of a frame are found, too, where its special variables are.
  def test_method_of_a_frame_with_special_variables
    assert_ractors(<<~'RUBY')
      class Base
        def name(s) = "base #{s}"
      end
      class Sub < Base
        WORD = "word"
        define_method(:name, &nil.instance_eval { Ractor.make_shareable(proc { |s|
          s =~ /\w/
          [1].each { |x| "#{x}" =~ /(\d)/ }
          [__method__, $1, super(s), binding.local_variables, (Class.new { define_method(:x) { } }; $~[0])]
        }) })
      end
      expected = [:name, "1", "base a", [:s], "1"]
      assert_equal([expected] * 2, Ractor.new { Array.new(2) { Sub.new.name("a") } }.take)
      assert_equal(expected, Sub.new.name("a"))
    RUBY
  end

  def test_blocks_of_the_proc_share_it
    assert_ractors(<<~'RUBY')
      INNER = nil.instance_eval { Ractor.make_shareable(proc { |s| s =~ /b/; $~[0] }) }
      OUTER = nil.instance_eval { Ractor.make_shareable(proc { |s|
        [s].each { |x| x =~ /a/ }
        kept = proc { $~ && $~[0] }
        INNER.call(s)
        GC.start
        [$~[0], kept.call, (defined?($&) && $&)]
      }) }
      3.times { assert_equal(["a", "a"], Ractor.new { OUTER.call("ab") }.take.values_at(0, 1)) }
    RUBY
  end

  # What one Ractor sees is what it saw in stock: main's goes on from call to call.
  def test_main_goes_on_from_call_to_call
    assert_ractors(<<~'RUBY')
      flip = nil.instance_eval { Ractor.make_shareable(proc { |i| (i == 2)..(i == 4) ? true : false }) }
      last = nil.instance_eval { Ractor.make_shareable(proc { |s| was = $~ && $~[0]; s =~ /./; was }) }
      2.times do
        assert_equal([2, 3, 4], (1..6).select(&flip))
        assert_equal("x", [last.call("x"), last.call("x")].last)
        Ractor.new { }.take
      end
    RUBY
  end
end
