# frozen_string_literal: true
# benchmark/test_map.rb - benchmark/map, map.rb: the rows, and that what fails is a row too.

require "test/unit"
require "json"
require "tmpdir"

class TestLockfreeMap < Test::Unit::TestCase
  BENCHMARK = File.expand_path("../../benchmark", __dir__)

  # Rows that fail on purpose, in Ractors or at once; each process that runs one adds a letter to a file.
  BAD_ROWS = <<~'RUBY'
    group "bad"
    mark = "File.write(#{File.join(File.dirname(path), 'processes').dump}, 'x', mode: 'a')"
    row "good", "i + 1", once: mark
    row "crashes", "Process.kill(:KILL, Process.pid) unless Ractor.main?", once: mark
    row "hangs", "sleep unless Ractor.main?", once: mark
    row "wrong", "Ractor.main?", once: mark
    row "wrong once", "i == 7 && Ractor.main?", once: mark
    row "denied", "LIST", once: "LIST = []; #{mark}"
    row "raises", 'raise "no"', once: mark
    row "leaves", "exit!(3)", once: mark
    row "crashes at the end", "i", once: "at_exit { Process.kill(:KILL, Process.pid) }; #{mark}"
  RUBY
  EXPECTED = {
    "good" => nil, "crashes" => "2 crash", "hangs" => "2 hang", "wrong" => "2 wrong", "wrong once" => "2 wrong",
    "denied" => "2 Ractor::IsolationError", "raises" => "0 RuntimeError", "leaves" => "0 error: exit 3", "crashes at the end" => "8 crash",
  }.freeze

  def run_ruby(*arguments)
    out = IO.popen([EnvUtil.rubybin, *arguments, err: %i[child out]], &:read)
    [out, $?]
  end

  def test_rows_give_the_same_twice
    omit("no fork") unless Process.respond_to?(:fork)
    out, status = run_ruby("-W:no-experimental", File.join(BENCHMARK, "map.rb"), "--check")
    assert_predicate(status, :success?, out)
    assert_operator(out[/(\d+) rows, 0 of them wrong/, 1].to_i, :>=, 200, out)
  end

  def test_check_finds_bad_rows
    omit("no fork") unless Process.respond_to?(:fork)
    in_folder do |folder|
      out, status = run_ruby(File.join(BENCHMARK, "map.rb"), "--check", "raises|good", File.join(folder, "rows.rb"))
      assert_not_predicate(status, :success?)
      assert_match(/1 of them wrong/, out)
    end
  end

  def test_what_fails_is_a_row
    omit("no fork") unless Process.respond_to?(:fork)
    in_folder do |folder|
      out, status = map(folder)
      assert_equal(1, status.exitstatus, out)
      rows = results(folder)
      EXPECTED.each do |name, expected|
        workers, word = expected&.split(" ", 2)
        first = rows.find { |row| row["base"] == name && row["error"] }
        assert_equal([workers.to_i, word], first ? [first["workers"], first["error"][0, word.to_s.size]] : [0, nil], name)
        assert_match(/^\| #{name} \|.*\| #{word.to_s[/(?:.*::)?(\w+)/, 1] || '\w+'} \|$/, out)
        serial = rows.find { |row| row["case"] == name && row["workers"].zero? }
        assert_equal(workers == "0", serial["samples"].empty?, name) if word
      end
      # Five stages; of three the processor is known, too.
      assert_equal([1] * 8, rows.select { |row| row["base"] == "good" }.map { |row| row["samples"].size })

      # A second run starts none of them; one that is to, does.
      processes = File.size(File.join(folder, "processes"))
      again, = map(folder)
      assert_equal(processes, File.size(File.join(folder, "processes")))
      assert_equal(rows, results(folder))
      assert_equal(table(out), table(again))
      out, status = map(folder, "--rows", "good", "--again")
      assert_predicate(status, :success?, out)
      assert_equal(processes + 1, File.size(File.join(folder, "processes")))
      assert_equal([0, 1, 1], %w[denied raises leaves].map { |name| map(folder, "--rows", name).last.exitstatus })
    end
  end

  # What was measured and fails now is named.
  def test_compare_names_what_fails
    omit("no fork") unless Process.respond_to?(:fork)
    in_folder do |folder|
      map(folder, "--rows", "good")
      path = File.join(folder, "results.json")
      data = JSON.parse(File.read(path))
      data["rows"].last.update("samples" => [], "error" => "crash: signal SEGV")
      File.write(new = File.join(folder, "new.json"), JSON.generate(data))
      out, status = run_ruby(File.join(BENCHMARK, "compare"), path, new)
      assert_predicate(status, :success?, out)
      assert_match(/^fails now: 1\n.*good, 8 workers.*crash: signal SEGV/, out)
    end
  end

  # No process and no Ractor is started, and what fails is a row as well.
  def test_one_thread
    in_folder do |folder|
      out, status = map(folder, "--one-thread", "--rows", "good|wrong once|raises")
      assert_equal(1, status.exitstatus, out) # of raises
      rows = results(folder).reject { |row| row["error"] }
      assert_equal(["good", "wrong once"], rows.map { |row| row["base"] }.uniq.sort)
      assert_equal([0], rows.map { |row| row["workers"] }.uniq)
      assert_match(/^\| good \|[^|]*\| \d+\S* \|$/, out)
      assert_match(/^\| raises \|[^|]*\| RuntimeError \|$/, out)
    end
  end

  private

  def in_folder
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "rows.rb"), BAD_ROWS)
      yield folder
    end
  end

  # Of the ruby that runs the tests, and no other.
  def map(folder, *options)
    built = File.dirname(EnvUtil.rubybin)
    run_ruby(File.join(BENCHMARK, "map"), File.dirname(built), folder, "--binaries", File.basename(built), "--quick", "--jits",
             "interpreter", "--limit", "5", "--no-picture", "--file", File.join(folder, "rows.rb"), *options)
  end

  def results(folder) = JSON.parse(File.read(File.join(folder, "results.json")))["rows"]
  def table(out) = out.lines.grep(/^\|/)
end
