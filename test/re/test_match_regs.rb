# frozen_string_literal: true
# re/test_match_regs.rb - re/match_regs.h: the positions of a MatchData in its slot.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeMatchRegs < Test::Unit::TestCase
  include LockfreeAssertRactors

  # From one group to more than the slot has room for.
  GROUPS = (0..7).map { |n| /#{"(.)" * n}/ }.freeze
  STRING = "abcdefgh"

  def expected(n) = (0..n).map { |i| i == 0 ? [0, n] : [i - 1, i] }
  def positions(match) = (0...match.size).map { |i| match.byteoffset(i) }

  def test_each_number_of_groups
    GROUPS.each_with_index do |re, n|
      assert_equal(expected(n), positions(re.match(STRING)))
      assert_equal(expected(n), positions(re.match(STRING).dup))
    end
  end

  def test_groups_that_did_not_match
    match = /(a)|(b)|(c)|(d)/.match("c")
    assert_equal([[0, 1], [nil, nil], [nil, nil], [0, 1], [nil, nil]], positions(match))
    assert_nil(/(a)(b)/.match("ba"))
    assert_nil($~)
  end

  # $~ is filled again by those that find no group: it has room in its slot, or had not.
  def test_last_match_is_filled_again
    GROUPS.each do |re|
      re =~ STRING
      STRING.start_with?(/(a)(b)(c)(d)(e)(f)/)
      assert_equal(expected(6), positions($~))
      re =~ STRING
      STRING.start_with?(/x/)
      assert_nil($~)
      re =~ STRING
      STRING.index("cd")
      STRING.sub("cd", "")
      assert_equal([[2, 4]], positions($~))
      assert_equal("ab|efgh", "#$`|#$'")
      STRING.scan("g")
      re =~ STRING
      assert_equal(re.match(STRING), $~)
    end
  end

  def test_initialize_copy_over_another
    GROUPS.each_with_index do |from, n|
      GROUPS.each do |to|
        match = to.match("12345678")
        match.send(:initialize_copy, from.match(STRING))
        assert_equal(expected(n), positions(match))
      end
    end
  end

  def test_compaction
    omit "compaction is not supported" unless GC.respond_to?(:compact)
    assert_separately([], <<~'RUBY')
      GC.disable
      matches = []
      2000.times { |i| matches << /(a)(.)?#{"(.)" * (i % 6)}/.match("xxabcdefgh"); /(.)/.match("y") }
      before = matches.map { |m| [m.to_a, m.offset(0), m.byteoffset(1), m.pre_match] }
      GC.enable
      2.times { GC.verify_compaction_references(expand_heap: true, toward: :empty) }
      assert_equal(before, matches.map { |m| [m.to_a, m.offset(0), m.byteoffset(1), m.pre_match] })
      GC.auto_compact = true
      10.times { GC.start }
      assert_equal(before, matches.map { |m| [m.to_a, m.offset(0), m.byteoffset(1), m.pre_match] })
    RUBY
  end

  def test_interrupted_search
    assert_separately([], <<~'RUBY')
      re = Regexp.new('^(a*)*\1$', timeout: 0.02)
      assert_raise(Regexp::TimeoutError) { re =~ "a" * 50_000 + "x" }
      slow = /^(a*)*\1$/
      20.times do
        thread = Thread.new { slow =~ "a" * 50_000 + "x" }
        sleep 0.005
        thread.kill.join
        GC.start
      end
      /(b)(c)/ =~ "abcd"
      assert_equal(["bc", "b", "c"], $~.to_a)
    RUBY
  end

  def test_racing_move_and_copy
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do
        Ractor.new do
          sum = 0
          while (match = Ractor.receive)
            1_000.times { /(.)(.)/ =~ "yz" }
            sum += match.begin(1) + match.end(2) + (match.size == 3 ? 0 : match.end(6))
          end
          sum
        end
      end
      400.times do |i|
        match = (i.even? ? /(b)(.)/ : /(b)(.)(.)(.)(.)(.)/).match("xxbcdefghijk")
        ractors[i % 4].send(match, move: i % 3 == 0)
        assert_raise(Ractor::MovedError) { match.begin(0) } if i % 3 == 0
      end
      ractors.each { |ractor| ractor.send(nil) }
      assert_equal((0...400).sum { |i| 2 + 4 + (i.even? ? 0 : 8) }, ractors.sum(&:take))
    RUBY
  end
end
