# frozen_string_literal: true
# test_argf_ractor.rb - argf_ractor.h: Kernel#gets in several Ractors.

require "test/unit"
require "tmpdir"

class TestLockfreeArgfRactor < Test::Unit::TestCase
  READ_ALL = <<~'RUBY'
    ractors = Array.new(8) { Ractor.new { all = []; while (line = gets); all << line; end; all } }
    lines = ractors.flat_map(&:take)
  RUBY

  # What +code+ prints, with the files +names+ as ARGV.
  def output(code, *names)
    options = %w[-W:no-experimental --disable-gems]
    printed, _, status = EnvUtil.invoke_ruby([*options, "-e", code, *names], "standard input\n", true, :merge_to_stdout, timeout: 60)
    assert_predicate(status, :success?, printed)
    printed
  end

  # Files of +count+ lines each, all of eight bytes and no two alike.
  def files(number, count)
    Dir.mktmpdir do |folder|
      yield(Array.new(number) do |i|
        "#{folder}/#{i}".tap { |name| File.write(name, Array.new(count) { |j| format("%07d\n", i * count + j) }.join) }
      end)
    end
  end

  def test_racing_gets_and_gets_of_files
    files(40, 1000) do |names|
      assert_equal("[40000, true]\n", output(READ_ALL + <<~'RUBY', *names))
        p [lines.size, lines.sort == Array.new(40_000) { |i| format("%07d\n", i) }]
      RUBY
    end
  end

  def test_racing_gets_and_gets_of_stdin
    files(1, 102_400) do |(name)|
      assert_equal("[102400, true]\n", output("$stdin.reopen(#{name.dump})\n" + READ_ALL + <<~'RUBY'))
        p [lines.size, lines.sort == Array.new(102_400) { |i| format("%07d\n", i) }]
      RUBY
    end
  end

  def test_racing_gets_and_gets_of_another_file
    files(2, 20_000) do |names|
      assert_equal("[20000, 20000, 20000]\n", output(<<~'RUBY', *names))
        ractor = Ractor.new(ARGV.pop) { |name| File.open(name) { |f| n = 0; n += 1 while f.gets; f.lineno } }
        n = 0
        n += 1 while gets && $. == n + 1
        p [n, $., ractor.take]
      RUBY
    end
  end

  def test_racing_gets_and_kill
    assert_equal("[]\n", output(<<~'RUBY'))
      reader, writer = IO.pipe
      $stdin.reopen(reader)
      ractors = Array.new(6) do
        Ractor.new do
          Array.new(200) do |i|
            thread = Thread.new { gets }
            Thread.pass
            thread.kill if i.odd?
            thread.value
          end
        end
      end
      input = Thread.new { (1..).each { |n| writer.printf("%07d\n", n); sleep 0.0001 if n % 10 == 0 } }
      p ractors.flat_map(&:take).compact.grep_v(/\A\d{7}\n\z/)
      input.kill
      writer.puts "of the child"
      Process.wait(fork { gets })
    RUBY
  end

  def test_one_argf_for_all
    files(2, 2) do |names|
      assert_equal(<<~'TEXT', output(<<~'RUBY', *names))
        "0000000\n"
        ["0000001\n", "0000002\n"]
        "0000003\n"
        [nil, EOFError, []]
        []
        "standard input\n"
      TEXT
        p gets, Ractor.new { [gets, readline] }.take, gets
        p Ractor.new { [gets, (readline rescue $!.class), readlines] }.take
        p ARGV, Ractor.new { gets }.take
      RUBY
    end
  end

  def test_names_that_are_no_paths
    files(1, 1) do |(name)|
      assert_equal("Errno::ENOENT\nTypeError\n0000000\n", output(<<~'RUBY', "/nowhere/to/be/found", name))
        p Ractor.new { gets rescue $!.class }.take
        NAME = ARGV.pop
        ARGV << 1 << Object.new.tap { |name| def name.to_path = NAME }
        p Ractor.new { gets rescue $!.class }.take
        puts Ractor.new { gets }.take
      RUBY
    end
  end

  def test_edit_in_place
    files(2, 3) do |names|
      output(<<~'RUBY', *names)
        $-i = ".old"
        Ractor.new { while (line = gets); print line.sub("0", "x"); end }.take
      RUBY
      assert_equal(["x000000\nx000001\nx000002\n", "0000000\n0000001\n0000002\n"],
                   [File.read(names[0]), File.read("#{names[0]}.old")])
    end
  end
end
