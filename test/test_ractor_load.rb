# frozen_string_literal: true
# test_ractor_load.rb - ractor_load.c: encodings that several Ractors are the first to use.

require "test/unit"

class TestLockfreeRactorLoad < Test::Unit::TestCase
  PAIRS = [%w[EUC-JP CP51932], %w[Windows-31J SJIS-DoCoMo], %w[Shift_JIS MacJapanese], %w[Big5 CP950]].freeze

  # Bug #19562
  def test_racing_load_and_load_of_what_it_is_based_on
    (PAIRS * 10).each do |names|
      assert_ractor(<<~RUBY, timeout: 20)
        ractors = #{names}.cycle.first(4).map do |name|
          Ractor.new(name) { |e| Ractor.receive; ("a".dup.force_encoding(e) + "b".encode(e)).valid_encoding? }
        end
        ractors.each { |r| r.send(:go) }
        assert_equal([true] * 4, ractors.map(&:take))
      RUBY
    end
  end

  # With one thread, a crash of upstream's.
  def test_converters_of_which_one_has_a_replacement
    converters = Array.new(2) { Encoding::Converter.new("UTF-8", "EUC-JP") }
    assert_equal(*converters)
    converters[0].replacement = "x"
    assert_not_equal(*converters)
    assert_not_equal(*converters.reverse)
    converters[1].replacement = "x"
    assert_equal(*converters)
  end
end
