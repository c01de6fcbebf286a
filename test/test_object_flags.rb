# frozen_string_literal: true
# test_object_flags.rb - object_flags.h: bits in the header of an object that Ractors share.

require "test/unit"

class TestLockfreeObjectFlags < Test::Unit::TestCase
  # Of two Ractors that each set a bit, one took the other's away: the object got a second object_id.
  def test_racing_object_id_and_code_range
    assert_ractor(<<~'RUBY', timeout: 60)
      looking = Array.new(4) do |k|
        Ractor.new(k) do |k|
          loop do
            ids = Ractor.receive.each_with_index.map do |text, i|
              case (k + i) % 4
              when 0 then text
              when 1 then text.valid_encoding?
              when 2 then text[3..]
              when 3 then text.dup << "a"
              end
              text.object_id
            end
            Ractor.yield(ids.freeze)
          end
        end
      end
      150.times do
        texts = Ractor.make_shareable(Array.new(3000) { |i| "\u00e9#{i}" * (i.even? ? 1 : 40) })
        looking.each { |ractor| ractor.send(texts) }
        ids = looking.map(&:take)
        assert_equal(ids.map { texts.map(&:object_id) }, ids)
        assert_equal([true, false], [texts[0].valid_encoding?, texts[1].ascii_only?])
      end
    RUBY
  end
end
