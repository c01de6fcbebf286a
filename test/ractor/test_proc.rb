# frozen_string_literal: true
# ractor/test_proc.rb - ractor/proc.c: which Procs without Ruby code may be shared.

require "test/unit"

class TestLockfreeRactorProc < Test::Unit::TestCase
  def assert_not_made(proc)
    assert_raise(Ractor::IsolationError) { Ractor.make_shareable(proc) }
    assert_false(Ractor.shareable?(proc))
  end

  def assert_made(expected, proc, *arguments)
    assert_same(proc, Ractor.make_shareable(proc))
    assert_equal(expected, Ractor.new(proc, arguments) { |pr, args| pr.call(*args) }.take)
  end

  def setup
    @experimental, Warning[:experimental] = Warning[:experimental], false
  end

  def teardown
    Warning[:experimental] = @experimental
  end

  # Bug #19765
  def test_method
    assert_not_made((+"receiver").method(:<<).to_proc)
    assert_made(3, 1.method(:+).to_proc, 2)
    assert_made("ab", "a".method(:+).to_proc, "b")
    assert_made("C", :upcase.to_proc, "c")
  end

  # A method that takes `...` keeps what it took before its variables.
  def test_variable_beside_forwarded_arguments
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      def callee(*, **) = yield
      def forward(...)
        one, five = 1, :five
        callee(...)
        Ractor.make_shareable(Ractor.instance_eval { proc { [one, five] } })
      end
      procs = [forward {}, forward(1, 2, 3) {}, forward(1, key: 2) {}]
      assert_equal([[1, :five]] * 3, procs.map(&:call))
      assert_equal([[1, :five]] * 3, procs.map { |pr| Ractor.new(pr) { |pr| pr.call }.take })
    RUBY
  end

  def test_composed
    shareable = nil.instance_eval { proc { |x| x + 1 } }
    assert_not_made(shareable >> proc { |x| x })
    assert_not_made(1.method(:+) << (+"receiver").method(:<<))
    assert_made(6, shareable >> 4.method(:+), 1)
  end

  def test_curried
    sum = nil.instance_eval { lambda { |x, y| [x, y] } }
    assert_not_made(sum.curry[+"passed"])
    assert_made([1, 2], sum.curry[1], 2)
  end

  def test_block_of_c_code
    block = nil
    each = Object.new.tap { |o| o.define_singleton_method(:each) { |&b| block = b; b.call(1) } }
    each.extend(Enumerable)
    each.to_a
    assert_not_made(block)
  end

  # In stock main and the Ractor write to the Array at the same time: a corrupt heap.
  def test_racing_finalizer_and_what_it_captures
    ractor = Ractor.new do
      captured = []
      [proc { captured << 1 }, captured.method(:push), proc { |id| captured.size if id == 0 }].map do |callable|
        ObjectSpace.define_finalizer(Object.new, callable)
        :defined
      rescue Ractor::IsolationError, ArgumentError => e
        e.class
      end
    end
    assert_equal([Ractor::IsolationError] * 3, ractor.take)
  end

  # The only Procs that a Ractor shares.
  def test_finalizer_that_is_shareable
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      FINALIZER = nil.instance_exec { Ractor.make_shareable(proc { |id| id }) }
      assert_equal(FINALIZER, ObjectSpace.define_finalizer(Object.new, FINALIZER)[1])
      assert_equal(FINALIZER, Ractor.new { ObjectSpace.define_finalizer(Object.new, FINALIZER)[1] }.take)
      assert_in_out_err(["-W0"], <<~'TEXT', ["IntegerInteger"], [])
        FINALIZER = nil.instance_exec { Ractor.make_shareable(proc { |id| print id.class }) }
        ObjectSpace.define_finalizer(Object.new, FINALIZER)
        Ractor.new { ObjectSpace.define_finalizer(Object.new, FINALIZER) }.take
      TEXT
    RUBY
  end

  def test_racing_at_exit_and_what_it_captures
    ractor = Ractor.new do
      captured = []
      at_exit { captured << 1 }
    rescue Ractor::IsolationError => e
      e.class
    end
    assert_equal(Ractor::IsolationError, ractor.take)
  end

  def test_main_calls_what_is_shareable
    assert_in_out_err([], <<~'RUBY', %w[exit:path finalizer:path callable], [], timeout: 60)
      Warning[:experimental] = false
      class Kept; end
      class Callable
        def call(_) = puts("callable")
      end
      Ractor.new("path".freeze) do |path|
        at_exit { puts "exit:#{path}" }
        ObjectSpace.define_finalizer(Kept, proc { puts "finalizer:#{path}" })
        ObjectSpace.define_finalizer(Kept, Callable.new.freeze)
      end.take
    RUBY
  end

  # A shareable Proc is not frozen.
  def test_racing_clone_and_instance_variable_set
    assert_separately(%w[-W0 --disable-gems], <<~'RUBY', timeout: 60)
      SHARED = nil.instance_eval { Ractor.make_shareable(proc { 1 }) }
      SHARED.instance_variable_set(:@a0, "x")
      ractors = 3.times.map { Ractor.new { 60_000.times { SHARED.clone }; :done } }
      20.times do
        200.times { |i| SHARED.instance_variable_set("@a#{i}", "x") }
        200.times { |i| SHARED.remove_instance_variable("@a#{i}") }
      end
      assert_equal([:done] * 3, ractors.map(&:take))
    RUBY
  end
end
