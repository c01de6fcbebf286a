# frozen_string_literal: true
# ractor/test_native_threads.rb - ractor/native_threads.h: how many Ractors run at once.

require "test/unit"

class TestLockfreeRactorNativeThreads < Test::Unit::TestCase
  # Ractors that compute, and wait for nothing, until main has heard of the last of them.
  PROGRAM = <<~'RUBY'
    module Signal
      @stop = false
      singleton_class.attr_accessor :stop
    end
    ractors = Array.new(ARGV[0].to_i) do |i|
      Ractor.new(i) do |i|
        Ractor.yield i
        nil until Signal.stop
        -i
      end
    end
    print ractors.map(&:take)
    Signal.stop = true
    print ractors.map(&:take)
  RUBY

  def test_eight_ractors_compute_at_once
    assert_ractors_compute_at_once(8, nil)
  end

  def test_native_threads_of_the_environment
    assert_ractors_compute_at_once(1, "1")
    assert_ractors_compute_at_once(3, "3")
    assert_ractors_compute_at_once(12, "12")
  end

  # They take turns, with one thread, or with several.
  def test_more_ractors_that_compute_than_native_threads
    assert_ractors_compute_at_once(12, nil)
    assert_ractors_compute_at_once(5, "2")
    assert_ractors_compute_at_once(4, "2", "RUBY_MN_THREADS" => "1")
    assert_ractors_compute_at_once(5, "2", program: PROGRAM.sub("Ractor.yield i", "3.times { Thread.new { nil until Signal.stop } }; Ractor.yield i"))
  end

  def test_more_ractors_than_native_threads
    [nil, "1", "2"].each do |max_cpu|
      program = "print Array.new(20) { |i| Ractor.new(i) { |i| 1000.times { i += 1 }; i } }.sum(&:take)"
      assert_equal("20190", run_ruby(max_cpu, "-e", program))
    end
  end

  # The Ractors, which were in the queue already, ran while they were freed.
  def test_the_system_makes_no_thread_more
    omit "no limit of the address space" unless Process.const_defined?(:RLIMIT_AS) && File.exist?("/proc/self/status")
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      def limit(more)
        size = File.read("/proc/self/status")[/^VmSize:\s+(\d+)/, 1].to_i * 1024
        Process.setrlimit(:AS, more ? size + more : Process.getrlimit(:AS)[1], Process.getrlimit(:AS)[1])
      end
      Array.new(200_000) { +"" }.clear # the heap need not grow
      GC.start
      limit(5_000_000) # the stacks of Ractors lie in 512 MB
      assert_raise(ThreadError) { Ractor.new { 1 } }
      limit(nil)
      Ractor.new { 1 }.take
      20.times do
        limit(600_000) # a stack takes a megabyte
        ractors = Array.new(8) { Ractor.new { Array.new(100) { +"b" }.size } }
        assert_equal([100] * 8, ractors.map(&:take))
        limit(nil)
      end
      assert_equal([1] * 20, Array.new(20) { Ractor.new { 1 } }.map(&:take))
    RUBY
  end

  # Those counted which there was no memory for; when all that there may be were, no Ractor ran any more.  What could not begin
  # was kept for ever.
  def test_no_memory_for_a_native_thread
    omit "no limit of the address space" unless Process.const_defined?(:RLIMIT_AS) && File.exist?("/proc/self/status")
    program = <<~'RUBY'
      limit = File.read("/proc/self/status")[/^VmSize:\s+(\d+)/, 1].to_i * 1024 + (500 << 20)
      unlimited = Process.getrlimit(:AS)[1]
      begin
        Process.setrlimit(:AS, limit += 100_000, unlimited)
        Ractor.new { 1 }
      rescue ThreadError => error
        retry unless error.message.include?(Errno::EAGAIN.new.message) # now the stacks of Ractors have room, 512 MB, a native thread has not
      end
      strings = []
      begin
        loop { strings << "x" * 64_000 }
      rescue NoMemoryError
      end
      errors = Array.new(20) { Ractor.new { 1 } && nil rescue $!.class }
      Process.setrlimit(:AS, unlimited, unlimited)
      GC.start
      print errors.uniq, ObjectSpace.each_object(Ractor).count < 10, Array.new(10) { Ractor.new { 1 } }.sum(&:take)
    RUBY
    assert_equal("[ThreadError]true10", run_ruby(nil, "--disable-gems", "-e", program))
  end

  # All native threads are in the kernel, waiting for a file with a time, when a Ractor becomes ready.
  def test_ractor_becomes_ready_when_no_native_thread_is_left
    assert_ractor(<<~'RUBY', timeout: 60)
      pipes = Array.new(6) { IO.pipe }.each { |pair| pair.each { |io| io.autoclose = false } }
      60.times do |i|
        some = pipes.first(1 + i % 6)
        ractors = some.map do |reader, _|
          Ractor.new(reader.fileno) do |number|
            waiter = Thread.new { IO.for_fd(number, autoclose: false).wait_readable(50) }
            Ractor.receive
            Ractor.yield(:answer)
            waiter.join
            :end
          end
        end
        sleep 0.01 * (i % 5)
        ractors.each { |ractor| ractor.send(:go) }
        assert_equal([:answer], ractors.map(&:take).uniq)
        some.each { |_, writer| writer.write("x") }
        assert_equal([:end], ractors.map(&:take).uniq)
        some.each { |reader, _| reader.read_nonblock(10) }
      end
    RUBY
  end

  private

  def assert_ractors_compute_at_once(count, max_cpu, program: PROGRAM, **environment)
    numbers = [*0...count]
    assert_equal("#{numbers}#{numbers.map(&:-@)}", run_ruby(max_cpu, "-e", program, count.to_s, environment: environment))
  end

  def run_ruby(max_cpu, *arguments, environment: {})
    out, err, status = EnvUtil.invoke_ruby([{ "RUBY_MAX_CPU" => max_cpu, **environment }, "-W0", *arguments], "", true, true, timeout: 30)
    assert(status.success?, "RUBY_MAX_CPU=#{max_cpu.inspect}: #{status.inspect}\n#{err}")
    out
  end
end
