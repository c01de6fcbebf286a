# frozen_string_literal: true
# gc/test_finalize.rb - who calls finalizers, and closes files that were left open, with several Ractors.

require "test/unit"
require "tmpdir"

class TestLockfreeFinalize < Test::Unit::TestCase
  # Any Ractor called them before: beside main, or to IsolationError, which is told with -w alone.
  def test_main_calls_what_it_has_defined
    assert_ractor(<<~'RUBY', timeout: 120)
      calls = Hash.new(0)
      module Mine; def self.call(id) = @calls[Ractor.current] += 1; end
      Mine.instance_variable_set(:@calls, calls)
      define_singleton_method(:leave) do |depth|
        next leave(depth - 1) if depth > 0

        50.times { ObjectSpace.define_finalizer(Object.new, proc { calls[Ractor.current] += 1 }) }
        50.times { ObjectSpace.define_finalizer(Object.new, Mine) }
        nil
      end
      ractors = Array.new(3) { Ractor.new { 1_000_000.times { |i| GC.start if i % 100_000 == 0; [i] } } }
      200.times { leave(20); Thread.pass }
      ractors.each(&:take)
      GC.start
      assert_equal([Ractor.current], calls.keys)
      assert_include(19_000..20_000, calls[Ractor.current])
    RUBY
  end

  # What other Ractors find is called as soon as main makes objects, and does not wake it.
  def test_main_looks_when_it_makes_objects
    assert_ractor(<<~'RUBY', timeout: 120)
      called = []
      define_singleton_method(:leave) do |depth|
        next leave(depth - 1) if depth > 0

        100.times { ObjectSpace.define_finalizer(Object.new, proc { called << 1 }) }
        nil
      end
      ractor = Ractor.new { Ractor.receive; 5.times { GC.start }; Ractor.main.send(:collected); Ractor.receive }
      GC.disable # main finds nothing itself
      3.times { leave(20) }
      ractor.send(:go)
      assert_equal(:collected, Ractor.receive)
      mutex, condition = Mutex.new, ConditionVariable.new
      waker = Thread.new { sleep 0.1; mutex.synchronize { condition.signal }; :woken }
      mutex.synchronize { condition.wait(mutex) }
      assert_equal(:woken, waker.value)
      10_000.times { Object.new }
      assert_include(280..300, called.size)
      ractor.send(:end).take
    RUBY
  end

  # They went on to leave objects while one of them called finalizers, without end; main was asleep for ever when it was the one.
  def test_ractors_that_leave_objects_finalize_them
    code = <<~'RUBY'
      FINALIZER = Ractor.make_shareable(nil.instance_eval { proc { 20.times { Thread.pass } } })
      class Finalized; def self.make = ObjectSpace.define_finalizer(Object.new, FINALIZER); end
      ractors = Array.new(2) { Ractor.new { loop { Finalized.make } } }
      20.times { sleep 0.01; GC.start(full_mark: false) }
      left = Array.new(10) { sleep 0.1; ObjectSpace.count_objects[:T_ZOMBIE] || 0 }
      puts left.min < 100_000
    RUBY
    assert_in_out_err(%w[-W:no-experimental --disable-gems], code, %w[true], [], timeout: 60)
  end

  # What main has defined and any Ractor may call does not wait for main; a copy that another Ractor makes has only such ones.
  def test_shareable_finalizers_do_not_wait_for_main
    assert_ractor(<<~'RUBY', timeout: 120)
      shareable = Ractor.make_shareable(nil.instance_eval { proc { |id| Ractor.main.send(Ractor.current) } })
      define_singleton_method(:leave) do |depth|
        depth > 0 ? leave(depth - 1) : (10.times { ObjectSpace.define_finalizer(Object.new, shareable) })
      end
      leave(20)
      GC.disable
      ractor = Ractor.new { GC.start; Ractor.receive }
      assert_equal(ractor, Ractor.receive)
      ractor.send(:end)

      module Mine; def self.call(id) = nil; end
      object = Object.new
      ObjectSpace.define_finalizer(object, Mine)
      ObjectSpace.define_finalizer(object, shareable)
      ractor = Ractor.new { o = Ractor.receive; 200_000.times { o.dup }; GC.start; ObjectSpace.count_objects[:T_ZOMBIE] || 0 }
      ractor.send(object)
      assert_operator(ractor.take, :<, 10_000)
      GC.enable
    RUBY
  end

  def test_racing_files_left_open
    Dir.mktmpdir do |folder|
      assert_ractor(<<~RUBY, timeout: 120)
        FOLDER = #{folder.dump}.freeze
        module Finalizer; def self.call(id) = nil; end
        ractors = Array.new(4) do |r|
          Ractor.new(r) do |r|
            2_000.times do |i|
              File.open("\#{FOLDER}/\#{r}", "ab:utf-16le") << "line\\n"
              ObjectSpace.define_finalizer(File.open(File::NULL), Finalizer) if i % 10 == 0
            end
          end
        end
        ractors.each(&:take)
        GC.start
      RUBY
      assert_equal([2_000 * "line\n".size * 2] * 4, Dir.children(folder).map { |name| File.size("#{folder}/#{name}") })
    end
  end

  def test_racing_finalize_and_fork
    omit("no fork") unless Process.respond_to?(:fork)
    assert_ractor(<<~'RUBY', timeout: 120)
      FINALIZER = Ractor.make_shareable(nil.instance_eval { proc { Thread.pass } })
      class Finalized; def self.make = 100.times { ObjectSpace.define_finalizer(Object.new, FINALIZER) }; end
      2.times { Ractor.new { loop { Finalized.make } } }
      ended = Array.new(20) do
        Process.wait(fork { ObjectSpace.define_finalizer(+"", proc { exit!(7) }); GC.start })
        $?.exitstatus
      end
      assert_equal([7] * 20, ended)
    RUBY
  end
end
