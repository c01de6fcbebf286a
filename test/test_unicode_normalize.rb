# frozen_string_literal: true
# test_unicode_normalize.rb - unicode_normalize_any_ractor.patch: String#unicode_normalize in Ractors.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeUnicodeNormalize < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_normalize_and_normalized
    assert_ractors(<<~'RUBY')
      module Forms
        TEXT = "e\u0301 \u1100\u1161 \uFB01 \uAC01 a\u0328\u0301".freeze
        def self.of(text)
          %i[nfc nfd nfkc nfkd].map do |form|
            [text.unicode_normalize(form), text.unicode_normalized?(form), text.encode("UTF-16LE").unicode_normalize(form).bytes]
          end
        end
      end
      ractors = Array.new(4) { Ractor.new { Array.new(500) { |i| Forms.of("#{Forms::TEXT}#{i}") } } }
      expected = Array.new(500) { |i| Forms.of("#{Forms::TEXT}#{i}") }
      ractors.each { |ractor| assert_equal(expected, ractor.take) }
      assert_raise(ArgumentError) { "\u00e9".unicode_normalize(:nfx) }
    RUBY
  end

  # The library is loaded at the first call, here by a Ractor.
  def test_first_call
    assert_ractors('assert_equal("\u00e9", Ractor.new { "e\u0301".unicode_normalize }.take)')
  end
end
