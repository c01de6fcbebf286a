# frozen_string_literal: true
# vm/test_trace_target.rb - vm/trace_target.h: TracePoints of one method, in one Ractor.

require "test/unit"

class TestLockfreeVmTraceTarget < Test::Unit::TestCase
  YJIT = defined?(RubyVM::YJIT.enable) ? [[], %w[--yjit --yjit-call-threshold=2]] : [[]]

  def assert_traces(code)
    YJIT.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, <<~'RUBY' + code, timeout: 60)
        def traced(x)
          y = x + 1
          y * 2
        end
        define_method(:block_traced, &Ractor.make_shareable(nil.instance_exec { proc { |x| x + 1 } }))

        def lines(target = method(:traced), *events, **line)
          seen = []
          events = %i[line call return] if events.empty?
          trace = TracePoint.new(*events) { |tp| seen << tp.event }
          trace.enable(target: target, **line) { traced(1); block_traced(1) }
          seen
        end
      RUBY
    end
  end

  # Stock crashes, or counts what other Ractors run.
  def test_racing_enable_and_call
    assert_traces(<<~'RUBY')
      ractors = 4.times.map do |i|
        Ractor.new(i) { |i| 300.times.map { i.even? ? traced(1) : lines.tally }.uniq }
      end
      mine = 100.times.map { lines.tally }.uniq
      expected = [{ call: 1, line: 2, return: 1 }]
      assert_equal([[4], expected, [4], expected], ractors.map(&:take))
      assert_equal(expected, mine)
    RUBY
  end

  # Not of one method: what Ruby's own methods without a frame are called by is forgotten, whatever else is asked for.
  def test_calls_without_a_frame
    assert_traces(<<~'RUBY')
      def calls(*events) = [].tap { |ids| TracePoint.new(*events) { |tp| ids << tp.method_id }.enable { frameless } }
      def frameless = [5.abs, 5.zero?, 5.class]
      expected = %i[frameless abs zero? class]
      3.times do
        assert_equal(expected, calls(:call) & expected)
        assert_equal(expected, calls(:call, :c_call) & expected)
        calls(:call)
        frameless
      end
    RUBY
  end

  # Stock loses main's events each time.
  def test_collecting_ractor_that_traces
    assert_traces(<<~'RUBY')
      30.times { Ractor.new { TracePoint.new(:call) {}.enable }.take }
      count = 0
      TracePoint.new(:line) { count += 1 }.enable do
        5.times { GC.start }
        count = 0
        traced(1)
        traced(1)
      end
      assert_operator(count, :>=, 4)
    RUBY
  end

  # Stock loses events of either.
  def test_racing_enable_and_enable
    assert_traces(<<~'RUBY')
      ractors = %i[line call].map do |event|
        Ractor.new(event) do |event|
          count = 0
          trace = TracePoint.new(event) { count += 1 }
          3_000.times.count do
            count = 0
            trace.enable
            traced(1)
            traced(1)
            seen = count
            trace.disable
            seen < 2
          end
        end
      end
      assert_equal([0, 0], ractors.map(&:take))
    RUBY
  end

  # What hung on them is of a Ractor that is no more.
  def test_disable_after_ractor
    assert_traces(<<~'RUBY')
      [method(:traced), method(:block_traced)].each do |target|
        name = target.name
        trace = Ractor.new(name) do |name|
          TracePoint.new(:call) {}.tap { |tp| tp.enable(target: Object.instance_method(name)) }
        end.take
        before = lines(target, :call, :return).size
        trace.disable
        assert_equal([2, 2], [before, lines(target, :call, :return).size])
        assert_equal([2] * 20, 20.times.map { Ractor.new(name) { |name| lines(Object.instance_method(name), :call, :return).size }.take })
      end
    RUBY
  end

  def test_racing_enable_and_call_of_block
    assert_traces(<<~'RUBY')
      ractors = 4.times.map { |i| Ractor.new(i) { |i| 300.times.map { i.even? ? block_traced(1) : lines(method(:block_traced), :call, :return) }.uniq } }
      expected = [%i[call return]]
      assert_equal([[2], expected, [2], expected], ractors.map(&:take))
      assert_equal(expected, [lines(method(:block_traced), :call, :return)])
    RUBY
  end

  def test_in_this_ractor_alone
    assert_traces(<<~'RUBY')
      seen = []
      trace = TracePoint.new(:line) { |tp| seen << tp.lineno }
      trace.enable(target: method(:traced))
      assert_equal([4, 4], [Ractor.new { traced(1) }.take, traced(1)])
      inner = Ractor.new { lines }.take
      assert_equal(2, seen.size)
      assert_equal(%i[call line line return], inner)
      traced(1)
      trace.disable
      traced(1)
      assert_equal([4, %i[call line line return]], [seen.size, lines])
    RUBY
  end

  def test_one_disables_while_another_traces
    assert_traces(<<~'RUBY')
      seen = []
      trace = TracePoint.new(:line) { |tp| seen << tp.lineno }
      trace.enable(target: method(:traced))
      20.times { Ractor.new { lines }.take }
      GC.start
      traced(1)
      assert_equal(2, seen.size)
      trace.disable
      line = method(:traced).source_location[1] + 1
      assert_equal([[:line], %i[line line]], [lines(method(:traced), :line, target_line: line), lines(method(:traced), :line)])
    RUBY
  end

  # What one Ractor traces in all that it runs stays traced when another begins or ends to trace.
  def test_other_ractors_do_not_end_a_trace
    assert_traces(<<~'RUBY')
      seen = 0
      trace = TracePoint.new(:c_call) { seen += 1 }
      trace.enable
      Ractor.new { TracePoint.new(:call) {}.enable { traced(1) } }.take
      GC.start
      before = seen
      3.times { "x".swapcase }
      trace.disable
      assert_operator(seen - before, :>=, 3)
    RUBY
  end

  # Stock crashes at its end: the hooks of a Ractor are freed under a lock that no thread is left to take.
  def test_hooks_of_ractors_are_freed_as_the_vm_ends
    ["1", "TracePoint.new(:line) {}.enable", "Thread.new { sleep }"].each do |code|
      assert_in_out_err([{ "RUBY_FREE_AT_EXIT" => "1" }, "-W0", "--disable-gems"], <<~RUBY, %w[ended], /\A.*Free at exit is experimental.*\Z/)
        Ractor.new { #{code}; 1 }.take
        Ractor.new { Ractor.receive }
        puts "ended"
      RUBY
    end
  end
end
