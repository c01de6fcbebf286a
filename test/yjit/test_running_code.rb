# frozen_string_literal: true
# yjit/test_running_code.rb - yjit/running_code.rs: code that is made and patched while other Ractors run it.

require "test/unit"

class TestLockfreeYjitRunningCode < Test::Unit::TestCase
  # Methods of branches of each kind, all of which are first come to while four Ractors run them. A body is given an Integer.
  RUN = <<~'RUBY'
    $VERBOSE = nil
    class Pair
      attr_reader :x
      def initialize(x) = @x = x
      def each = (yield @x; yield @x + 1)
    end

    BODIES = [
      "v.odd? ? v + 1 : v - 1",
      "v % 3 == 0 ? (v.zero? ? 0 : v * 2) : v % 3 == 1 ? -v : v.to_s.size",
      "x = v > 3 ? nil : v; x&.succ || 7",
      "i = s = 0; while i < v; s += i; i += 1; s -= 1 if i == 3; end; s",
      "[v, v.to_s, :s, nil, 1.5][v % 5].then { |e| case e when Integer then e + 1 when String then e * 2 when nil then 0 else e.to_s end }",
      "s = 0; Pair.new(v).each { |e| s += e.even? ? e : next }; s",
      "begin; raise(ArgumentError) if v == 2; v; rescue ArgumentError; -2; end",
      "optional%d(*[v, 2, 3].first(v % 4))",
      "(v < 3 ? v : v.to_f) + 1",
      "Pair.new(v).x * 3 - (v <=> 2)",
    ].map(&:freeze).freeze

    def define(number)
      BODIES.each_with_index do |body, i|
        body = body.gsub("%d", number.to_s)
        Object.class_eval <<~CODE
          def optional#{number}(a = 10, b = a + 1, c = b * 2) = a + b + c
          def body#{i}_#{number}(v) = (#{body})
          def call#{i}_#{number}(v)
            v.times { |k| optional#{number}(k) }
            body#{i}_#{number}(v).to_s + body#{i}_#{number}(v + 1).inspect
          end
        CODE
      end
    end

    def check(number, rounds = 3) = BODIES.each_index.map { |i| rounds.times.map { 6.times.map { |v| __send__("call#{i}_#{number}", v) } } }

    # What four Ractors get of the methods of each number, all at once, while the block runs in main.
    def racing(numbers)
      expected = (define(1000); Ractor.make_shareable(check(1000)))
      numbers.each { |number| define(number) }
      ractors = 4.times.map do |n|
        Ractor.new(numbers, expected, n) do |numbers, expected, n|
          numbers.each_slice(4).flat_map { |some| some.rotate(n) }.count { |number| check(number) != expected }
        end
      end
      yield(ractors) if block_given?
      assert_equal([0] * 4, ractors.map(&:take))
    end
  RUBY

  def assert_run(code)
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    [2, 1].each do |threshold|
      assert_separately(%W[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=#{threshold}], RUN + code, timeout: 120)
    end
  end

  # Pages that are left writable for the next block are so until a collection; with one Ractor, never.
  def test_code_is_writable_until_a_collection
    omit "no /proc/self/maps" unless File.readable?("/proc/self/maps")
    assert_run <<~'RUBY'
      def writable_code = File.foreach("/proc/self/maps").count { |line| line.split[1].start_with?("rwx") }
      define(9)
      define(10)
      check(10)
      assert_equal(0, writable_code)

      GC.disable
      values, left = Ractor.new { [check(9), writable_code] }.take
      GC.enable
      sleep 0.001 until Ractor.count == 1
      2.times { GC.start; writable_code } # is compiled
      GC.start
      assert_equal(0, writable_code)
      assert_equal(check(10), values)
      assert_operator(left, :>, 0) if RUBY_PLATFORM.start_with?("x86_64-linux")
    RUBY
  end

  def test_racing_stub_hits_and_running = assert_run("racing((0...80).to_a)")

  def test_racing_compile_and_redefined_operator
    assert_run <<~'RUBY'
      racing((0...60).to_a) do
        [[Integer, :+], [Integer, :*], [String, :+], [Integer, :<]].each_with_index do |(klass, op), i|
          sleep 0.02
          klass.class_eval("alias original#{i} #{op}; def #{op}(other) = original#{i}(other)")
        end
      end
      class Integer; def +(other) = 42; end
      assert_equal([42] * 3, 3.times.map { body0_0(1) })
    RUBY
  end

  def test_racing_compile_and_redefined_method
    assert_run <<~'RUBY'
      racing((0...60).to_a) do |ractors|
        200.times { |i| Pair.class_eval("def x = @x + #{i} - #{i}") }
        Pair.prepend(Module.new { def x = super })
      end
      class Pair; def x = 100; end
      assert_equal(299, body9_0(3))
    RUBY
  end

  def test_racing_compile_and_trace_point
    assert_run <<~'RUBY'
      calls = 0
      racing((0...40).to_a) do
        10.times { TracePoint.new(:call, :c_return, :line) { calls += 1 }.enable { sleep 0.002; define(1001) } }
      end
      assert_operator(calls, :>, 0)
    RUBY
  end

  def test_racing_compile_and_collection
    assert_run <<~'RUBY'
      racing((0...40).to_a) do
        8.times { GC.start; GC.compact if GC.respond_to?(:compact); sleep 0.005 }
        GC.stress = true
        sleep 0.05
        GC.stress = false
      end
    RUBY
  end

  def test_racing_compile_and_constant
    assert_run <<~'RUBY'
      module Count; end
      100.times do |i|
        Object.class_eval("def constant#{i}(v) = Count::C#{i} + v")
      end
      ractors = 4.times.map do
        Ractor.new do
          100.times.count do |i|
            wrong = false
            50.times { sum = (__send__("constant#{i}", 1) rescue i + 1); wrong ||= sum != i + 1 }
            wrong
          end
        end
      end
      100.times { |i| Count.const_set("C#{i}", i) }
      assert_equal([0] * 4, ractors.map(&:take))
      assert_equal((1..100).to_a, 100.times.map { |i| __send__("constant#{i}", 1) })
    RUBY
  end

  # Two threads of a Ractor, and the only one, and those that end meanwhile.
  def test_racing_compile_and_starting_and_ending
    assert_run <<~'RUBY'
      racing((0...40).to_a) do
        100.times { |i| Ractor.new(i) { |i| i.times.sum } }
        4.times.map { Thread.new { check(0) } }.each(&:join)
      end
      assert_equal(check(1000), check(1))
    RUBY
  end

  # What is made while others run is patched without stopping them.
  def test_patches_in_one_word
    omit "stops the others here" unless RUBY_PLATFORM.start_with?("x86_64-linux")
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=2 --yjit-stats=quiet], RUN + <<~'RUBY', timeout: 120)
      racing((0...80).to_a)
      stats = RubyVM::YJIT.runtime_stats
      omit "no counters" unless stats.key?(:stopped_to_patch)
      assert_operator(stats[:compiled_branch_count], :>, 5_000)
      assert_operator(stats[:stopped_to_patch], :<, stats[:compiled_branch_count] / 20)
    RUBY
  end

  # Nobody is stopped for what no code depends on: all but the second did so at each turn.
  def test_stops_for_what_is_compiled
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W0 --disable-gems --yjit --yjit-call-threshold=2], <<~'RUBY', timeout: 60)
      def stops = RubyVM::Lockfree.waits[:ractors].sum { |ractor| ractor[:states][:stopping][:count] }

      GC.disable
      RubyVM::Lockfree.waits_enable
      K = Class.new
      turns = {
        method: "K.class_eval { def number = 1 }; K.new.number; K.remove_method(:number)",
        other_method: "K.class_eval { def never_called = 1 }",
        constant: "K.const_set(:NUMBER, 1); K::NUMBER; K.send(:remove_const, :NUMBER)",
        other_constant: "K.const_set(:NEVER_READ, 1); K.send(:remove_const, :NEVER_READ)",
        singleton_class: "s = String.new; def s.number = 1; s.number",
      }
      counts = turns.transform_values do |turn|
        Ractor.new(turn) do |turn|
          run = eval("proc { |n| n.times { #{turn} } }")
          run.call(200) # what is redefined is given up
          before = stops
          run.call(1_000)
          stops - before
        end.take
      end
      assert_operator(counts.values.max, :<, 100, counts.inspect)
    RUBY
  end
end
