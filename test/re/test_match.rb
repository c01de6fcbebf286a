# frozen_string_literal: true
# re/test_match.rb - re/match.h: MatchData that Ractors share.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeReMatch < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_offset_and_offset
    assert_ractors(<<~'RUBY')
      expected = [0, 7, 6, 5, [2, 3]]
      MATCHES = 30.times.map do
        Ractor.make_shareable(Array.new(3000) { "\u00e9\u20acab\u{1f600}cd".match(/(.)(.)(a)(b)(.)(c)(d)/) })
      end.freeze
      Ractor.make_shareable(MATCHES)
      ractors = Array.new(3) do
        Ractor.new do
          while (batch, start = Ractor.receive)
            nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < start
            Ractor.yield(batch.map { |m| [m.begin(0), m.end(0), m.begin(7), m.end(5), m.offset(3)] }.uniq)
          end
        end
      end
      MATCHES.each do |batch|
        ractors.each { |r| r.send([batch, Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.002].freeze) }
        assert_equal([[expected]] * 3, ractors.map(&:take))
      end
    RUBY
  end

  def test_regexp_of_a_string
    assert_ractors(<<~'RUBY')
      "abc".sub("b") { M = Ractor.make_shareable($~); "" }
      ids = Array.new(3) { Ractor.new { r = M.regexp; [r.object_id, r.frozen?, Ractor.shareable?(r), r.source] }.take }
      assert_equal([[M.regexp.object_id, true, true, "b"]], ids.uniq)
    RUBY
  end

  def test_racing_match_and_match_with_its_regexp
    assert_ractors(<<~'RUBY')
      M = Ractor.make_shareable(Regexp.new("(?<x>b)").match("abc"))
      assert_predicate(M.regexp, :frozen?)
      "abc".sub("b") { N = Ractor.make_shareable($~); "" }
      strings = %w[UTF-8 EUC-JP Shift_JIS ISO-8859-1].map { |e| "b\xa4\xa2".dup.force_encoding(e).freeze }
      STRINGS = Ractor.make_shareable(strings)
      ractors = 4.times.map do |n|
        Ractor.new(n) do |i|
          20_000.times { |k| [M, N].each { |m| STRINGS[(k + i) % 4] =~ m.regexp rescue 0 } }
          [M[:x], M.string, N.regexp.source]
        end
      end
      assert_equal([["b", "abc", "b"]] * 4, ractors.map(&:take))
    RUBY
  end

  # Not a race by itself: the Regexp of a copy would be both Ractors', who replace its pattern.
  def test_copy_has_a_regexp_of_its_own
    assert_ractors(<<~'RUBY')
      match = Regexp.new("(.)b").match("abc")
      id, *rest = Ractor.new(match) { |copy| [copy.regexp.object_id, copy.regexp.source, copy.string, copy[1]] }.take
      assert_equal(["(.)b", "abc", "a"], rest)
      assert_not_equal(match.regexp.object_id, id)
    RUBY
  end

  # What was made of a String last is kept, to be taken for the same String again.
  def test_regexp_of_a_string_is_moved
    assert_ractors(<<~'RUBY')
      ractor = Ractor.new { Ractor.receive[0] }
      ractor.send("ab".match("b"), move: true)
      assert_equal("b", ractor.take)
      assert_equal("b", "ab".match("b")[0])
    RUBY
  end

  def test_block_of_split_moves_the_match
    assert_ractors(<<~'RUBY')
      ractor = Ractor.new { loop { Ractor.receive } }
      parts = []
      "abcabc".split(/(b)/) do |part|
        ractor.send($~, move: true) if $~
        parts << part
      end
      assert_equal(%w[a ca c], parts)
    RUBY
  end

  def test_moved_match_leaves_its_regexp
    assert_ractors(<<~'RUBY')
      ractor = Ractor.new { loop { Ractor.yield(Ractor.receive.then { |m| [m[:x], m.regexp.source, m.regexp.timeout] }) } }
      re = Class.new(Regexp).new("(?<x>b)", timeout: 3.0)
      matches = Array.new(2) { "abc".match(re) }
      ractor.send(matches[0], move: true)
      assert_equal(["b", "(?<x>b)", 3.0], ractor.take)
      assert_equal([["b"], { "x" => "b" }, 1], [matches[1].captures, matches[1].named_captures, re =~ "ab"])
      assert_same(re, matches[1].regexp)
    RUBY
  end

  # Stock: crash.
  def test_regexp_of_a_match_is_moved
    assert_ractors(<<~'RUBY')
      ractor = Ractor.new { loop { Ractor.receive } }
      match = "abc".match(Regexp.new("(?<x>b)"))
      ractor.send(match.regexp, move: true)
      %i[inspect named_captures deconstruct_keys].each do |name|
        assert_raise(TypeError) { match.send(name, *([[:x]] if name == :deconstruct_keys)) }
      end
      assert_raise(TypeError) { match.end(:x) }
      assert_equal("b", match[0])
    RUBY
  end
end
