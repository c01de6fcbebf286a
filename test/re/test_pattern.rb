# frozen_string_literal: true
# re/test_pattern.rb - re/pattern.h: Regexps that Ractors share.

require "test/unit"

class TestLockfreeRePattern < Test::Unit::TestCase
  STRINGS = <<~'RUBY'
    $VERBOSE = nil
    STRINGS = Ractor.make_shareable([
      "abc\u00e9", "abc\xA4\xA2".dup.force_encoding("EUC-JP"), "abc\xff".b,
      "abc\x82\xa0".dup.force_encoding("Windows-31J"), "abc"
    ])
  RUBY

  YJIT = defined?(RubyVM::YJIT.enable) ? [[], %w[--yjit --yjit-call-threshold=2]] : [[]]

  def assert_matches(code)
    YJIT.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, STRINGS + code, timeout: 60)
    end
  end

  # A match marks what is shareable, and nothing else.
  def test_shareable_after_a_match
    assert_matches(<<~'RUBY')
      Ractor.new { 1 }.take
      makers = {
        -> { Regexp.new("b").freeze } => true, -> { x = "b"; /#{x}/ } => true, -> { Class.new(Regexp).new("b").freeze } => true,
        -> { Regexp.new("b").tap { |re| re.instance_variable_set(:@x, +"s") }.freeze } => false,
        -> { Regexp.new("b").tap { |re| re.instance_variable_set(:@x, :s) }.freeze } => true,
        -> { Class.new(Regexp).new("b").tap { |re| re.instance_variable_set(:@x, +"s") }.freeze } => false,
        -> { Regexp.new("b") } => false,
      }
      makers.each do |make, shareable|
        re = make.call
        STRINGS.each { |string| re.match?(string) }
        assert_equal([shareable] * 2, [Ractor.shareable?(re), Ractor.shareable?(make.call)], re.inspect)
        assert_equal(re, Ractor.new(re) { |sent| sent.match?("abc") && sent }.take)
      end
    RUBY
  end

  # Stock crashes here each time.
  def test_racing_match_and_match_of_many_encodings
    assert_matches(<<~'RUBY')
      ractors = 4.times.map do
        Ractor.new do
          1_000.times.all? do
            STRINGS.all? do |str|
              /(?<first>[a-z])b(?<last>[^x])/ =~ str && first == "a" && last == "c" &&
                str.match?(/[^y]c/) && str.gsub(/[ab]/) { |c| c.upcase }.start_with?("ABc") && str.index(/c/) == 2
            end
          end
        end
      end
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end

  # Has the timeout of the Regexp it was made of, in encodings that one had been matched in, if these are copied, too.
  def test_timeout_of_copy
    assert_matches(<<~'RUBY')
      pattern = Ractor.make_shareable(/^(a*)*\1$/)
      Ractor.new(pattern) { |pattern| pattern.match?("\xff".b) }.take
      copy = Ractor.make_shareable(Regexp.new(pattern, timeout: 0.1))
      slow = ("a" * 40 + "\xff").b
      assert_raise(Regexp::TimeoutError) do
        Thread.new { sleep 10; abort "no timeout" }
        copy.match?(slow)
      end
    RUBY
  end

  def test_one_literal_for_many_encodings
    code = <<~'RUBY'
      CHECK = ->do
        STRINGS.cycle(3) do |str|
          m = /(?<head>.+)c(?<tail>.)?/.match(str)
          assert_equal(["ab", str.length == 3 ? nil : str[3]], [m[:head], m[:tail]])
          assert_equal(str.encoding, m[:head].encoding)
        end
      end
    RUBY
    assert_matches(code + "CHECK.call; Ractor.new {}.take; CHECK.call")
  end

  def test_timeout_is_inherited
    assert_matches(<<~'RUBY')
      SLOW = Ractor.make_shareable(Regexp.new('(?=(a+))(a|a\1)*$', timeout: 0.05))
      Ractor.new {}.take
      3.times { assert_raise(Regexp::TimeoutError) { SLOW.match?("a" * 5_000 + "x\u00e9") } }
    RUBY
  end

  def test_copies
    assert_matches(<<~'RUBY')
      Ractor.new {}.take
      re = /b(.)/
      STRINGS.each { |str| re =~ str }
      copies = [re.dup, re.clone, Regexp.new(re)]
      GC.start
      STRINGS.each { |str| assert_equal(["c"] * 3, copies.map { |copy| copy.match(str)[1] }) }
    RUBY
  end

  # A warning may run Ruby code while a pattern is being compiled.
  def test_shared_while_it_is_compiled
    assert_matches(<<~'RUBY')
      warned = 0
      RE = Regexp.new("[[:alpha:][:alpha:]aa]+")
      Warning.singleton_class.define_method(:warn) do |*, **|
        next if (warned += 1) > 1
        Ractor.make_shareable(RE)
        RE.match?("nested \u00e9")
      end
      $VERBOSE = true
      STRINGS.each { |str| assert_equal(0, RE =~ str) }
      $VERBOSE = nil
      assert_equal([0] * STRINGS.size, Ractor.new { STRINGS.map { |str| RE =~ str } }.take)
      assert_operator(warned, :>, 0)
    RUBY
  end

  # The Regexp that a pattern given as a String is compiled to.
  def test_racing_string_pattern_and_string_pattern
    assert_matches(<<~'RUBY')
      ractors = 4.times.map do |i|
        Ractor.new(i) do |i|
          5_000.times.all? do |n|
            str = STRINGS[n % STRINGS.size]
            pattern = i.even? ? "b(c)" : "(b)c"
            m = str.match(pattern)
            m[1] == (i.even? ? "c" : "b") && m.regexp.source == pattern
          end
        end
      end
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end

  def test_racing_grapheme_clusters_and_grapheme_clusters
    assert_matches(<<~'RUBY')
      ractors = 4.times.map { Ractor.new { "e\u0301a\u{1F468 200D 1F469}".grapheme_clusters.size } }
      assert_equal([3] * 4, ractors.map(&:take))
    RUBY
  end
end
