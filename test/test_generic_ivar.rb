# frozen_string_literal: true
# test_generic_ivar.rb - generic_ivar.h, gc/generic_ivar.h: instance variables of Strings, Arrays, ..., beside their pages.

require "test/unit"
require_relative "assert_ractors"
require_relative "minirubies"

class TestLockfreeGenericIvar < Test::Unit::TestCase
  include LockfreeAssertRactors
  include LockfreeMinirubies

  HEAD = <<~'RUBY'
    S = Struct.new(:a)
    MAKERS = [-> { +"string" }, -> { [1, 2] }, -> { { 1 => 2 } }, -> { S.new(1) }, -> { Regexp.new("r") }, -> { proc { 1 } },
              -> { "x".match(/x/) }, -> { 1.method(:+) }, -> { Thread::Queue.new }, -> { +"long" * 200 }, -> { [nil] * 90 }]
    def make(i) = MAKERS[i % MAKERS.size].call
    def set(o, i, count = 1) = count.times { |k| o.instance_variable_set("@v#{k}", [i, k]) }.then { o }
    def seen(o) = o.instance_variables.map { |name| [name, o.instance_variable_get(name)] }
    def expected(i, count = 1) = Array.new(count) { |k| [:"@v#{k}", [i, k]] }
  RUBY

  def assert_variables(code)
    YJIT.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, HEAD + code, timeout: 120)
    end
  end

  # ---- one Ractor ---------------------------------------------------

  SEEN = <<~'RUBY'
    MAKERS.each_index do |i|
      o = set(make(i), 1, 12)
      p seen(o), o.remove_instance_variable(:@v3), o.instance_variable_defined?(:@v3), o.instance_variable_defined?(:@v4)
      copies = [(o.dup rescue o), (o.clone rescue o), (o.clone(freeze: true) rescue o)]
      o.instance_variable_set(:@v0, :changed)
      p copies.map { |copy| seen(copy) }
      p (copies[2].instance_variable_set(:@v0, 1) rescue $!.class), (o.remove_instance_variable(:@none) rescue $!.class)
      # more kinds than there are shapes for
      40.times { |k| copy = (copies[1].clone rescue copies[1]); copy.instance_variable_set("@w#{i}_#{k}", k); copy.instance_variables.each { |n| copy.remove_instance_variable(n) if k % 3 == 1 }; p seen(copy) }
      p seen((o.clone rescue o)), o.frozen?, (seen(o.freeze) rescue $!.class)
    end
    p seen(Marshal.load(Marshal.dump(set(+"s", 2, 3))))
    o = set([], 5, 60)
    60.times { |k| o.remove_instance_variable("@v#{(k * 7) % 60}"); p o.instance_variables.size }
    class Sub < String; attr_accessor :tag; def initialize(s) = (super; @tag = s.size); end
    p Array.new(300) { |k| Sub.new("x" * k).tap { _1.tag += 1 } }.sum(&:tag), Sub.new("a").then { _1.replace("b"); _1.tag }
  RUBY

  def test_variables_of_one_ractor_are_stocks
    assert_stocks(501.., HEAD + SEEN)
  end

  def test_stress_compaction_and_sweep
    assert_variables(<<~'RUBY')
      kept = Array.new(500) { |i| set(make(i), i, 1 + i % 5) }
      GC.stress = true
      40.times { |i| kept << set(make(i), 500 + i, 1 + i % 5) }
      GC.stress = false
      right = -> { kept.each_with_index.reject { |o, i| o.nil? || seen(o) == expected(i, i < 500 ? 1 + i % 5 : 1 + (i - 500) % 5) } }
      assert_equal([], right.())
      GC.verify_internal_consistency
      if GC.respond_to?(:compact)
        3.times { |n| 100.times { |i| kept[i * 4 + n] = nil }; GC.compact; assert_equal([], right.()); GC.verify_internal_consistency }
        GC.verify_compaction_references(expand_heap: true, toward: :empty)
        assert_equal([], right.())
        GC.auto_compact = true
      end
      # slots of the dead are used again, and have no variables
      10.times do |n|
        4000.times { |i| set(make(i), i) }
        fresh = Array.new(4000) { |i| make(i) }
        assert_equal([], fresh.reject { |o| seen(o).empty? })
        GC.start if n.even?
      end
      GC.verify_internal_consistency
      assert_equal([], right.())
    RUBY
  end

  def test_memory_comes_back
    assert_no_memory_leak(%w[--disable-gems], <<~'PREPARE', <<~'RUBY', limit: 1.3, rss: true)
      2.times { Array.new(100_000) { (+"s").tap { |s| s.instance_variable_set(:@a, 1) } }; GC.start }
    PREPARE
      30.times { Array.new(100_000) { (+"s").tap { |s| s.instance_variable_set(:@a, 1) } }; GC.start }
    RUBY
  end

  def test_memory_of_living_variables
    program = 'a = Array.new(300_000) { +"" }; GC.start; b = Integer(File.read("/proc/self/statm").split[1]);' \
              'a.each { |s| s.instance_variable_set(:@a, 1) }; puts Integer(File.read("/proc/self/statm").split[1]) - b'
    omit "no /proc" unless File.exist?("/proc/self/statm")
    stocks, ours = [stock, our_miniruby].map { |miniruby| Integer(IO.popen([miniruby, "--disable-all", "-e", program], &:read)) }
    assert_operator(ours, :<, stocks)
  end

  def test_freed_at_exit
    assert_in_out_err([{ "RUBY_FREE_AT_EXIT" => "1" }, "--disable-gems", "-W0", "-e", HEAD + <<~'RUBY'], "", ["ok"], /\A(?:.*Free at exit is experimental.*\n)?\z/)
      KEPT = Array.new(500) { |i| set(make(i), i, 1 + i % 9) }
      Ractor.new { 300.times { |i| set(+"", i) } }.take
      puts "ok"
    RUBY
  end

  # ---- several ------------------------------------------------------

  def test_isolation
    assert_variables(<<~'RUBY')
      shared = Ractor.make_shareable(nil.instance_exec { proc { 1 } })
      shared.instance_variable_set(:@a, 1)
      message = "can not access instance variables of shareable objects from non-main Ractors"
      said = Ractor.new(shared) do |o|
        [-> { o.instance_variable_get(:@a) }, -> { o.instance_variable_set(:@a, 2) }, -> { o.instance_variable_set(:@b, 2) }].map do |ask|
          ask.call
        rescue Ractor::IsolationError => e
          e.message
        end
      end.take
      assert_equal([message] * 3, said)
      assert_equal([[:@a, 1]], seen(shared))
      frozen = Ractor.make_shareable(set([1], 7, 3))
      assert_equal([expected(7, 3)] * 4, Array.new(4) { Ractor.new(frozen) { |o| 100.times { seen(o) }; seen(o) }.take })
    RUBY
  end

  def test_moved_copied_and_forked
    assert_variables(<<~'RUBY')
      echo = Ractor.new { while (o = Ractor.receive); Ractor.yield([seen(o), o], move: true); end }
      [+"s", [1], { 1 => 2 }, S.new(1), +"long" * 100].each_with_index do |o, i|
        echo.send(set(o, i, 4))
        assert_equal([expected(i, 4)] * 2, echo.take.then { |list, copy| [list, seen(copy)] })
        GC.start
        nested = [o]
        echo.send(nested, move: true)
        list, back = echo.take
        assert_equal([[], expected(i, 4)], [list, seen(back[0])])
        assert_raise(Ractor::MovedError) { o.instance_variables }
        assert_equal(expected(i, 4), seen(back[0].clone))
        2.times { GC.start; GC.compact if GC.respond_to?(:compact) }
        assert_equal(expected(i, 4), seen(back[0]))
        GC.verify_internal_consistency
      end
      # refused: nothing has changed
      o = set([Thread.new {}], 3, 2)
      assert_raise(Ractor::Error, TypeError) { echo.send(o, move: true) }
      assert_equal(expected(3, 2), seen(o))
      GC.verify_internal_consistency
      if Process.respond_to?(:fork)
        pid = fork { set(o, 4, 3); GC.start; exit!(seen(o) == expected(4, 3)) }
        assert_predicate(Process.wait2(pid)[1], :success?)
        assert_equal(expected(3, 2), seen(o))
      end
    RUBY
  end

  # Objects of several Ractors share pages; each sweeps, all collect.
  def test_racing_set_and_sweep
    assert_variables(<<~'RUBY')
      ractors = Array.new(4) do |n|
        Ractor.new(n) do |n|
          new = ->(i) { case i % 4 when 0 then +"s#{i}" when 1 then [i] when 2 then { i => i } else S.new(i) end }
          wrong = 0
          kept = []
          150.times do |turn|
            400.times do |i|
              o = new.(i)
              wrong += 1 unless seen(o).empty?
              set(o, i + n, 1 + i % 3)
              wrong += 1 unless seen(o) == expected(i + n, 1 + i % 3)
              kept << [o, i] if i % 50 == turn % 50
            end
            kept.shift(4) if turn > 20
            wrong += kept.count { |o, i| seen(o) != expected(i + n, 1 + i % 3) }
          end
          wrong
        end
      end
      20.times { |i| GC.start; GC.compact if i % 5 == 4 && GC.respond_to?(:compact); sleep 0.02 }
      assert_equal([0] * 4, ractors.map(&:take))
      GC.verify_internal_consistency
    RUBY
  end

  # main gives a shareable Proc variables while others copy it
  def test_racing_set_and_clone
    assert_variables(<<~'RUBY')
      shared = Ractor.make_shareable(nil.instance_exec { proc { 1 } })
      ractors = Array.new(3) { Ractor.new(shared) { |o| 3000.times.count { o.clone.call != 1 } } }
      i = 0
      60.times { shared.instance_variable_set("@v#{i % 40}", i); i += 1; sleep 0.001; shared.remove_instance_variable("@v#{i / 2}") if i % 7 == 0 && shared.instance_variable_defined?("@v#{i / 2}") }
      assert_equal([0] * 3, ractors.map(&:take))
    RUBY
  end
end
