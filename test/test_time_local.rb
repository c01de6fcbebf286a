# frozen_string_literal: true
# test_time_local.rb - time_local.h: local time, asked of the C library once for a second.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeTimeLocal < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Of seconds around changes of the offset, at the hour, in the middle of a quarter and of a minute; before 1970 as well.
  # And of a zone like right/Asia/Kolkata, with one leap second, in the middle of an hour: 05:29:60.
  FIELDS = <<~'RUBY'
    require "tempfile"
    file = Tempfile.new("zone")
    at_exit { file.close! }
    counts = [0, 0, 1, 0, 1, 4] # of leap seconds, types and characters
    file.write(["TZif", "", *counts, 19_800, 0, 0, "IST", 1_483_228_800, 1].pack("a4a16N6NCCa4NN"))
    file.flush
    LEAP = ":#{file.path}".freeze
    ZONES = ["EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3", "LHST-10:30LHDT-11,M10.1.0,M4.1.0", "UTC",
             "LMT0:19:32", "AAA0BBB-0:07,J1/0:05:30,J100/1:02:03", "AAA0BBB0,J1/0:05:30,J100/1:02:03", LEAP].freeze
    changes = [1710054000, 1730613600, 1711846800, 1729990800, 1728142200, 0, -1, 1704067530, 1712707323, 1712710923,
               1483228800]
    SECONDS = Ractor.make_shareable(changes.flat_map { |t| [*t - 20..t + 20, *(t - 4000..t + 4000).step(97)] })
    def fields(t) = Time.at(t).then { |time| [time.to_a, time.utc_offset, time.strftime("%F %T %Z")] }
    def forget(zone) = ENV["TZ"] = zone
  RUBY

  def test_fields_seen_before_are_those_asked_for
    assert_ractors(FIELDS + <<~'RUBY')
      ZONES.each do |zone|
        asked = SECONDS.to_h { |t| forget(zone); [t, fields(t)] }
        assert_equal("05:29:60", Time.at(1_483_228_800).strftime("%T")) if zone == LEAP
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

  def test_zone_that_c_code_sets_for_a_while
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      begin
        require "fiddle"
      rescue LoadError
        omit "no fiddle here"
      end
      c = ->(name, *types) { Fiddle::Function.new(Fiddle.dlopen(nil)[name], types, Fiddle::TYPE_INT) }
      setenv = c["setenv", Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT]
      tzset = c["tzset"]
      ENV["TZ"] = "UTC0"
      Time.at(0).hour
      hours = %w[JST-9 UTC0 JST-9].map { |zone| setenv.call("TZ", zone, 1); tzset.call; Time.at(1_700_000_000).hour }
      assert_equal([7, 22, 7], hours)
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
