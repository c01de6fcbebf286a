# frozen_string_literal: true
# gc/test_object_id.rb - gc/object_id.h: ids of objects beside their pages, taken, moved, freed and looked up without a table.

require "test/unit"
require_relative "../assert_ractors"
require_relative "../minirubies"

class TestLockfreeGCObjectId < Test::Unit::TestCase
  include LockfreeAssertRactors
  include LockfreeMinirubies

  PREAMBLE = STATUS + <<~'RUBY'
    def error_of
      yield && nil
    rescue RangeError => e
      e.message[/is .*/]
    end
  RUBY

  def assert_ids(code)
    YJIT.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, PREAMBLE + code, timeout: 120)
    end
  end

  # ---- one Ractor ---------------------------------------------------

  # What a program with one Ractor sees, number by number.
  SEEN = <<~'RUBY'
    def error_of(id)
      ObjectSpace._id2ref(id) && nil
    rescue RangeError => e
      e.message[/is .*/]
    end
    first = Object.new.object_id
    kept = Array.new(3000) { |i| [Object.new, "s#{i}", [i] * (i % 40), { i => i }, i * 1e300, 2**70 + i, Class.new][i % 7] }
    kept.each_slice(2) { |a, _| a.object_id }
    p kept.map { |o| o.object_id - first }.hash == kept.map { |o| o.__id__ - first }.hash, kept.last.object_id - first
    p kept.first(20).map { |o| o.object_id - first }
    p [nil, true, false, 1, -5, 2**62 - 1, 1.5, :a].map(&:object_id) - [:a.object_id]
    copy = kept[0].dup, kept[0].clone, kept[2].dup
    p copy.map { |o| o.object_id - first }
    p kept.all? { |o| ObjectSpace._id2ref(o.object_id).equal?(o) }
    p Object.new.hash == Object.new.hash, kept[0].hash == kept[0].hash
    last = Object.new.object_id
    p [last - first, last + 8, last + 16, -8, -(2**70), 2**62 * 8, 2**70, last - 4].map { |id| error_of(id) }
    p [nil, "1", 1.5].map { |o| ObjectSpace._id2ref(o) rescue $!.class }
    p ObjectSpace._id2ref(8.object_id), ObjectSpace._id2ref(nil.object_id), ObjectSpace._id2ref(:a.object_id)
    FINALIZED, UNSEEN = [], []
    def on_end(list) = proc { |id| list << id }
    def make(seen) = Object.new.tap { |o| ObjectSpace.define_finalizer(o, on_end(seen ? FINALIZED : UNSEEN)) }.then { |o| o.object_id if seen }
    ids = Array.new(40) { |i| make(i.even?) }.compact
    10.times { Array.new(20) { Object.new } }
    GC.start
    p ids.last - first, FINALIZED - ids, FINALIZED.size > 15, UNSEEN.size > 15, UNSEEN.uniq.size == UNSEEN.size
    p Object.new.object_id > UNSEEN.max, UNSEEN.min > ids.max
    p kept.map { |o| o.object_id - first }.sum
  RUBY

  def test_ids_of_one_ractor_are_stocks
    assert_stocks(21, SEEN)
  end

  def test_memory_of_ids_comes_back
    assert_no_memory_leak(%w[--disable-gems], <<~'PREPARE', <<~'RUBY', limit: 1.2, rss: true)
      2.times { Array.new(100_000) { Object.new }.each(&:object_id); GC.start }
    PREPARE
      30.times { Array.new(100_000) { Object.new }.each(&:object_id); GC.start }
    RUBY
  end

  # Every object has one; the tables took more.
  def test_memory_of_living_ids
    program = 'a = Array.new(300_000) { Object.new }; GC.start; b = Integer(File.read("/proc/self/statm").split[1]);' \
              'a.each(&:object_id); puts Integer(File.read("/proc/self/statm").split[1]) - b'
    omit "no /proc" unless File.exist?("/proc/self/statm")
    stocks, ours = [stock, our_miniruby].map { |miniruby| Integer(IO.popen([miniruby, "--disable-all", "-e", program], &:read)) }
    assert_operator(ours, :<, stocks / 2)
  end

  def test_ids_stay_over_stress_and_compaction
    assert_ids(<<~'RUBY')
      kept = Array.new(400) { |i| [Object.new, +"s#{i}", [i], "long" * 60, { i => i }][i % 5] }
      ids = kept.map(&:object_id)
      GC.stress = true
      50.times { |i| kept << Object.new; ids << kept.last.object_id }
      GC.stress = false
      if GC.respond_to?(:compact)
        3.times do
          kept.delete_at(7)
          ids.delete_at(7)
          GC.compact
          assert_equal(ids, kept.map(&:object_id))
          GC.verify_internal_consistency
        end
        GC.auto_compact = true
      end
      assert_equal(kept, ids.map { |id| ObjectSpace._id2ref(id) }) # the table is made here
      5.times { |i| Array.new(3000) { "x" * 50 }; GC.start; GC.compact if i == 2 && GC.respond_to?(:compact) }
      assert_equal(ids, kept.map(&:object_id))
      assert_equal([true], ids.zip(kept).map { |id, o| ObjectSpace._id2ref(id).equal?(o) }.uniq)
      GC.verify_internal_consistency
    RUBY
  end

  # Pages that are emptied, and filled by another size.
  def test_pages_that_change_hands
    assert_ids(<<~'RUBY')
      [0, 50, 300, 600, 100, 0, 500].each do |size|
        kept = Array.new(30_000) { "x" * size }
        assert_equal(30_000, kept.map(&:object_id).uniq.size)
        kept = nil
        2.times { GC.start }
        GC.verify_internal_consistency
      end
    RUBY
  end

  # ---- several ------------------------------------------------------

  # The page's words and the object's number are made by whoever comes first.
  def test_racing_first_id_and_first_id
    assert_ids(<<~'RUBY')
      looking = Array.new(8) do
        Ractor.new do
          while (objects, start = Ractor.receive)
            nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > start
            Ractor.yield(objects.map(&:object_id).freeze)
          end
        end
      end
      60.times do |i|
        objects = Ractor.make_shareable(Array.new(2000) { |k| i.even? ? Object.new : "s#{k}" * (k % 30) })
        looking.each { |ractor| ractor.send([objects, Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.002].freeze) }
        ids = looking.map(&:take)
        assert_equal([objects.map(&:object_id)], ids.uniq)
        assert_equal(2000, ids[0].uniq.size)
      end
      GC.verify_internal_consistency
    RUBY
  end

  # 1,600,000 of objects that are dropped, and their slots used again, by claimed sweeps and steps.
  def test_ids_are_unique
    assert_ids(<<~'RUBY')
      ids = Array.new(8) do
        Ractor.new do
          last = 0
          all = Array.new(200_000) do |i|
            "x" * 200 if i % 7 == 0
            Object.new.object_id.tap { |id| raise "#{id} after #{last}" unless id > last && (last = id) }
          end
          all.pack("Q*").freeze
        end
      end
      Array.new(100_000) { Object.new.object_id }
      ids = ids.flat_map { |ractor| ractor.take.unpack("Q*") }
      assert_equal(1_600_000, ids.size)
      assert_nil(ids.uniq!)
      GC.verify_internal_consistency
    RUBY
  end

  # What lives keeps its id while others sweep and compact beside it.
  def test_racing_ids_and_collections
    assert_ids(<<~'RUBY')
      working = Array.new(6) do
        Ractor.new do
          kept = Array.new(500) { Object.new }
          ids = kept.map(&:object_id)
          40_000.times do |i|
            k = i * 7919 % 500
            raise "#{i}: #{kept[k].object_id}, not #{ids[k]}" unless kept[k].object_id == ids[k]
            raise "#{i}: hash" unless kept[k].hash == kept[k].hash
            if i % 3 == 0
              kept[k] = [Object.new, "s#{i}", [i] * 20][i % 9 / 3]
              ids[k] = kept[k].object_id
            end
          end
          :ok
        end
      end
      30.times do |i|
        [-> { GC.start }, -> { GC.start(full_mark: false) }, -> { GC.verify_internal_consistency },
         -> { GC.compact if GC.respond_to?(:compact) }, -> { ObjectSpace.each_object(Class) { |c| c.object_id } },
         -> { GC.stress = true; 5.times { Object.new.object_id }; GC.stress = false }][i % 6].call
      end
      assert_equal([:ok] * 6, working.map(&:take))
      GC.verify_internal_consistency
    RUBY
  end

  # The table is made while others take ids, in the middle of the run.
  def test_racing_id2ref_and_ids
    assert_ids(<<~'RUBY')
      working = Array.new(6) do |k|
        Ractor.new(k) do |k|
          looks = false
          20_000.times do |i|
            looks ||= k == 0 && i == 5000 || i == 12_000
            object = Object.new
            object.freeze if i.even?
            id = object.object_id
            next unless looks
            found = begin
              ObjectSpace._id2ref(id)
            rescue RangeError => e
              e.message[/is .*/]
            end
            right = i.even? ? found.equal?(object) : found == "is id of the unshareable object on multi-ractor"
            raise "#{k}: #{i}: #{found}" unless right
          end
          :ok
        end
      end
      10.times { GC.start; GC.verify_internal_consistency }
      assert_equal([:ok] * 6, working.map(&:take))
      GC.verify_internal_consistency
      ids = Array.new(1000) { Object.new.object_id }
      GC.start
      found = ids.map { |id| error_of { ObjectSpace._id2ref(id) } }.tally
      assert_operator(found.fetch("is recycled object"), :>, 900)
    RUBY
  end

  # A number that is in a Ractor's range, but nobody's yet.
  def test_id2ref_of_numbers_to_come
    assert_ids(<<~'RUBY')
      Ractor.new { Object.new.object_id }.take
      id = Object.new.object_id
      assert_equal(["is not id value"] * 2, [8, 8 * 300_000].map { |more| error_of { ObjectSpace._id2ref(id + more) } })
      assert_equal(8, Object.new.object_id - id)
    RUBY
  end

  def test_racing_finalizers_and_sweep
    assert_ids(<<~'RUBY')
      read, write = IO.pipe
      FD = write.fileno
      FINALIZER = ->(id) { IO.for_fd(FD, autoclose: false).syswrite([id].pack("Q")) } # in whichever Ractor
      working = Array.new(4) { Ractor.new { 100_000.times { Object.new.object_id }; :ok } }
      ids = Array.new(3000) { Object.new.tap { |object| ObjectSpace.define_finalizer(object, FINALIZER) }.object_id }
      1000.times { ObjectSpace.define_finalizer(Object.new, FINALIZER) }
      assert_equal([:ok] * 4, working.map(&:take))
      4.times { GC.start }
      GC.verify_internal_consistency
      write.close # a thread that reads meanwhile may be in a finalizer, and is told that its stream is closed
      given = read.read.unpack("Q*") # 32 kB: a pipe holds them
      assert_nil(given.uniq!)
      assert_include(2900..3000, (ids & given).size)
      assert_include(900..1000, (given - ids).size)
    RUBY
  end

  def test_moved_objects
    assert_ids(<<~'RUBY')
      moved = Array.new(500) { |i| [+"s#{i}", Object.new, [i]][i % 3] }
      ids = moved.map(&:object_id)
      ractor = Ractor.new { Array.new(500) { Ractor.receive }.map(&:object_id) }
      moved.each { |object| ractor.send(object, move: true) }
      assert_equal([], ids & ractor.take)
      GC.start
      assert_equal([], ids & Array.new(500) { Object.new.object_id })
      GC.verify_internal_consistency
    RUBY
  end

  # The child's objects have the ids that they had, and new ones are new.
  def test_racing_ids_and_fork
    omit "no fork" unless Process.respond_to?(:fork)
    assert_ids(<<~'RUBY')
      kept = Array.new(300) { Object.new }
      working = Array.new(4) { Ractor.new { 150_000.times { Object.new.object_id }; :ok } }
      ids = kept.first(200).map(&:object_id)
      codes = Array.new(10) do
        status(fork do
          same = kept.first(200).map(&:object_id) == ids
          more = kept.map(&:object_id)
          more.concat(Ractor.new { Array.new(300) { Object.new.object_id } }.take, Array.new(300) { Object.new.object_id })
          found = ObjectSpace._id2ref(Object.object_id) == Object
          GC.start
          GC.verify_internal_consistency
          exit!(same && found && more.uniq.size == 900 && kept.first(200).map(&:object_id) == ids ? 7 : 8)
        end)
      end
      assert_equal({ 7 => 10 }, codes.tally)
      assert_equal([:ok] * 4, working.map(&:take))
    RUBY
  end
end
