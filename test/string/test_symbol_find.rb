# frozen_string_literal: true
# string/test_symbol_find.rb - string/symbol_find.h: Symbols by name, names by number.

require "test/unit"
require_relative "../assert_ractors"
require_relative "../minirubies"

class TestLockfreeSymbolFind < Test::Unit::TestCase
  include LockfreeAssertRactors
  include LockfreeMinirubies

  # What a program with one Ractor sees.
  SEEN = <<~'RUBY'
    names = ["a", "a b", "@a", "@@a", "$a", "A", "a=", "a?", "[]", "+", "", "ä", "Ä", "\u3042", "\xe9".b, "ä".b,
             "a".dup.force_encoding("US-ASCII"), "a".b, "nil", "x" * 1000]
    p names.map(&:to_sym), names.map { |n| n.to_sym.encoding }, names.map { |n| n.dup.to_sym.equal?(n.to_sym) }
    p names.map { |n| n.to_sym.to_s == n }, names.map { |n| n.to_sym.name.frozen? }, names.map { |n| n.to_sym.size }
    p ["\xff", "a\xe3"].map { |n| n.to_sym rescue $!.message }
    size = Symbol.all_symbols.size
    kept = Array.new(100) { |i| "kept #{i}".to_sym }
    p Symbol.all_symbols.size - size, (kept - Symbol.all_symbols), Symbol.all_symbols.uniq.size == Symbol.all_symbols.size
    define_singleton_method(kept[3]) { 1 }
    p send(kept[3]), Symbol.all_symbols.count(kept[3]), Symbol.all_symbols.first(3)
    1000.times { |i| "dies #{i}".to_sym }
    GC.start
    p Symbol.all_symbols.size - size < 1100, kept.map(&:to_s) == Array.new(100) { |i| "kept #{i}" }
    p respond_to?("never met"), (instance_variable_get("@never_met")), Object.const_defined?("NeverMet")
    p kept[0] <=> kept[1], kept[0].hash == "kept 0".to_sym.hash, kept[0].to_proc.call("kept 0") rescue p $!.class
  RUBY

  def test_symbols_of_one_ractor_are_stocks
    assert_stocks(16.., SEEN)
  end

  # A dynamic Symbol has its name marked, but who asks what it refers to is told what stock says.
  def test_what_a_symbol_refers_to
    assert_separately(%w[-robjspace], <<~'RUBY')
      sym = "dynamic #{1}".to_sym
      assert_equal([], ObjectSpace.reachable_objects_from(sym))
      assert_not_include(ObjectSpace.dump(sym), "references")
      assert_equal("dynamic 1", sym.name)
    RUBY
  end

  # One defines methods of names that others only ask for.
  def test_racing_number_and_name
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do |i|
        Ractor.new(i) do |i|
          Ractor.receive
          Array.new(5_000) do |n|
            name = "number or name #{n}"
            Class.new { alias_method(name, :to_s) } if i.even?
            name.to_sym
          end
        end
      end
      ractors.each { |ractor| ractor.send(:go) }
      first, *others = ractors.map(&:take)
      others.each { |other| assert_equal([], first.zip(other).reject { |a, b| a.equal?(b) }.first(3)) }
      assert_equal([], first.each_with_index.reject { |y, n| y.name == "number or name #{n}" }.first(3))
    RUBY
  end

  # Some meet names in code, which gives them numbers, where others make Symbols of them that need none.
  def test_racing_code_and_to_sym
    assert_ractors(<<~'RUBY')
      bodies = Ractor.make_shareable(Array.new(100) do |i|
        names = Array.new(100) { |n| i.even? ? "met_in_code_#{i}_#{n}" : "\u3042_in_code_#{i}_#{n}" }
        [names, "[" + names.map { |name| ":#{name}" }.join(",") + "]"]
      end)
      ractors = Array.new(6) do |i|
        Ractor.new(i, bodies) do |i, bodies|
          Ractor.receive
          bodies.flat_map { |names, code| i < 2 ? eval(code) : i < 4 ? names.map(&:to_sym) : names.reverse.map(&:to_sym).reverse }
        end
      end
      ractors.each { |ractor| ractor.send(:go) }
      first, *others = ractors.map(&:take)
      others.each { |other| assert_equal([], first.zip(other).reject { |a, b| a.equal?(b) }.first(3)) }
      assert_equal(bodies.flat_map(&:first), first.map(&:name))
      first.each { |name| Object.new.instance_eval { define_singleton_method(name) { 1 }; assert_equal(1, public_send(name.name)) } }
      all = Symbol.all_symbols.map(&:name).tally
      assert_equal([], first.map(&:name).reject { |name| all[name] == 1 }.first(3))
      shown = ObjectSpace.each_object(Symbol).map(&:name).tally
      assert_equal({}, shown.reject { |_, times| times == 1 })
    RUBY
  end

  # Of those who make the Symbol of one name some wait for room, while all objects are shown.
  def test_racing_growth_and_each_object
    assert_ractors(<<~'RUBY')
      makers = Array.new(6) do
        Ractor.new do
          while (round = Ractor.receive)
            30_000.times { |n| "shown #{round} #{n}".to_sym }
            Ractor.yield(:done)
          end
        end
      end
      watcher = Ractor.new do
        wrong = []
        until Ractor.receive == :stop
          shown = ObjectSpace.each_object(Symbol).to_a
          wrong.concat(shown.reject { |sym| sym.name.to_sym.equal?(sym) })
          Ractor.current.send(:go)
        end
        wrong.map(&:name).first(3)
      end
      watcher.send(:go)
      round = 0
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 6
      until Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop
        round += 1
        makers.each { |maker| maker.send(round) }
        makers.each(&:take)
        4.times { GC.start } # the table gets shorter
      end
      makers.each { |maker| maker.send(nil) }
      watcher.send(:stop)
      assert_equal([], watcher.take)
    RUBY
  end

  # Names of new numbers, while the list of names gets longer.
  def test_racing_intern_and_name
    assert_ractors(<<~'RUBY')
      readers = Array.new(3) do
        Ractor.new do
          old = %i[to_s each_with_index instance_variable_get]
          wrong = []
          until Ractor.receive == :stop
            1000.times { wrong << old if old.map(&:name) != %w[to_s each_with_index instance_variable_get] }
            Ractor.yield(:done)
          end
          wrong.size
        end
      end
      40.times do |i|
        readers.each { |reader| reader.send(:go) }
        symbols = eval("[" + Array.new(1000) { |n| ":met_#{i}_#{n}" }.join(",") + "]")
        assert_equal(Array.new(1000) { |n| "met_#{i}_#{n}" }, symbols.map(&:name))
        readers.each(&:take)
      end
      readers.each { |reader| reader.send(:stop) }
      assert_equal([0] * 3, readers.map(&:take))
    RUBY
  end

  def test_racing_all_symbols_and_to_sym
    assert_ractors(<<~'RUBY')
      makers = Array.new(3) { |i| Ractor.new(i) { |i| Array.new(30_000) { |n| "listed #{i} #{n}".to_sym } } }
      sizes = Array.new(20) { all = Symbol.all_symbols; assert_equal(all.size, all.uniq.size); all.size }
      symbols = makers.flat_map(&:take)
      assert_equal(sizes.sort, sizes)
      assert_equal([], (symbols - Symbol.all_symbols).first(3))
    RUBY
  end
end
