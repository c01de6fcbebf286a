# frozen_string_literal: true
# vm/test_proc_memory.rb - vm/proc_memory.h: Procs and environments lie in their slots, and stay where they are.

require "test/unit"

class TestLockfreeProcMemory < Test::Unit::TestCase
  # Of each number of variables: the largest slot has 73 of them, and what has more its body in malloc's memory.
  CLOSURES = <<~'RUBY'
    module Closures
      SIZES = [0, 1, 3, 4, 13, 14, 33, 34, 72, 73, 74, 75, 300].freeze

      def self.sum(n) = n * (n + 1) / 2

      SIZES.each do |n|
        names = (1..n).map { |k| "v#{k}" }
        module_eval(<<~METHOD)
          def self.closed_#{n}
            #{names.map.with_index(1) { |name, k| "#{name} = #{k}" }.join("; ")}
            [proc { |k| #{(["k"] + names).join(" + ")} }, binding]
          end
        METHOD
      end

      def self.closed(n) = send("closed_#{n}")

      def self.check
        made = SIZES.to_h { |n| [n, closed(n)] }
        yield
        made.each do |n, (plus, variables)|
          raise "#{n}" unless plus.call(3) == sum(n) + 3 && plus.dup.call(3) == sum(n) + 3 && plus.curry[4] == sum(n) + 4
          raise "#{n}" unless variables.local_variables.first(n) == (1..n).map { |k| :"v#{k}" }

          variables.local_variable_set(:added, n)
          next if n == 0

          variables.local_variable_set(:v1, -1)
          yield
          raise "#{n}" unless plus.call(0) == sum(n) - 2 && variables.local_variable_get(:added) == n
          raise "#{n}" unless variables.eval("v1 = 5") == 5 && plus.binding.local_variable_get(:v1) == 5
        end
      end
    end
  RUBY

  def assert_closures(code, options: [])
    assert_separately(%w[-W:no-experimental --disable-gems] + options, CLOSURES + code, timeout: 120)
  end

  def compacts? = GC.respond_to?(:compact) && GC.respond_to?(:verify_compaction_references)

  def test_collected_and_compacted
    omit "no compaction" unless compacts?
    assert_closures("Closures.check { GC.start; GC.verify_compaction_references(toward: :empty, expand_heap: true) }")
  end

  # A block is called while its Proc is known to a variable that has escaped, and to a pointer into it.
  def test_compacted_while_arguments_are_prepared
    omit "no compaction" unless compacts?
    assert_closures(<<~'RUBY')
      def calls(&block) = [binding, [1, 2].each_slice(2).map { |pair| yield(*pair, k: pair) }, block]
      GC.auto_compact = true
      2_000.times do |i|
        escaped, found, block = calls { |a, *rest, k:, **others| [a, rest, k, others, i] }
        assert_equal([[1, [2], [1, 2], {}, i]], found)
        assert_same(block, escaped.local_variable_get(:block))
        GC.start if i % 100 == 0
      end
    RUBY
  end

  def test_compacted_in_ractors
    omit "no compaction" unless compacts?
    assert_closures(<<~'RUBY')
      ractors = Array.new(4) { Ractor.new { 20.times { Closures.check { Array.new(100) { |k| proc { k } } } }; :same } }
      20.times { GC.compact }
      assert_equal([:same] * 4, ractors.map(&:take))
    RUBY
  end

  def test_stress
    assert_closures("GC.stress = true; Closures.check { 1 }")
  end

  def test_of_c
    omit "no compaction" unless compacts?
    assert_closures(<<~'RUBY')
      plus = 3.method(:+)
      procs = [plus.to_proc, (plus >> :to_s.to_proc), :upcase.to_proc, plus.unbind.bind(4).to_proc.dup, Hash.new { |_, k| k }.to_proc]
      GC.verify_compaction_references(toward: :empty, expand_heap: true)
      assert_equal([5, "5", "A", 6, :b], procs.zip([2, 2, "a", 2, :b]).map { |made, arg| made.call(arg) })
      assert_equal(3, procs[0].binding.receiver)
    RUBY
  end

  # A Method's Proc is no larger than another, and has the environment of who asked for it.
  def test_compared_with_its_copy
    omit "no compaction" unless compacts?
    assert_closures(<<~'RUBY')
      plus = 1.method(:+)
      other = plus.to_proc
      kept = []
      20.times do |k|
        pairs = Array.new(4_000) { made = plus.to_proc; [made, made.dup] }
        kept << "a" * 200_000 << pairs.last
        assert_equal(4_000, pairs.count { |made, copy| made == copy && made != other })
      end
      GC.verify_compaction_references(toward: :empty, expand_heap: true)
      kept.grep(Array).each { |made, copy| assert_equal([true, 3, 4], [made == copy, made.call(2), copy.call(3)]) }
      copies = Array.new(100) { plus.to_proc.dup }
      GC.start
      assert_equal([5] * 100, copies.map { |copy| copy.call(4) })
      assert_equal(1, copies.last.binding.receiver)
    RUBY
  end

  # Who asks what a Proc refers to is not told of the Proc, and how much memory it has is as much as its slot.
  def test_asked
    assert_closures(<<~'RUBY')
      require "objspace"
      made, = Closures.closed(3)
      refers = ObjectSpace.reachable_objects_from(made)
      assert_not_include(refers.grep(Proc), made)
      assert_equal(80, ObjectSpace.memsize_of(made))
      assert_not_match(/"references":\[[^\]]*#{ObjectSpace.dump(made)[/0x\h+/]}/, ObjectSpace.dump(made))
    RUBY
  end

  def test_copied_for_ractors
    assert_closures(<<~'RUBY')
      [2, 12, 73].each do |n|
        outer = Ractor.make_shareable(nil.instance_eval do
          list = eval("[#{(1..n).to_a.join(", ")}]").freeze
          inner = n
          proc { |k| [list.sum + inner + k, proc { list.size + inner }.call] }
        end)
        expected = [Closures.sum(n) + n + 1, 2 * n]
        assert_equal([expected] * 4, Array.new(4) { Ractor.new(outer) { |shared| 200.times { shared.call(1) }; shared.call(1) } }.map(&:take))
      end
    RUBY
  end
end
