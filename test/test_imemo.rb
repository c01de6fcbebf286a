# frozen_string_literal: true
# test_imemo.rb - imemo.c: the fields object as the GC and ObjectSpace see it.

require "test/unit"
require "objspace"
require "json"

class TestLockfreeImemo < Test::Unit::TestCase
  SLOT = GC::INTERNAL_CONSTANTS[:BASE_SLOT_SIZE]
  OVERHEAD = GC::INTERNAL_CONSTANTS[:RVALUE_OVERHEAD] # of debug builds

  def with_variables(count)
    Module.new.tap { |mod| count.times { |i| mod.instance_variable_set(:"@v#{i}", "value #{i}") } }
  end

  def memsize_of_variables(count)
    ObjectSpace.memsize_of(with_variables(count)) - ObjectSpace.memsize_of(Module.new)
  end

  def test_memsize_counts_the_fields_object
    word = [0].pack("J").bytesize
    header = 2 * word
    [1, 3, 4, 8].each do |count|
      size = memsize_of_variables(count)
      assert_operator size, :>=, header + count * word, "#{count} variables"
      assert_include [1, 2].map { |n| n * (SLOT + OVERHEAD) - OVERHEAD }, size, "#{count} variables: a whole slot"
    end
    [19, 50, 1_000].each do |count|
      size = memsize_of_variables(count)
      assert_operator size, :>=, SLOT + count * word, "#{count} variables"
      assert_operator size, :<=, SLOT + (count * 1.5 + 1) * word, "#{count} variables: grown by a half at most"
    end
  end

  def test_reachable_objects_are_the_values
    mod = with_variables(50)
    values = mod.instance_variables.map { |name| mod.instance_variable_get(name) }
    reachable = ObjectSpace.reachable_objects_from(mod)
    assert_empty values - reachable
    assert_empty reachable.grep(ObjectSpace::InternalObjectWrapper).select { |wrapper| wrapper.type == :T_IMEMO }
  end

  def test_count_imemo_objects
    GC.start
    before = ObjectSpace.count_imemo_objects[:imemo_fields]
    kept = Array.new(500) { with_variables(1) }
    assert_operator ObjectSpace.count_imemo_objects[:imemo_fields], :>=, before + 500
    assert_equal 500, kept.size
  end

  def test_dump
    mod = with_variables(2)
    dump = JSON.parse(ObjectSpace.dump(mod))
    mod.instance_variables.each do |name|
      assert_include dump["references"], JSON.parse(ObjectSpace.dump(mod.instance_variable_get(name)))["address"]
    end
    assert_equal ObjectSpace.memsize_of(mod), dump["memsize"]
  end

  def test_sizes_are_counted_once
    mod = with_variables(30)
    all = ObjectSpace.dump_all(output: :string).lines.map { |line| JSON.parse(line) }
    fields = all.select { |object| object["imemo_type"] == "fields" }
    assert_not_empty fields
    fields.each { |object| assert_nil object["memsize"] }
    assert_equal 30, mod.instance_variables.size
  end

  def test_values_survive
    mods = Array.new(30) { |i| with_variables(i * 4) }
    GC.start
    GC.verify_internal_consistency
    mods.each_with_index do |mod, i|
      assert_equal Array.new(i * 4) { |k| "value #{k}" }, mod.instance_variables.map { |n| mod.instance_variable_get(n) }
    end
  end

  # A class grown old whose new, young value is known only to its fields object.
  def test_write_barriers
    mods = [1, 5, 50, 500].map { |count| with_variables(count) }
    4.times { GC.start }
    mods.each { |mod| mod.instance_variables.each { |name| mod.instance_variable_set(name, "young #{name}") } }
    mods.each { |mod| mod.instance_variable_set(:@appended, +"young appended") }
    3.times { GC.start(full_mark: false) }
    GC.verify_internal_consistency
    mods.each do |mod|
      assert_equal "young appended", mod.remove_instance_variable(:@appended)
      mod.instance_variables.each { |name| assert_equal "young #{name}", mod.instance_variable_get(name) }
    end
  end

  def test_compaction
    omit "no compaction here" unless GC.respond_to?(:compact)
    assert_separately([], <<~'RUBY', timeout: 120)
      mods = Array.new(200) { |i| Module.new.tap { |m| (i % 60).times { |k| m.instance_variable_set(:"@v#{k}", "value #{k}") } } }
      check = lambda do
        mods.each_with_index do |m, i|
          assert_equal(Array.new(i % 60) { |k| "value #{k}" }, m.instance_variables.map { |n| m.instance_variable_get(n) })
        end
      end
      GC.verify_compaction_references(expand_heap: true, toward: :empty)
      check.()
      GC.auto_compact = true
      GC.start
      check.()
    RUBY
  end

  def test_no_leak
    assert_no_memory_leak([], "", <<~'RUBY', limit: 1.6, rss: true)
      200_000.times { |i| m = Module.new; m.instance_variable_set(:@a, 1) }
      2_000.times { m = Module.new; 100.times { |i| m.instance_variable_set(:"@l#{i}", 1) } }
    RUBY
  end
end
