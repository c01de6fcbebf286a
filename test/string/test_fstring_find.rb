# frozen_string_literal: true
# string/test_fstring_find.rb - string/fstring_find.h: which String -str returns.

require "test/unit"
require_relative "../assert_ractors"
require_relative "../minirubies"

class TestLockfreeFstringFind < Test::Unit::TestCase
  include LockfreeAssertRactors
  include LockfreeMinirubies

  # What a program with one Ractor sees.
  SEEN = <<~'RUBY'
    def one(*strings) = strings.map { |s| (-s).equal?(-s.dup) }
    long = "long " * 200
    p one("a", "", "ä", "\xff", long, "\xe9".b)
    p [(-"a".b).encoding, (-"a".dup.force_encoding("US-ASCII")).encoding, (-"a").encoding, (-"".b).encoding]
    p (-"a".b).equal?(-"a"), (-"ä".b).equal?(-"ä"), (-"").equal?(-"".b)
    class Sub < String; end
    sub = Sub.new("sub" * 300)
    p (-sub).class, (-sub).frozen?, sub.frozen?
    ivar = "ivar".dup.tap { |s| s.instance_variable_set(:@a, 1) }
    p (-ivar).instance_variable_get(:@a), (-"ivar").instance_variable_get(:@a)
    half = long[2..]
    p (-half).equal?(-half.dup), -half == half
    key = +"key of a Hash"
    hash = { key => 1 }
    p hash.keys[0].frozen?, hash.keys[0].equal?(-key), key.frozen?
    p (def (-"a").x = 1) rescue p $!.class
    frozen = ("fro" + "zen" * 100).freeze
    p (-frozen).equal?(frozen), (-frozen.dup).equal?(frozen), (-(frozen.dup << "x")).equal?(-(frozen + "x"))
    p [:a, :"b c", :ä].map { |y| (-y.to_s).equal?(y.name) }
    weak = Array.new(1000) { |i| (-"weak #{i}").object_id }
    GC.start
    p Array.new(1000) { |i| "weak #{i}".dedup }.uniq.size
  RUBY

  def test_strings_of_one_ractor_are_stocks
    assert_stocks(21, SEEN)
  end

  # Some have the String that is inserted, others make one.
  def test_racing_dedup_and_dedup_of_shared
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      n = 0
      assert_race(true, "(-o).equal?(-o.dup)", "(-o.dup).equal?(-o)", "x = -o.dup; x.equal?(-o) && x.equal?(-o.dup)") { ("shared %d" % (n += 1)).freeze }
      assert_race(true, "(-o).equal?(-o.dup)", "(-o.dup).equal?(-o)", "x = -o.dup; x.equal?(-o) && x == o") { ("long shared %d " % (n += 1) * 60).freeze }
    RUBY
  end

  def test_racing_keys_and_keys
    assert_ractors(<<~'RUBY')
      hashes = Array.new(4) { Ractor.new { Array.new(20_000) { |n| { "key #{n}" => n } }.reduce(:merge) } }.map(&:take)
      keys = hashes.map(&:keys)
      keys[1..].each { |other| assert_equal([], keys[0].zip(other).reject { |a, b| a.equal?(b) }.first(3)) }
    RUBY
  end
end
