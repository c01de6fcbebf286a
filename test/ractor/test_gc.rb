# frozen_string_literal: true
# ractor/test_gc.rb - what the garbage collector keeps for all Ractors.

require "test/unit"

class TestLockfreeRactorGC < Test::Unit::TestCase
  def test_racing_define_finalizer_and_define_finalizer
    assert_ractor(<<~'RUBY', timeout: 120)
      class Finalizer
        def call(id) = nil
      end
      FINALIZER = Finalizer.new.freeze
      ractors = Array.new(4) do
        Ractor.new do
          10_000.times do |i|
            o = Object.new
            ObjectSpace.define_finalizer(o, FINALIZER)
            ObjectSpace.undefine_finalizer(o) if i.even?
            o.clone if i % 3 == 0
          end
          :done
        end
      end
      assert_equal([:done] * 4, ractors.map(&:take))
    RUBY
  end

  # One Ractor collects in the middle of a walk that had been lent the VM lock, while another was about to stop all to collect:
  # it went on to mark in the middle of that one's sweep.  Six of ten runs.
  def test_racing_collect_and_collect_in_a_walk
    environment = { "RUBY_GC_MALLOC_LIMIT" => "30000", "RUBY_GC_MALLOC_LIMIT_MAX" => "30000" }
    8.times do
      assert_separately([environment, "-W0", "--disable-gems"], <<~'RUBY', timeout: 60)
        argument = [:a]
        400.times do
          chain = [[1].each + [2]] # not shareable, which a walk of what it refers to finds out
          ractor = Ractor.new(argument) do
            Thread.current.report_on_exception = false
            Ractor.receive
            Array.new(100) { +"w" }
          end
          assert_raise(Ractor::Error) { ractor.send(chain) }
          ractor.close_incoming
        end
      RUBY
    end
  end

  def test_racing_define_finalizer_on_one_class
    assert_in_out_err([], <<~'RUBY', Array.new(3, "called"), [], timeout: 60)
      Warning[:experimental] = false
      class Finalizer < Struct.new(:n)
        def call(id) = $stdout.write("called\n")
      end
      FINALIZERS = Ractor.make_shareable(Array.new(3) { |n| Finalizer.new(n) })
      class Shared; end
      ractors = Array.new(3) do |n|
        Ractor.new(n) { |i| 1000.times { ObjectSpace.define_finalizer(Shared, FINALIZERS[i]) } }
      end
      ractors.each(&:take)
    RUBY
  end

  # Stock loses about one in a hundred, and up to one in ten.
  def test_racing_new_and_new_are_counted
    assert_ractor(<<~'RUBY', timeout: 60)
      before = GC.stat(:total_allocated_objects)
      Array.new(4) { Ractor.new { 100_000.times { Object.new }; nil } }.each(&:take)
      allocated = GC.stat(:total_allocated_objects) - before
      assert_operator(allocated, :>=, 400_000)
      assert_operator(allocated, :<, 402_000)
    RUBY
  end

  # What is freed may be what the last thread of a Ractor is about to leave.
  def test_racing_free_at_exit_and_end_of_threads
    [{}, {"RUBY_MN_THREADS" => "1"}].each do |environment|
      20.times do
        _, err, status = EnvUtil.invoke_ruby([{"RUBY_FREE_AT_EXIT" => "1", **environment}, "-W0", "--disable-gems", "-e", <<~'RUBY'], "", true, true)
          trap(:INT, :DEFAULT) # ignored where the tests run in the background
          ractors = Array.new(8) { Ractor.new { Thread.new { 1 }.join; Ractor.receive } }
          begin
            Thread.new { sleep 0.01; Process.kill(:INT, $$) }
            ractors[0].take
          rescue Interrupt
            exit 3
          end
        RUBY
        assert_equal(3, status.exitstatus, err)
      end
    end
  end

  # Stock: no major GC is to be, and then is.
  def test_racing_start_and_start_keep_the_configuration
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      GC.config(rgengc_allow_full_mark: false)
      Array.new(4) { Ractor.new { 100.times { GC.start(immediate_sweep: false) } } }.each(&:take)
      assert_equal(false, GC.config[:rgengc_allow_full_mark])
    RUBY
  end

  def test_counts_agree
    assert_ractor(<<~'RUBY', timeout: 60)
      ractor = Ractor.new { Array.new(1000) { Object.new }; Ractor.yield(:ready); Ractor.receive }
      ractor.take
      GC.disable
      GC.start
      stat, heaps = GC.stat, GC.stat_heap.values
      assert_in_delta(stat[:total_allocated_objects], heaps.sum { |h| h[:total_allocated_objects] }, 200)
      assert_in_delta(stat[:heap_live_slots], stat[:total_allocated_objects] - stat[:total_freed_objects], 200)
      GC.enable
      ractor.send(nil)
    RUBY
  end

  # With several Ractors a step of the lazy sweep is longer.
  def test_lazy_sweep_keeps_what_lives_and_frees_the_rest
    assert_ractor(<<~'RUBY', timeout: 120)
      ractors = Array.new(3) do |number|
        Ractor.new(number) do |n|
          kept = Array.new(30) { |i| Array.new(20_000) { |j| "#{n} #{i} #{j}" * 3 }.values_at(0, 19_999) }
          kept.each_with_index.all? { |(first, last), i| first == "#{n} #{i} 0" * 3 && last == "#{n} #{i} 19999" * 3 }
        end
      end
      assert_equal([true] * 3, ractors.map(&:take))
      GC.verify_internal_consistency
      GC.start
      assert_operator(GC.stat(:heap_live_slots), :<, 200_000)
      assert_operator(GC.stat(:total_freed_objects), :>, 1_500_000)
    RUBY
  end

  # An object whose finalizer runs is out of the table, or says that it is in: GC.verify_internal_consistency looks.
  def test_racing_finalize_and_verify
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      verifiers = Array.new(2) { Ractor.new { 40.times { GC.verify_internal_consistency; 100.times { "x" * 50 } }; :done } }
      finalizer = proc {}
      60.times do
        300.times { ObjectSpace.define_finalizer(Object.new, finalizer) }
        GC.start
      end
      assert_equal([:done] * 2, verifiers.map(&:take))
    RUBY
  end

  # libyaml has the address of what it writes for.
  def test_racing_compact_and_write_yaml
    omit "no compaction here" unless GC.respond_to?(:compact)
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      require "psych"
      ractors = Array.new(3) do
        Ractor.new { Array.new(3000) { Psych.dump({ "a" => [1, []], "b" => "x: y" }) rescue $!.message }.uniq }
      end
      30.times { GC.compact }
      assert_equal([["---\na:\n- 1\n- []\nb: 'x: y'\n"]] * 3, ractors.map(&:take))
    RUBY
  end

  # main's hooks of new objects; what lay in a new object's slot before was marked.
  def test_racing_new_and_trace_allocations
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], <<~'RUBY', timeout: 60)
      ObjectSpace.trace_object_allocations_start
      ractors = Array.new(8) do |n|
        Ractor.new(n) { |n| 150.times { |i| 20.times { TracePoint.new(:class) {} }; GC.start if i % 50 == n }; :done }
      end
      assert_equal([:done] * 8, ractors.map(&:take))
    RUBY
  end

  # Those hooks switch the GC off and on.
  def test_racing_disable_and_trace_allocations
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], <<~'RUBY', timeout: 60)
      ractor = Ractor.new { Array.new(100_000) { GC.enable; GC.disable; GC.disable }.tally }
      ObjectSpace.trace_object_allocations_start
      100.times { Object.new } until ractor.inspect.include?("terminated")
      ObjectSpace.trace_object_allocations_stop
      assert_equal({ true => 100_000 }, ractor.take)
    RUBY
  end

  # What another Ractor's sweep freed is no longer recorded where something else has come to lie.
  def test_records_of_what_another_ractor_sweeps
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], <<~'RUBY', timeout: 60)
      ObjectSpace.trace_object_allocations_start
      3.times do
        300_000.times { Object.new }
        Ractor.new { GC.start }.take
      end
      objects = Ractor.new { Ractor.make_shareable(Array.new(200_000) { Object.new.freeze }) }.take
      assert_equal(0, objects.count { |object| ObjectSpace.allocation_sourceline(object) })
    RUBY
  end

  # Who asks whether a Time is shareable, or what a thing refers to, walks with a function that all have in one place.
  def test_racing_walk_of_the_roots_and_shareable
    assert_separately(%w[-W:no-experimental --disable-gems -robjspace], <<~'RUBY', timeout: 60)
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 4
      ractors = Array.new(3) do
        Ractor.new(stop) do |stop|
          while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
            strings = Array.new(50) { |i| i.to_s * 20 }
            wrong = Array.new(200) { Ractor.shareable?(Time.now.freeze) }.count(false)
            wrong += strings.each_with_index.count { |string, i| string != i.to_s * 20 }
            break wrong if wrong > 0
          end
        end
      end
      ObjectSpace.reachable_objects_from_root while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
      assert_equal([nil] * 3, ractors.map(&:take))
    RUBY
  end

  # Ractors sweep beside others that run, and while the system lets them wait: the time is the processor's, and their own.
  def test_time_is_the_processors
    assert_separately(%w[-W:no-experimental], <<~'RUBY', timeout: 60)
      def times = [Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond), GC.stat(:time), GC.total_time / 1e6]
      before = times
      Array.new(8) { Ractor.new { 20_000.times { |k| Regexp.new("a#{k % 3}") } } }.each(&:take)
      processor, stat, total = times.zip(before).map { |now, was| now - was }
      assert_operator(stat, :<=, processor * 0.8)
      assert_operator(total, :<=, processor * 0.8)
      assert_operator(total, :>, 0)
    RUBY
  end
end
