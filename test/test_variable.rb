# frozen_string_literal: true
# test_variable.rb - variable.c: what classes keep in variables, alone and while other Ractors look on.

require "test/unit"
require "open3"
require_relative "minirubies"

class TestLockfreeVariable < Test::Unit::TestCase
  include LockfreeMinirubies

  PROGRAMS = File.join(__dir__, "programs")

  def run_program(ruby, name, *args)
    out, err, status = Open3.capture3(*ruby, "--disable-gems", File.join(PROGRAMS, name), *args)
    assert_predicate status, :success?, "#{ruby.inspect} #{name}\n#{err[0, 4000]}"
    out
  end

  def ours
    [EnvUtil.rubybin]
  end

  def test_same_as_stock
    assert_equal run_program([stock], "same_as_stock.rb"), run_program(ours, "same_as_stock.rb")
  end

  def test_same_as_stock_under_gc_stress
    gc = ["-e", "GC.stress = true; load ARGV.shift", "--"]
    setter = File.join(PROGRAMS, "grow_and_shrink.rb")
    expected = run_program([stock], "grow_and_shrink.rb")
    out, err, status = Open3.capture3(*ours, "--disable-gems", *gc, setter)
    assert_predicate status, :success?, err[0, 4000]
    assert_equal expected, out
  end

  # ---- readers of every kind in a Ractor other than main

  def test_all_ways_to_read_in_a_ractor
    assert_ractor(<<~'RUBY')
      class Config
        @shareable = "frozen".freeze
        @number = 42
        @list = Ractor.make_shareable([1, ["two"]])
        @unset_later = :set
        remove_instance_variable(:@unset_later)
        class << self
          attr_reader :shareable, :number, :list, :unset_later
          def literals = [@shareable, @number, @list, @unset_later]
          def known = [defined?(@shareable), defined?(@unset_later)]
        end
      end

      seen = Ractor.new do
        3.times.map do
          [Config.literals, Config.shareable, Config.number, Config.list, Config.unset_later,
           Config.instance_variable_get(:@list), Config.instance_variable_defined?(:@number),
           Config.instance_variables, Config.known]
        end
      end.take

      list = [1, ["two"]]
      one = [["frozen", 42, list, nil], "frozen", 42, list, nil, list, true, %i[@shareable @number @list], ["instance-variable", nil]]
      assert_equal([one] * 3, seen)
    RUBY
  end

  def test_internal_variables_in_ractors
    assert_ractor(<<~'RUBY')
      made = 4.times.map do |i|
        Ractor.new(i) do |n|
          100.times.map do |k|
            struct = Struct.new(:"a#{n}", :"b#{k}")
            Class.new(struct).new(n, k).to_a + struct.members
          end
        end
      end.map(&:take)
      made.each_with_index do |all, n|
        all.each_with_index { |one, k| assert_equal([n, k, :"a#{n}", :"b#{k}"], one) }
      end
    RUBY
  end

  def test_autoload_known_in_a_ractor
    assert_ractor(<<~'RUBY')
      module Auto; end
      Auto.autoload :Thing, "/there/is/no/such/file"
      assert_equal("/there/is/no/such/file", Ractor.new { Auto.autoload?(:Thing) }.take)
      Ractor.new { Class.new.autoload(:Other, "/nor/this/one") }.take
    RUBY
  end

  # ---- races, bounded in count

  # A variable holds its own name and a number; whoever reads another's has met two layouts at once.
  RACE = <<~'RUBY'
    NAMES = Array.new(30) { |i| :"@v#{i}" }.freeze

    def start_readers(mod, reads, count = 2)
      Array.new(count) do
        Ractor.new(mod, reads) do |mod, reads|
          Ractor.yield :ready
          wrong = []
          reads.times do |i|
            name = NAMES[i % NAMES.size]
            value = mod.instance_variable_get(name)
            wrong << [name, value] unless value.nil? || value[0] == name
          end
          wrong
        end
      end.each(&:take)
    end

    def set(mod, i, n) = mod.instance_variable_set(NAMES[i], [NAMES[i], n].freeze)

    def assert_no_wrong(readers) = assert_equal([[]] * readers.size, readers.map(&:take))
  RUBY

  def assert_race(source)
    assert_ractor(RACE + source, timeout: 120)
  end

  def test_racing_set_and_get
    assert_race(<<~'RUBY')
      mod = Module.new
      NAMES.each_index { |i| set(mod, i, 0) }
      readers = start_readers(mod, 60_000)
      40_000.times { |n| set(mod, n % NAMES.size, n) }
      assert_no_wrong(readers)
    RUBY
  end

  def test_racing_append_and_get
    assert_race(<<~'RUBY')
      20.times do
        mod = Module.new
        readers = start_readers(mod, 3_000)
        NAMES.each_index { |i| set(mod, i, i); GC.start if i == 15 }
        assert_no_wrong(readers)
      end
    RUBY
  end

  def test_racing_remove_and_get
    assert_race(<<~'RUBY')
      mod = Class.new
      readers = start_readers(mod, 60_000)
      600.times do |n|
        NAMES.each_index { |i| set(mod, i, n) }
        NAMES.each { |name| mod.remove_instance_variable(name) }
      end
      assert_no_wrong(readers)
    RUBY
  end

  def test_racing_append_and_list
    assert_race(<<~'RUBY')
      20.times do
        mod = Module.new
        lister = Ractor.new(mod) do |mod|
          Ractor.yield :ready
          Array.new(300) { mod.instance_variables }
        end
        lister.take
        NAMES.each_index { |i| set(mod, i, i) }
        lists = lister.take
        lists.each { |list| assert_equal(NAMES.first(list.size), list) }
        assert_equal(lists.map(&:size).sort, lists.map(&:size))
      end
    RUBY
  end

  def test_racing_freeze_and_get
    assert_race(<<~'RUBY')
      50.times do
        mod = Module.new
        NAMES.each_index { |i| set(mod, i, 0) }
        readers = start_readers(mod, 500)
        mod.freeze
        assert_raise(FrozenError) { set(mod, 0, 1) }
        assert_no_wrong(readers)
      end
    RUBY
  end

  def test_racing_compact_and_get
    omit "no compaction here" unless GC.respond_to?(:compact)
    assert_race(<<~'RUBY')
      mod = Module.new
      NAMES.each_index { |i| set(mod, i, 0) }
      readers = start_readers(mod, 40_000)
      10.times { |n| GC.compact; NAMES.each_index { |i| set(mod, i, n) } }
      assert_no_wrong(readers)
    RUBY
  end

  def test_racing_set_in_a_too_complex_module_and_get
    assert_race(<<~'RUBY')
      540_000.times { |i| (+"").instance_variable_set(:"@exhaust#{i}", 1) }
      mod = Module.new
      readers = start_readers(mod, 60_000)
      200.times do |n|
        NAMES.each_index { |i| set(mod, i, n) }
        NAMES.each { |name| mod.remove_instance_variable(name) } if n.odd?
      end
      assert_no_wrong(readers)
    RUBY
  end

  # Stock 3.4.5 removes without a lock: the reader puts an old layout and new values together.
  def test_racing_remove_and_get_is_wrong_on_stock_only
    ruby = stock
    shown = (1..50).find { run_program([ruby], "racing_remove_and_get.rb")[/wrong: (\d+)/, 1].to_i > 0 }
    assert(shown, "stock gave no wrong value in 50 runs: does the program still race?")
    (2 * shown + 5).times { assert_equal("0", run_program(ours, "racing_remove_and_get.rb")[/wrong: (\d+)/, 1]) }
  end

  # ---- cost

  def test_sixteen_thousand_variables_cost_linear_instructions
    assert_ractor(<<~'RUBY', timeout: 120)
      idle = Ractor.new { Ractor.receive }
      allocated = lambda do |count|
        mod = Module.new
        names = Array.new(count) { |i| :"@many#{i}" }
        before = GC.stat(:total_allocated_objects)
        names.each { |name| mod.instance_variable_set(name, 1) }
        assert_equal(names, mod.instance_variables)
        GC.stat(:total_allocated_objects) - before
      end
      # a fields object for each growth by a half: not one for each variable
      assert_operator(allocated.(16_000), :<, 200)
      idle.send(nil)
    RUBY
  end
end
