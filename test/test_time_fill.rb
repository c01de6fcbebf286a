# frozen_string_literal: true
# test_time_fill.rb - time_fill.h, ext/date_fill.h: the fields of Times that Ractors share.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeTimeFill < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Stock: FrozenError, each time on one machine, never on another.
  def test_racing_fill_and_fill_a_time
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      ask = "[o.year, o.month, o.day, o.hour, o.min, o.sec, o.wday, o.yday, o.nsec, o.zone]"
      [-> { Time.at(1_700_000_000.5r) }, -> { Time.at(0.5r).utc }, -> { Time.at(2).localtime("+09:00") }].each do |make|
        expected = eval("proc { |o| #{ask} }").call(make.call)
        assert_race(expected, *[ask] * 4, seconds: 1.5) { make.call }
      end
    RUBY
  end

  def test_racing_fill_and_copy_a_time
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      assert_race(2023, "o.year", "o.dup.year", "o.getutc.year") { Time.at(1_700_000_000) }
    RUBY
  end

  # Stock: some in 80,000 have hour 0, or month 0.
  def test_racing_fill_both_halves_of_a_datetime
    assert_ractors(ASSERT_RACE + <<~'RUBY')
      require "date"
      assert_race([2, 18], *["o.hour; [o.mon, o.hour]", "o.mon; [o.mon, o.hour]"] * 2, seconds: 6) { DateTime.jd(2460370.75r) }
    RUBY
  end

  def test_racing_set_zone_and_ask
    assert_ractors(<<~'RUBY')
      others = Array.new(3) { Ractor.new { 20_000.times { Time.at(0).hour } } }
      zones = { "Asia/Tokyo" => 9, "UTC" => 0 }.cycle.first(20_000)
      assert_equal({}, zones.map { |zone, hour| ENV["TZ"] = zone; [hour, Time.at(0).hour] }.reject { |a, b| a == b }.tally)
      others.each(&:take)
    RUBY
  end

  # C code may set TZ without Ruby, and the system's zone may change: Date and DateTime look each time.
  def test_zone_that_ruby_does_not_set
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      require "date"
      begin
        require "fiddle"
      rescue LoadError
        omit "no fiddle here"
      end
      setenv = Fiddle::Function.new(Fiddle.dlopen(nil)["setenv"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT],
                                    Fiddle::TYPE_INT)
      assert_equal([9, 0, 9], %w[Asia/Tokyo UTC Asia/Tokyo].map { |zone| setenv.call("TZ", zone, 1); DateTime.now.offset * 24 })
    RUBY
  end

  def test_racing_today_and_set_a_variable
    assert_ractors(<<~'RUBY')
      require "date"
      asking = Array.new(3) { Ractor.new { Array.new(20_000) { [Date.today.class, DateTime.now.class] }.uniq } }
      20_000.times { |i| ENV["SOAK#{i % 2000}"] = "x" * (i % 50) }
      assert_equal([[[Date, DateTime]]] * 3, asking.map(&:take))
    RUBY
  end

  # What a zone answers is stored after its Ruby code, when the Time may be old.  Stock: "WB miss", each time.
  def test_zone_that_collects
    assert_separately(%w[--disable-gems], <<~'RUBY', timeout: 60)
      Fields = Struct.new(:year, :mon, :mday, :hour, :min, :sec, :isdst, :to_i)
      class Zone
        def local_to_utc(t) = utc_to_local(t)
        def utc_to_local(t)
          6.times { GC.start }
          Fields.new(t.year + 10**25, t.mon, t.mday, t.hour, t.min, t.sec + 1/3r, false, t.to_i)
        end
      end
      zone = Zone.new
      times = Array.new(5) do
        t = Time.at(10**30 + 1/3r, in: zone)
        [t, t.min, t.dup, Time.at(10**30).localtime(zone), Time.at(1/3r).getlocal(zone), Time.new(10**20, 1, 1, 0, 0, 1/3r, zone)]
      end
      GC.verify_internal_consistency
      GC.start(full_mark: false)
      assert_operator(times.dig(0, 0).year, :>, 10**25)
    RUBY
  end

  # The offset of a zone that answers with half a second is a Rational, which only the Time refers to when `dst?` collects.
  def test_zone_whose_dst_collects
    assert_separately(%w[--disable-gems], <<~'RUBY', timeout: 60)
      class Zone
        def utc_to_local(t)
          4.times { GC.start }
          deep(30) { Time.at(t.to_i + 3600 + 1/2r).utc }
        end

        def dst?(t)
          deep(200) { Array.new(3, &:to_s) } # over what the stack holds still
          GC.verify_internal_consistency
          3.times { GC.start(full_mark: false) }
          @others = Array.new(100_000) { |i| Rational(i + 1, 7) }
          false
        end

        def deep(n, &block) = n == 0 ? block.call : deep(n - 1, &block)
      end
      assert_equal(7201/2r, Time.at(0, in: Zone.new).utc_offset)
    RUBY
  end

  # A zone that raises leaves a Time with it.  Stock: "WB miss", each time, and a freed zone.
  def test_zone_that_raises
    assert_separately(%w[--disable-gems], <<~'RUBY', timeout: 60)
      class Zone
        def initialize(name) = @name = name
        attr_reader :name
        def local_to_utc(t) = t
        def utc_to_local(t) = t
        def dst?(t) = raise(IOError)
      end
      class Silent < Zone
        undef dst?
        def utc_to_local(t) = ($times = ObjectSpace.each_object(Time).to_a) && raise(IOError)
      end
      def Time.find_timezone(name) = 4.times { GC.start } && Silent.new(name)

      def ask(time) # in a frame of its own: nothing else refers to the zone
        assert_raise(IOError) { time.localtime(Zone.new("of localtime")) }
      end
      time = Time.at(0)
      4.times { GC.start }
      ask(time)
      GC.verify_internal_consistency
      3.times { GC.start(full_mark: false) }
      100_000.times { Object.new }
      assert_equal("of localtime", time.zone.name)

      dumped = Marshal.dump(Time.new(2000, 1, 1, in: Silent.new("of load")))
      assert_raise(IOError) { Marshal.load(dumped) }
      GC.verify_internal_consistency
    RUBY
  end
end
