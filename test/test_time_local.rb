# frozen_string_literal: true
# test_time_local.rb - time_local.h: local time, asked of the C library once for a second.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeTimeLocal < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Of seconds around changes of the offset, at the hour, in the middle of a quarter and of a minute; before 1970 as well.
  FIELDS = <<~'RUBY'
    ZONES = ["EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3", "LHST-10:30LHDT-11,M10.1.0,M4.1.0", "UTC",
             "LMT0:19:32", "AAA0BBB-0:07,J1/0:05:30,J100/1:02:03"].freeze
    changes = [1710054000, 1730613600, 1711846800, 1729990800, 1728142200, 0, -1, 1704067530, 1712707323]
    SECONDS = Ractor.make_shareable(changes.flat_map { |t| [*t - 20..t + 20, *(t - 4000..t + 4000).step(97)] })
    def fields(t) = Time.at(t).then { |time| [time.to_a, time.utc_offset, time.strftime("%F %T %Z")] }
    def forget(zone) = ENV["TZ"] = zone
  RUBY

  def test_fields_seen_before_are_those_asked_for
    assert_ractors(FIELDS + <<~'RUBY')
      ZONES.each do |zone|
        asked = SECONDS.to_h { |t| forget(zone); [t, fields(t)] }
        3.times do |i|
          SECONDS.shuffle(random: Random.new(i)).each { |t| assert_equal(asked[t], fields(t), "#{zone} #{t}") }
        end
      end
    RUBY
  end

  def test_racing_ask_and_set_zone
    assert_ractors(FIELDS + <<~'RUBY')
      zones = ZONES.first(2)
      possible = Ractor.make_shareable(SECONDS.uniq.to_h { |t| [t, zones.map { |zone| forget(zone); fields(t) }] })
      asking = Array.new(3) do
        Ractor.new(possible) do |possible|
          wrong = []
          10.times { possible.each { |t, fields| (now = fields(t)) && fields.include?(now) or wrong << [t, now] } }
          wrong.first(3)
        end
      end
      last = zones.cycle.first(2_001).each { |zone| forget(zone); Thread.pass }.last
      assert_equal([[]] * 3, asking.map(&:take))
      after = Ractor.new(possible) { |possible| possible.keys.to_h { |t| [t, fields(t)] } }.take
      assert_equal(possible.transform_values { |of_zones| of_zones[zones.index(last)] }, after)
    RUBY
  end

  def test_zone_set_by_another_ractor_is_heard_of
    assert_ractors(<<~'RUBY')
      asks = Ractor.new { loop { Ractor.receive; Ractor.yield(Time.at(0).hour) } }
      hours = ["JST-9", "UTC0"].cycle.first(200).map { |zone| ENV["TZ"] = zone; asks.send(nil); asks.take }
      assert_equal([9, 0] * 100, hours)
    RUBY
  end
end
