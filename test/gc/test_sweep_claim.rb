# frozen_string_literal: true
# gc/test_sweep_claim.rb - gc/sweep_claim.h: Ractors sweep pages without the VM lock, beside all that wants the heap swept.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCSweepClaim < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Objects of each kind that is freed without the lock, and of some that are not. What is kept is looked at again.
  # A heap that has few pages is swept in one step.
  PREAMBLE = STATUS + <<~'RUBY'
    KEPT = Ractor.make_shareable(Array.new(300_000) { |i| [i] })
    Point = Struct.new(:x, :y)
    Ten = Struct.new(*(:a..:j))
    class Many; def initialize(i) = 12.times { |k| instance_variable_set("@v#{k}", i) }; end
    module Work
      def self.simple(i)
        [[i, i], "a#{i}b", "long" * 40, { i => 1 }, Array.new(20, i), Point.new(i, i), Ten.new(*(0..9)), Many.new(i), -> { i },
         2**70 + i, i * 1e300, Rational(i + 1, 3), Complex(i, 1), /\d/.match("a1"), [1, 2].each, i..(i + 1), Object.new,
         (0..20).to_h { |k| [k, i] }, /#{i}y/, "\u00e9#{i}".upcase, [i, 1].each.tap { |list| i % 3 == 0 && list.next }]
      end

      def self.mixed(i)
        (object = Object.new).object_id if i % 7 == 0
        "s#{i}".instance_variable_set(:@a, i) if i % 5 == 0
        i % 3 == 0 ? -"f#{i % 1000}" : "y#{i % 1000}".to_sym
        Fiber.new { i }.resume if i % 50 == 0
        Object.new.instance_exec { i }
        Class.new if i % 100 == 0
        if i % 7 == 0
          weak = ObjectSpace::WeakMap.new
          weak[object] = (local = "w#{i}")
          keys = ObjectSpace::WeakKeyMap.new
          keys[local] = object
          raise "weak: #{i}" unless weak[object] == local && keys["w#{i}"] == object && binding.local_variable_get(:i) == i
          raise "copied: #{i}" unless Marshal.load(Marshal.dump([i, local])) == [i, "w#{i}"]
          raise "encoded: #{i}" unless Encoding::Converter.new("UTF-8", "UTF-16LE").convert(local).bytesize == 2 * local.size
        end
        if i % 9 == 0
          right = eval("x = i; [KEPT.size, Work.name, -> { x + 1 }.call, binding.local_variable_get(:x)]") == [300_000, "Work", i + 1, i]
          right &&= Class.new { class_eval("def size(a:) = KEPT.size + a") }.new.size(a: 1) == 300_001
          File.open(File::NULL, "w") { |file| file.print(i); right &&= !file.closed? }
          raise "evaluated: #{i}" unless right
        end
        if i % 4 == 0
          def (one = Object.new).one = 1 # a method that dies with its class, or is taken from it, and what calls have filed
          3.times { one.one }
          one.singleton_class.class_eval { remove_method(:one); def one = 2; def two = 3 } if i % 12 == 0
        end
        simple(i) << object << one
      end

      def self.run(kind, times)
        kept = Array.new(50)
        times.times do |i|
          kept[i % 50] = [i, send(kind, i)]
          k, made = kept[i * 7 % 50]
          next unless k
          right = made[0] == [k, k] && made[1] == "a#{k}b" && made[2] == "long" * 40 && made[3] == { k => 1 } &&
                  made[4] == Array.new(20, k) && made[5] == Point.new(k, k) && made[8].call == k && made[9] == 2**70 + k &&
                  made[13][0] == "1" && made[15] == (k..k + 1) && made[17][20] == k && made[18].match?("#{k}y") && made[19] == "\u00c9#{k}" &&
                  (k % 3 != 0 || made[20].peek == 1) && (!made[22] || made[22].one == (k % 12 == 0 ? 2 : 1))
          raise "wrong: #{k}" unless right
        end
        :ok
      end

      def self.start(kind, times, count = 6)
        Array.new(count) { Ractor.new(kind, times) { |k, t| Work.run(k, t) } }
      end
    end
  RUBY

  def assert_swept(code)
    YJIT.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, PREAMBLE + code, timeout: 120)
    end
  end

  def test_racing_sweep_and_sweep
    assert_swept(<<~'RUBY')
      assert_equal([:ok] * 6, Work.start(:simple, 10_000).map(&:take))
      assert_equal([:ok] * 6, Work.start(:mixed, 10_000).map(&:take))
      GC.verify_internal_consistency
    RUBY
  end

  # gc/sweep_first.h. It swept all of a small heap, while all stood.
  def test_a_collection_leaves_the_sweep_to_who_makes_objects
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      ractor = Ractor.new { Ractor.receive }
      states = Array.new(8) do
        3_000.times { |i| [i, { a: i }] }
        GC.start(full_mark: false, immediate_sweep: false)
        GC.latest_gc_info(:state)
      end
      assert_include(states, :sweeping)
      ractor << :end
    RUBY
  end

  # Four Ractors that run +code+ stop all less than +most+ times for each collection.
  def assert_stops_less(most, code)
    assert_separately(%w[-W:no-experimental --disable-gems], <<~RUBY, timeout: 60)
      KEPT = Ractor.make_shareable(Array.new(20_000) { Class.new })
      GC.start
      RubyVM::Lockfree.waits_enable
      collections = GC.count
      Array.new(4) { Ractor.new { #{code} } }.each(&:take)
      stops = RubyVM::Lockfree.waits[:ractors].sum { |ractor| ractor[:states][:stopping][:count] }
      assert_operator(stops, :<, (GC.count - collections) * #{most})
    RUBY
  end

  # All stood for each page with a dead class: 2.5 to 3.5 times for each collection; 2.8 to 3.1 with one that has two methods.
  def test_pages_with_dead_classes_are_swept_without_a_stop
    assert_stops_less(2.5, <<~'RUBY')
      30_000.times { Class.new { include Comparable; def a = 1; def b = 2; def self.c = 3; def self.d = 4 } }
    RUBY
  end

  # The same for one with a dead iseq, or with a File that is closed: 4.5 to 5.3 times, now twice.
  def test_pages_with_dead_iseqs_and_files_are_swept_without_a_stop
    assert_stops_less(3, <<~'RUBY')
      3_000.times do |i|
        eval("KEPT.size")
        File.open(File::NULL) { } if i % 3 == 0
        400.times { [i] }
      end
    RUBY
  end

  # The list of the inline caches of a name, which are emptied when it is set.
  def test_racing_constants_and_iseqs_that_die
    assert_swept(<<~'RUBY')
      $VERBOSE = nil
      module Box; NUMBER = 0; end
      ractors = Array.new(4) do
        Ractor.new do
          6_000.times.all? do |i|
            some = Array.new(3) { |k| eval("[Box::NUMBER, Work, i + #{k}]") }
            method = Class.new { class_eval("def number = Box::NUMBER") }.new
            some.all? { |number, work, _| number.is_a?(Integer) && work == Work } && some.last.last == i + 2 &&
              method.number <= method.number && 30.times { [i] }
          end
        end
      end
      set = (1..400).each { |i| Box.const_set(:NUMBER, i); sleep 0.001 }.last
      assert_equal([true] * 4, ractors.map(&:take))
      assert_equal(set, eval("Box::NUMBER"))
    RUBY
  end

  # What it has is freed at once; it is finalized like any other.
  def test_files_that_are_closed
    assert_swept(<<~'RUBY')
      def open_files = Dir.children("/proc/self/fd").size
      finalized = Queue.new
      4.times do |i|
        ObjectSpace.define_finalizer(File.open(File::NULL).tap(&:close), proc { finalized << i })
        ObjectSpace.define_finalizer(File.open(File::NULL), proc { finalized << i + 4 })
      end
      before = File.directory?("/proc/self/fd") && open_files
      ractors = Array.new(4) do
        Ractor.new do
          3_000.times.all? do |i|
            kept = File.open(File::NULL, "r+:UTF-16LE:UTF-8")
            kept.print("a") if i.even?
            kept.close if i % 100 > 0
            reader, writer = IO.pipe
            writer.print("b")
            writer.close
            20.times { [i] }
            reader.read == "b"
          ensure
            reader.close
          end
        end
      end
      assert_equal([true] * 4, ractors.map(&:take))
      4.times { GC.start; 1000.times { Object.new } }
      assert_operator(finalized.size, :>=, 6)
      assert_operator(open_files, :<=, before + 20) if before
    RUBY
  end

  # Copies of a StringIO have one count of them, which whoever frees a dead one changes.
  def test_racing_copies_of_a_stringio_and_sweep
    assert_separately(%w[-W:no-experimental --disable-gems -rstringio -rstrscan -rjson], <<~'RUBY', timeout: 60)
      ractors = Array.new(4) do
        Ractor.new do
          kept = Array.new(500) { StringIO.new("abc") }
          right = (0...60_000).all? do |i|
            kept[i % 500] = StringIO.new("a#{i}") if i % 7 == 0
            copy = kept[i * 3 % 500].dup
            scanner = StringScanner.new(copy.string)
            copy.read == copy.string && scanner.scan(/a/) && (i % 20 > 0 || JSON.generate(JSON.parse("[#{i}]")) == "[#{i}]")
          ensure
            copy&.rewind
          end
          right && kept.all? { |io| io.read == io.string }
        end
      end
      assert_equal([true] * 4, ractors.map(&:take))
    RUBY
  end

  # Superclasses and subclasses, modules and their copies, that die at one time, in lists that others walk and write.
  def test_racing_classes_that_die
    assert_swept(<<~'RUBY')
      $VERBOSE = nil
      class Base; end
      module Mixed; def number = 0; end
      makers = Array.new(4) do |r|
        Ractor.new(r) do |r|
          kept = []
          6_000.times do |i|
            family = [Class.new(Base)]
            3.times { family << Class.new(family.sample) { include Mixed } }
            mixin = Module.new { def other = 2 }
            family.sample.include(mixin)
            family.sample.prepend(Module.new) if i % 5 == 0
            family.sample.extend(mixin)
            family.last.new.number if i % 3 == 0
            Object.new.extend(Mixed).singleton_class
            kept << family.last if i % 100 == r
            raise "wrong" unless kept.all? { |one| one.include?(Mixed) && one < Base } || i % 50 > 0
          end
          kept
        end
      end
      changed = (1..400).map { |i| Base.subclasses; Mixed.module_eval("def number = #{i}"); Mixed.define_method("n#{i % 4}") { i }; sleep 0.001; i }.last
      kept = makers.flat_map(&:take)
      assert_equal([[changed, true]], kept.map { |one| [one.new.number, one.superclass.subclasses.include?(one)] }.uniq)
      GC.verify_internal_consistency
    RUBY
  end

  # Pages that are found empty go back, whoever sweeps them: else the heap stays large, and is collected again and again (38 times).
  def test_a_heap_that_is_too_large_shrinks_while_ractors_fill_it
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      made = Array.new(1_000_000) { |i| [i] }
      GC.start
      made.clear
      pages, majors = GC.stat.values_at(:heap_allocated_pages, :major_gc_count)
      ractors = Array.new(4) { Ractor.new { Ractor.yield(400_000.times { |i| [i, "a#{i}"] }) while Ractor.receive } }
      8.times { ractors.each { |ractor| ractor << true }.each(&:take) }
      assert_operator(GC.stat(:heap_allocated_pages), :<, pages * 0.6)
      assert_operator(GC.stat(:major_gc_count) - majors, :<, 20)
    RUBY
  end

  # No more of them than in a step, as who wants a page waits: it were 1,600.
  def test_pages_that_one_allocation_gives_back
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      made = Array.new(3_000_000) { |i| [i] }
      GC.start
      ractor = Ractor.new { Ractor.receive }
      made.clear
      GC.start(full_mark: true, immediate_sweep: false)
      given = Array.new(100_000) do |i|
        empty = GC.stat(:heap_empty_pages)
        made[0] = [i]
        GC.stat(:heap_empty_pages) - empty
      end
      assert_include(1..64, given.max)
      ractor << :end
    RUBY
  end

  # An empty page has the words of objects of its last heap no more: another heap, of smaller slots, takes it.
  def test_racing_ids_and_variables_of_pages_that_change_heaps
    [["object_id", "object_id"], ["instance_variable_set(:@a, %s)", "instance_variable_get(:@a)"]].each do |set, get|
      assert_separately(%w[-W:no-experimental --disable-gems], <<~RUBY, timeout: 60)
        def told(object, i) = object.then { |o| o.#{set % "i"}; o.#{get} }
        made = Array.new(500_000) { |i| ("z" * 200).tap { |string| told(string, i) } }
        GC.start
        made.clear
        fillers = Array.new(3) do
          Ractor.new do
            while (turn = Ractor.receive)
              20_000.times { |i| told("z" * 200, i) }
              kept = Array.new(turn % 3 == 2 ? 60_000 : 5_000) { |i| [i] }
              10_000.times { |i| told("z" * 200, i) }
              Ractor.yield(kept.each_with_index.map { |array, i| told(array, i) }.uniq.size == kept.size)
            end
          end
        end
        looked = 0
        20.times do |turn|
          assert_equal([true] * 3, fillers.each { |filler| filler << turn }.map(&:take))
          next unless GC.stat(:heap_empty_pages) > 15

          looked += 1
          kept = Array.new(9_000) { "y" * 50 }
          kept.each_with_index { |string, i| told(string, i) }
          assert_equal(9_000, kept.map { |string| string.#{get} }.uniq.size)
        end
        assert_operator(looked, :>, 0)
      RUBY
    end
  end

  # What is freed late must not look like garbage that has become old: 6 major collections in stock's order, 40 without.
  def test_no_major_collections_where_malloc_has_more_than_the_heap
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      ractors = Array.new(8) { Ractor.new { Ractor.yield(60.times { "x" * 1_000_000 }) while Ractor.receive } }
      150.times { |i| (ractors[i % 8] << true).take }
      assert_operator(GC.stat(:major_gc_count), :<, 20)
    RUBY
  end

  # Each of these sweeps what is left with all others standing.
  def test_racing_sweep_and_all_that_ends_it
    assert_swept(<<~'RUBY')
      ractors = Work.start(:mixed, 12_000)
      weak = ObjectSpace::WeakMap.new
      30.times do |i|
        1000.times { |k| weak["k#{k}"] = Object.new }
        case i % 6
        when 0 then GC.start
        when 1 then GC.start(full_mark: false, immediate_sweep: false)
        when 2 then ObjectSpace.each_object(Class) { }
        when 3 then GC.disable; Array.new(100) { [] }; GC.enable
        when 4 then GC.respond_to?(:compact) ? GC.compact : GC.start
        when 5 then GC.verify_internal_consistency
        end
      end
      assert_equal([:ok] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_sweep_and_stress
    assert_swept(<<~'RUBY')
      ractors = Work.start(:simple, 3000)
      5.times { GC.stress = true; 20.times { Object.new }; GC.stress = false; sleep 0.01 }
      assert_equal([:ok] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_sweep_and_compact_by_itself
    omit "no compaction" unless GC.respond_to?(:auto_compact=)
    assert_swept(<<~'RUBY')
      GC.auto_compact = true
      ractors = Work.start(:mixed, 4000)
      5.times { GC.start }
      assert_equal([:ok] * 6, ractors.map(&:take))
      GC.auto_compact = false
    RUBY
  end

  # The child has pages that Ractors had claimed which are no more.
  def test_racing_sweep_and_fork
    omit "no fork" unless Process.respond_to?(:fork)
    assert_swept(<<~'RUBY')
      ractors = Work.start(:simple, 15_000)
      codes = Array.new(20) do
        status(fork do
          Work.run(:mixed, 100)
          GC.start
          GC.verify_internal_consistency
          exit!(Work.run(:simple, 100) == :ok ? 7 : 8)
        end)
      end
      assert_equal({ 7 => 20 }, codes.tally)
      assert_equal([:ok] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_sweep_and_ends_of_ractors
    assert_swept(<<~'RUBY')
      working = Work.start(:mixed, 8000, 3)
      30.times { assert_equal([:ok] * 4, Work.start(:simple, 100, 4).map(&:take)) }
      assert_equal([:ok] * 3, working.map(&:take))
    RUBY
  end

  def test_finalizers_and_object_ids
    assert_swept(<<~'RUBY')
      read, write = IO.pipe
      FD = write.fileno
      FINALIZER = ->(_) { IO.for_fd(FD, autoclose: false).syswrite(".") } # in whichever Ractor
      ractors = Work.start(:simple, 8000)
      ids = Array.new(2000) { Object.new.tap { |object| ObjectSpace.define_finalizer(object, FINALIZER) }.object_id }
      assert_equal([:ok] * 6, ractors.map(&:take))
      assert_equal(ids.uniq, ids)
      4.times { GC.start }
      write.close
      assert_include(1900..2000, read.read.size)
    RUBY
  end

  # Who has called a finalizer links the slot into a page that may be swept just then: a slot was lost, or a whole list.
  def test_racing_sweep_and_finalizers
    assert_swept(<<~'RUBY')
      working = Array.new(2) do
        Ractor.new do
          kept = Array.new(2000)
          1_500_000.times { |i| kept[i * 7919 % 2000] = Object.new; Object.new; Object.new }
          :ok
        end
      end
      finalizer = proc { |id| 3.times { 3.0 * id } }
      60.times do
        5000.times { ObjectSpace.define_finalizer(Object.new, finalizer); Object.new }
        GC.start(full_mark: false)
      end
      assert_equal([:ok] * 2, working.map(&:take))
      assert_equal(500_000, Array.new(500_000) { Object.new }.size) # else NoMemoryError
    RUBY
  end

  # What was made and what was freed, by whomever, is what there is.
  def test_counts_are_exact
    assert_swept(<<~'RUBY')
      assert_equal([:ok] * 6, Work.start(:mixed, 5000).map(&:take))
      3.times { GC.start }
      GC.disable
      stat = GC.stat
      walked = ObjectSpace.count_objects
      living = walked[:TOTAL] - walked[:FREE]
      assert_in_delta(stat[:total_allocated_objects] - stat[:total_freed_objects], living, 500)
      assert_in_delta(stat[:heap_live_slots], living, 500)
    RUBY
  end

  # RUBY_INTERNAL_EVENT_FREEOBJ is told of each object.
  def test_tracing_of_what_is_freed
    assert_swept(<<~'RUBY')
      require "objspace"
      ObjectSpace.trace_object_allocations do
        assert_equal([:ok] * 6, Work.start(:simple, 1000).map(&:take))
      end
    RUBY
  end
end
