# frozen_string_literal: true
# gc/test_wb_unprotected.rb - gc/wb_unprotected.h: objects without write barriers are made by many Ractors at once.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCWbUnprotected < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Pages have living objects of others, and those that die between them.
  PREAMBLE = <<~'RUBY'
    KEPT = Ractor.make_shareable(Array.new(200_000) { |i| i % 3 == 0 ? [i] : nil })
    GC.start
    WITHOUT = ->(object) { [Random, Fiber].include?(object.class) }
    module Work
      def self.make(i) = [Random.new(i), [i, "a#{i}"].each, Fiber.new { "f#{i}" }, "ab#{i}".match(/b(.*)/)]

      # What a Fiber refers to is younger than it: only its bit keeps that alive.
      def self.run(times)
        kept = Array.new(100)
        times.times do |i|
          kept[i % 100] = [i, *make(i)]
          [i, 2].product([3, i])
          k, _, list, fiber, = kept[i * 7 % 100]
          next unless k && fiber
          return "#{k}: #{list.next.inspect}" if list.size.nil? && list.next != k
          return "#{k}: fiber" if fiber.alive? && fiber.resume != "f#{k}"
          GC.start(full_mark: i % 1000 == 0) if i % 500 == 0
        end
        kept
      end
    end
  RUBY

  def test_racing_objects_without_write_barriers
    assert_separately(%w[-W:no-experimental -robjspace], PREAMBLE + <<~'RUBY', timeout: 120)
      ractors = 7.times.map { Ractor.new { Work.run(3_000).size } }
      kept = Work.run(3_000)
      assert_equal([100] * 7, ractors.map(&:take))
      protected = kept.flat_map { |made| made.grep(WITHOUT).select { |object| ObjectSpace.dump(object).include?('"wb_protected":true') } }
      assert_equal({}, protected.map(&:class).tally)
      assert_include(ObjectSpace.dump([1]), '"wb_protected":true')
    RUBY
  end

  # The bit of a Fiber is not that of the object which comes into its slot.
  def test_racing_sweep_of_objects_without_write_barriers
    assert_separately(%w[-W:no-experimental -robjspace], PREAMBLE + <<~'RUBY', timeout: 120)
      kept = Array.new(6) {
        Ractor.new do
          Array.new(40) do
            2_000.times { |i| i % 5 == 0 ? Fiber.new { 1 }.resume : Fiber.new { 2 } }
            Array.new(2_000) { Object.new }.each_slice(20).map(&:first)
          end
        end
      }.flat_map(&:take).flatten
      assert_equal(24_000, kept.count { |object| ObjectSpace.dump(object).include?('"wb_protected":true') })
    RUBY
  end

  def test_racing_objects_without_write_barriers_under_stress
    assert_separately(%w[-W:no-experimental], PREAMBLE + <<~'RUBY', timeout: 120)
      ractors = 4.times.map { Ractor.new { Work.run(300).size } }
      10.times { GC.stress = true; Work.make(1); GC.stress = false; GC.compact }
      assert_equal([100] * 4, ractors.map(&:take))
    RUBY
  end
end
