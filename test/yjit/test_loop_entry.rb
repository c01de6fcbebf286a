# frozen_string_literal: true
# yjit/test_loop_entry.rb - vm/loop_entry.h, yjit/loop_entry.rs: a loop enters compiled code, and nothing changes.

require "test/unit"
require "open3"

class TestLockfreeYJITLoopEntry < Test::Unit::TestCase
  PROGRAM = File.join(__dir__, "../programs", "loop_entry.rb")

  def setup
    omit "no YJIT here" unless defined?(RubyVM::YJIT)
  end

  def run_ruby(*arguments)
    out, err, status = Open3.capture3(EnvUtil.rubybin, "--disable-gems", *arguments)
    assert_predicate status, :success?, (err + out)[-4000..] || err + out
    out
  end

  def test_same_as_interpreted
    expected = run_ruby("--disable-yjit", PROGRAM)
    [
      ["--yjit-loop-threshold=1"],
      ["--yjit-loop-threshold=1", "--yjit-call-threshold=1"],
      ["--yjit-loop-threshold=7", "--yjit-call-threshold=5"],
      ["--yjit-loop-threshold=40", "--yjit-call-threshold=1000"],
      ["--yjit-disable-loop-entry", "--yjit-call-threshold=1"],
    ].each do |options|
      assert_equal expected, run_ruby("--yjit", *options, PROGRAM), options.join(" ")
    end
  end

  LOOPS = {
    "while" => "i = 0; i += 1 while i < n",
    "until" => "i = 0; i += 1 until i == n",
    "begin while" => "i = 0; begin i += 1 end while i < n",
    "loop" => "i = 0; loop { i += 1; break if i == n }",
    "times" => "s = 0; n.times { |i| s += i }",
    "each" => "s = 0; Array.new(n, 1).each { |i| s += i }",
    "map" => "Array.new(n, 1).map { |i| i + 1 }",
    "select" => "Array.new(n, 1).select { |i| i > 1 }",
    "downto" => "s = 0; n.downto(1) { |i| s += i }",
    "yield" => "def y(n) = (i = 0; (yield i; i += 1) while i < n); s = 0; y(n) { |i| s += i }",
    "in a block" => "[1].each_slice(1) { i = 0; i += 1 while i < n }",
    "in a thread" => "Thread.new { i = 0; i += 1 while i < n }.join",
    "in a fiber" => "Fiber.new { i = 0; i += 1 while i < n }.resume",
    "in a Ractor" => "Ractor.new(n) { |n| i = 0; i += 1 while i < n }.take",
    "times in a Ractor" => "Ractor.new(n) { |n| n.times { |i| i + 1 } }.take",
  }

  # [instructions that the interpreter executed, loop entries compiled, loops entered] for a program with n turns
  def counts(program, *options)
    run_ruby("--yjit", "--yjit-stats=quiet", *options, "-e", <<~RUBY).split.map(&:to_i)
      $VERBOSE = nil
      stats = -> { RubyVM::YJIT.runtime_stats.values_at(:vm_insns_count, :compiled_loop_entry, :loop_entry_count) }
      n = 200_000
      before = stats.()
      #{program}
      puts stats.().zip(before).map { |a, b| a - b }
    RUBY
  end

  def test_every_form_is_entered
    LOOPS.each do |form, program|
      insns, compiled, entered = counts(program)
      assert_operator insns, :<, 100_000, form
      assert_operator compiled, :>, 0, form
      assert_operator entered, :>, 0, form
    end
  end

  def test_disabled
    LOOPS.each do |form, program|
      _, compiled, entered = counts(program, "--yjit-disable-loop-entry")
      assert_equal [0, 0], [compiled, entered], form
    end
    insns, = counts(LOOPS["while"], "--yjit-disable-loop-entry")
    assert_operator insns, :>, 200_000
  end

  def test_threshold
    assert_equal [0, 0], counts("i = 0; i += 1 while i < 500", "--yjit-loop-threshold=501")[1..]
    assert_equal [1, 1], counts("i = 0; i += 1 while i < 500", "--yjit-loop-threshold=500")[1..]
  end

  # A method that all call is one loop for each block: the second use of `times` is as good as the first.
  def test_each_block_is_counted
    insns, compiled, = counts("40.times { n.times { } }; n.times { |i| i + 1 }")
    assert_operator insns, :<, 100_000
    assert_operator compiled, :>=, 2
  end

  # Code of `each` for any block, which calls of many blocks have got it, is left when one block is hot.
  def test_code_for_any_block_is_left
    out = run_ruby("--yjit", "--yjit-stats=quiet", "-e", <<~RUBY)
      40.times { eval("[1].each { }") }
      dynamic = -> { RubyVM::YJIT.runtime_stats(:num_send_dynamic) }
      before = dynamic.()
      Array.new(200_000, 1).each { |x| x }
      p dynamic.() - before, RubyVM::YJIT.runtime_stats(:compiled_loop_entry)
    RUBY
    calls, compiled = out.split.map(&:to_i)
    assert_operator calls, :<, 10_000
    assert_equal 1, compiled
  end

  # A yield that YJIT does not make a jump of calls the VM, and stays in the code for the one block.
  def test_code_for_one_block_is_not_left
    _, compiled, entered = counts("Array.new(n) { [1] }.each { |a, (b, c), k: 1, **r| a }")
    assert_operator compiled, :>, 0
    assert_operator entered, :<, 1000
  end

  # Processor time of a method of +loops+ loops, 20 turns each, 400,000 turns in all: the least of three.
  def time_of_loops(loops)
    run_ruby("--yjit", "--yjit-call-threshold=1000000", "--yjit-loop-threshold=1000000", "-e", <<~RUBY).to_f
      eval("def m\n" + "i = 0; i += 1 while i < 20\n" * #{loops} + "end")
      puts Array.new(3) {
        before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        #{20_000 / loops}.times { m }
        Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before
      }.min
    RUBY
  end

  # A turn takes the same time in a method of many loops. (A list of 2,000 took 70 times as long as one of 20.)
  def test_many_loops
    assert_operator time_of_loops(2_000), :<, 10 * time_of_loops(20)
  end

  # A loop at whose head is what YJIT does not compile is refused once, and no code is thrown away for it.
  def test_refused
    out = run_ruby("--yjit", "--yjit-code-gc", "--yjit-call-threshold=100000", "-e", <<~'RUBY')
      def refused(n)
        i = 0
        begin
          /a#{n}/o
          i += 1
          RubyVM::YJIT.code_gc if i % 2000 == 0 # the next epoch
        end while i < n
      end
      stats = -> { RubyVM::YJIT.runtime_stats.values_at(:code_gc_count, :compiled_block_count) }
      before = stats.()
      refused(20_000)
      p stats.().zip(before).map { |a, b| a - b }
    RUBY
    collections, blocks = eval(out)
    assert_equal 10, collections # those that were asked for
    assert_equal 1, blocks
  end

  def test_bad_threshold
    _, err, status = Open3.capture3(EnvUtil.rubybin, "--disable-gems", "--yjit", "--yjit-loop-threshold=x", "-e", "")
    assert_not_predicate status, :success?
    assert_match(/loop-threshold=x/, err)
  end

  def test_log
    out = run_ruby("--yjit", "--yjit-log=quiet", "-e", <<~RUBY)
      i = 0
      i += 1 while i < 10_000
      puts RubyVM::YJIT.log.map(&:last)
    RUBY
    assert_match(/^<main>@-e:2 \(index: \d+, loop entry\)$/, out)
  end

  # Code that is thrown away while the loop runs is made anew.
  def test_thrown_away
    program = <<~RUBY
      def a = 1
      i = 0
      while i < n
        a
        TracePoint.new(:class) { }.enable { 1 } if i == 50_000
        i += 1
      end
    RUBY
    insns, compiled, = counts(program)
    assert_equal 2, compiled
    assert_operator insns, :<, 100_000
  end

  # YJIT learns of an environment that escaped before it was enabled.
  def test_enabled_late
    out = run_ruby("--yjit-disable", "--yjit-loop-threshold=1", "-e", <<~RUBY)
      def count(n)
        i = 0
        b = binding
        RubyVM::YJIT.enable
        while i < n
          i += 1
          b.local_variable_set(:i, 900) if i == 100
        end
        [i, b.local_variable_get(:i)]
      end
      p count(1000)
    RUBY
    assert_equal "[1000, 1000]\n", out
  end

  def test_freed_with_the_code
    out = run_ruby("--yjit", "--yjit-loop-threshold=1", "-e", <<~RUBY)
      500.times do |n|
        eval("i = 0; while i < 5; 3.times { |j| i += j }; i += 1; end; [i, 1].each { |x| x }")
        GC.start if n % 50 == 0
      end
      p :done
    RUBY
    assert_equal ":done\n", out
  end
end
