# frozen_string_literal: true
# test_shape.rb - shape.c: look-up and transition while the tree grows.

require "test/unit"

class TestLockfreeShape < Test::Unit::TestCase
  def test_many_children_of_one_shape
    names = Array.new(3_000) { |i| :"@child#{i}" }
    2.times do
      names.each do |name|
        mod = Module.new
        mod.instance_variable_set(name, name)
        assert_equal [name], mod.instance_variables
        assert_same name, mod.instance_variable_get(name)
      end
    end
  end

  def test_deep_shape
    mod = Module.new
    names = Array.new(2_000) { |i| :"@deep#{i}" }
    names.each { |name| mod.instance_variable_set(name, name) }
    assert_equal names, mod.instance_variables
    names.each { |name| assert_same name, mod.instance_variable_get(name) }
    assert_nil mod.instance_variable_get(:@not_so_deep)
    assert_same names[5], mod.remove_instance_variable(names[5])
    assert_equal names - [names[5]], mod.instance_variables
  end

  # Layouts that part on the way from one index to the next, or at an index: each knows its own variables alone.
  def test_indexes_of_layouts_that_part
    names = Array.new(24) { |i| :"@part#{i}" }
    random = Random.new(1)
    (8..22).to_a.product([nil] * 12) do |shared, _|
      order = names.first(shared) + names.drop(shared).shuffle(random:)
      mod = Module.new
      order.each.with_index(1) do |name, count|
        mod.instance_variable_set(name, name)
        next if count < shared
        assert_equal order.first(count), names.filter_map { mod.instance_variable_get(it) }.sort_by { order.index(it) }
      end
      assert_equal order, mod.instance_variables
    end
  end

  # The eleventh variable makes an index, and each fourth after it makes one out of that, which readers are in.
  def test_racing_index_and_get
    assert_ractor(<<~'RUBY', timeout: 120)
      60.times do |round|
        names = Array.new(20) { |i| :"@round#{round}_#{i}" }.freeze
        mod = Module.new
        names.first(11).each { |name| mod.instance_variable_set(name, name) }
        readers = Array.new(2) do
          Ractor.new(mod, names) do |mod, names|
            Ractor.yield :ready
            missed = 0
            300.times { names.first(11).each { |name| missed += 1 unless mod.instance_variable_get(name) == name } }
            missed
          end
        end
        readers.each(&:take)
        names.last(9).each { |name| mod.instance_variable_set(name, name) }
        assert_equal([0, 0], readers.map(&:take))
      end
    RUBY
  end

  # Every Ractor makes children of the same shapes; all must end up at one child for each edge.
  def test_racing_transitions_of_one_shape
    assert_ractor(<<~'RUBY', timeout: 120)
      Thing = Class.new
      seen = Array.new(4) do |n|
        Ractor.new(n) do |n|
          Array.new(400) do |i|
            thing = Thing.new
            order = [i, (i * 7) % 400]
            order.each { |k| thing.instance_variable_set(:"@edge#{k}", k) }
            order.uniq.map { |k| thing.instance_variable_get(:"@edge#{k}") == k }.all?
          end.all?
        end
      end
      assert_equal([true] * 4, seen.map(&:take))
    RUBY
  end
end
