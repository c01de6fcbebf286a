# frozen_string_literal: true
# string/test_share.rb - string/share.h: frozen Strings whose content another one takes over.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeStringShare < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_dedup_and_read_of_a_subclass
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      class Sub < String; end
      assert_race(true, "(-o).frozen?", "20.times.all? { o.count('c') == 300 }") { Sub.new << "abcdefgh" * 300 }
    RUBY
  end

  def test_racing_dedup_and_dup_of_a_shared_one
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      assert_race(true, "(-o).frozen?", "8.times { o.dup }; true") { ("abc" * 400 + rand.to_s)[3..].freeze }
    RUBY
  end

  def test_racing_gsub_and_gsub_of_a_subclass
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      class Sub < String; end
      assert_race(true, *["o.gsub('cab', '').size == o.size - 3 * 399"] * 2) { Sub.new << "abc" * 400 << rand.to_s }
    RUBY
  end

  def test_racing_append_and_object_id
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      assert_race(true, "30.times { ''.b << o }; true", "id = o.object_id; 30.times.all? { o.object_id == id }") do
        ("\u00e9" * 40).force_encoding("EUC-JP")
      end
    RUBY
  end

  def test_racing_io_buffer_for_and_io_buffer_for
    assert_ractors(<<~'RUBY')
      S = ("abc" * 1000).freeze
      ractors = Array.new(4) do
        Ractor.new { 5_000.times.map { IO::Buffer.for(S) { |b| b.get_value(:U8, 0) } rescue $!.message }.uniq }
      end
      assert_equal([["a".ord]] * 4, ractors.map(&:take))
      s = +"abc" * 10
      IO::Buffer.for(s) { |b| assert_raise(RuntimeError) { s << "d" } }
      s << "d"
    RUBY
  end

  # A frozen String becomes the root of others as it stands.
  def test_frozen_root
    assert_ractors(<<~'RUBY')
      class Sub < String; end
      Ractor.new { }.take
      s = (Sub.new << "abc" * 400).freeze
      plain = s.gsub("x", "")
      parts = Array.new(20) { |i| s.gsub("cab", "-")[i..] }
      deduped = -s
      assert_same(s, deduped)
      assert_equal("abc" * 400, plain)
      assert_equal(String, plain.class)
      assert_equal(-("abc" * 400), -plain)
      key = { plain => 1 }.keys[0]
      symbol = s.to_sym
      GC.verify_compaction_references(expand_heap: true, toward: :empty) if GC.respond_to?(:verify_compaction_references)
      s = deduped = nil
      GC.start
      assert_equal("abc" * 400, plain)
      assert_equal("abc" * 400, key)
      assert_equal("abc" * 400, symbol.name)
      assert_equal("ab" + "-" * 399 + "c", parts[0])
      plain << "d"
      assert_equal("abc" * 400 + "d", plain)
    RUBY
  end
end
