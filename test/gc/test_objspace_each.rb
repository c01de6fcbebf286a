# frozen_string_literal: true
# gc/test_objspace_each.rb - gc/objspace_each.c: walking the heap while Ractors fill it.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeObjspaceEach < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_each_object_and_new
    assert_ractors(<<~'RUBY')
      class Base; end
      makers = Array.new(3) do
        Ractor.new do
          30_000.times { Class.new(Base) { attr_reader :variable; extend Module.new }.singleton_class }
          :made
        end
      end
      30.times do
        ObjectSpace.each_object(Module) { |made| made.name; made.ancestors; made.instance_methods(false) }
        ObjectSpace.each_object(Class) { |made| made.superclass; made.allocate if made < Base }
      end
      assert_equal([:made] * 3, makers.map(&:take))
    RUBY
  end

  def test_racing_walks_and_allocation
    assert_ractors(<<~'RUBY')
      makers = Array.new(2) { Ractor.new { 100.times { Array.new(10_000) { |i| [i, i.to_s] } }; :made } }
      walkers = Array.new(2) do
        Ractor.new { 40.times { ObjectSpace.each_object(String) {}; ObjectSpace.count_objects }; :walked }
      end
      assert_equal([:made] * 2 + [:walked] * 2, (makers + walkers).map(&:take))
    RUBY
  end

  def test_blocks_are_called_without_a_lock
    assert_ractors(<<~'RUBY')
      other = Ractor.new { Ractor.receive }
      count = ObjectSpace.each_object(Class) { |found| Thread.pass; GC.start if found == Ractor }
      assert_operator(count, :>, 100)
      assert_equal(:broken, ObjectSpace.each_object(Class) { break :broken })
      assert_raise(RuntimeError) { ObjectSpace.each_object(Class) { raise } }
      assert_raise(TypeError) { ObjectSpace.each_object(1) {} }
      ObjectSpace.each_object(Class) { other.send(:sent); break }
      assert_equal(:sent, other.take)
    RUBY
  end

  def test_shareable_objects_only
    assert_ractors(<<~'RUBY')
      class Kept; end
      kept = [Kept.new, Kept.new.freeze]
      assert_equal(2, ObjectSpace.each_object(Kept) {})
      Ractor.new {}.take
      assert_equal([kept[1]], ObjectSpace.each_object(Kept).to_a)
    RUBY
  end

  # A block that makes the first Ractor.
  def test_first_ractor_in_the_walk
    assert_ractors(<<~'RUBY')
      made = nil
      ObjectSpace.each_object(Class) { made ||= Ractor.new { :made } }
      assert_equal(:made, made.take)
      assert_equal(:other, Ractor.new { :other }.take)
    RUBY
  end

  # Strings that are being made have no bytes yet.
  def test_racing_warmup_and_make_strings
    assert_ractors(<<~'RUBY')
      makers = Array.new(3) { |n| Ractor.new(n) { |n| 200_000.times { |i| "#{n} is a string that is not embedded" * (1 + i % 40) }; :made } }
      20.times { Process.warmup }
      assert_equal([:made] * 3, makers.map(&:take))
    RUBY
  end

  # A call site that has not been called again keeps its cache, which knows the method that was removed.
  def test_dump_all_leaves_dead_caches_out
    assert_separately([], <<~'RUBY', timeout: 60)
      require "objspace"
      class Gone; def method_that_goes = 1; end
      def call(gone) = gone.method_that_goes
      caches = -> { ObjectSpace.dump_all(output: :string).lines.grep(/"imemo_type":"callcache".*"method_that_goes"/) }
      call(Gone.new)
      assert_equal(1, caches.().size)
      Gone.remove_method(:method_that_goes)
      assert_equal([], caches.())
    RUBY
  end

  # Stock crashes within a second.
  def test_dump_all_into_what_a_ractor_reads
    assert_ractor(<<~'RUBY', timeout: 60)
      require "objspace"
      require "tmpdir"
      Dir.mktmpdir do |folder|
        File.mkfifo(name = "#{folder}/fifo")
        reader = Ractor.new(name) { |name| File.open(name) { |io| io.each_line.count { |line| line.start_with?("{") } } }
        File.open(name, "w") { |io| ObjectSpace.dump_all(output: io) }
        assert_operator(reader.take, :>, 1000)
      end
    RUBY
  end

  # The bytes as they are, whatever the encodings.
  def test_dump_into_an_io_with_an_encoding
    assert_ractor(<<~'RUBY', timeout: 60)
      require "objspace"
      require "tempfile"
      Ractor.new { 1 }.take
      class Größe; end
      Tempfile.create("dump", encoding: "UTF-16LE:UTF-8") do |file|
        ObjectSpace.dump(Größe, output: file)
        file.flush
        assert_include(File.binread(file.path), "Größe".b)
      end
    RUBY
  end

  def test_racing_object_id_and_id2ref
    assert_ractors(<<~'RUBY')
      makers = Array.new(2) { Ractor.new { 60_000.times { Object.new.object_id }; :made } }
      finders = Array.new(2) { Ractor.new(String.object_id) { |id| Array.new(60_000) { ObjectSpace._id2ref(id) }.uniq } }
      assert_equal([[String]] * 2 + [:made] * 2, (finders + makers).map(&:take))
    RUBY
  end

  # What another Ractor has begun to make has not all that belongs to it: its Ractor stands in the middle, to collect.
  def test_racing_walks_and_objects_half_made
    assert_separately([{ "RUBY_GC_MALLOC_LIMIT" => "30000", "RUBY_GC_MALLOC_LIMIT_MAX" => "30000" }, *%w[-W:no-experimental]], <<~'RUBY', timeout: 120, ignore_stderr: true)
      require "objspace"
      makes = ["ObjectSpace::WeakKeyMap.new", "1.then { 2.then { 3 } }"]
      makers = makes.flat_map do |make|
        Array.new(2) { Ractor.new(make) { |make| 3_000.times { eval(make) }; :made } }
      end
      done = false
      walker = Thread.new do
        until done
          ObjectSpace.memsize_of_all
          TracePoint.new(:line) { }.enable { }
        end
      end
      assert_equal([:made] * 4, makers.map(&:take))
      done = true
      walker.join
    RUBY
  end
end
