# frozen_string_literal: true
# test_time_fill.rb - time_fill.h, date_fill.h: the fields of Times that Ractors share.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeTimeFill < Test::Unit::TestCase
  include LockfreeAssertRactors

  # All Ractors ask each object that main makes for its fields, at about the same time: a few in 80,000 were wrong.
  ASK = <<~'RUBY'
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # What Ractors got that was not +expected+ from +questions+, a shareable Proc each, about what the block makes.
    def wrong(questions, expected, rounds: 15)
      ractors = questions.map do |question|
        Ractor.new(question, expected) do |ask, expected|
          wrong = []
          while (list, start = Ractor.receive)
            list.each_slice(20).with_index do |some, i|
              nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > start + i * 0.001
              some.each do |object|
                got = ask.call(object) rescue $!
                wrong << got.inspect unless got == expected
              end
            end
            Ractor.yield(:done)
          end
          wrong
        end
      end
      rounds.times do
        list = Ractor.make_shareable(Array.new(2000) { yield })
        start = now + 0.002
        ractors.each { |ractor| ractor.send([list, start]) }
        ractors.each(&:take)
      end
      ractors.each { |ractor| ractor.send(nil) }
      ractors.flat_map(&:take).tally
    end
  RUBY

  # Stock: FrozenError, each time.
  def test_racing_fill_and_fill_a_time
    assert_ractors(ASK + <<~'RUBY')
      at = -> { Time.at(1_700_000_000.5r) }
      ask = nil.instance_eval do
        Ractor.make_shareable(proc { |t| [t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, t.nsec, t.zone] })
      end
      assert_equal({}, wrong([ask] * 4, ask.call(at.call)) { at.call })
      assert_equal({}, wrong([ask] * 4, ask.call(at.call.utc)) { at.call.utc })
      assert_equal({}, wrong([ask] * 4, ask.call(at.call.localtime("+09:00"))) { at.call.localtime("+09:00") })
    RUBY
  end

  def test_racing_fill_and_copy_a_time
    assert_ractors(ASK + <<~'RUBY')
      asks = nil.instance_eval do
        [proc { |t| t.year }, proc { |t| t.dup.year }, proc { |t| t.getutc.year }].map { |ask| Ractor.make_shareable(ask) }
      end
      assert_equal({}, wrong(asks, 2023) { Time.at(1_700_000_000) })
    RUBY
  end

  # Stock: some in 80,000 have hour 0, or month 0.
  def test_racing_fill_both_halves_of_a_datetime
    assert_ractors(ASK + <<~'RUBY')
      require "date"
      halves = nil.instance_eval do
        [proc { |d| d.hour; [d.mon, d.hour] }, proc { |d| d.mon; [d.mon, d.hour] }].map { |ask| Ractor.make_shareable(ask) }
      end
      assert_equal({}, wrong(halves * 2, [2, 18]) { DateTime.jd(2460370.75r) })
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
end
