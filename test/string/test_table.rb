# frozen_string_literal: true
# string/test_table.rb - string/table.h: Strings and Symbols found, inserted, purged and moved while the table grows and shrinks.

require "test/unit"
require_relative "../assert_ractors"
require_relative "../minirubies"

class TestLockfreeStringTable < Test::Unit::TestCase
  include LockfreeAssertRactors
  include LockfreeMinirubies

  # +ractors+ run +body+, the source of a block that is given its number, until +main+ has been run; each returns an Array of
  # what is wrong.
  RACE = STATUS + <<~'RUBY'
    def race(body, ractors: 4, seconds: 2)
      all = Array.new(ractors) do |i|
        Ractor.new(i, body) do |i, body|
          work = eval("proc { |i, n| #{body} }")
          wrong = []
          n = 0
          until Ractor.receive == :stop
            200.times { answer = work.call(i, n += 1) and wrong << answer }
            Ractor.yield(n)
          end
          wrong.first(3)
        end
      end
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
        all.each { |ractor| ractor.send(:go) }
        yield if block_given?
        all.each(&:take)
      end
      all.each { |ractor| ractor.send(:stop) }
      assert_equal([[]] * ractors, all.map(&:take))
    end
    KEPT = Ractor.make_shareable(Array.new(2000) { |i| "kept_#{i}".dedup })
    NAMES = Ractor.make_shareable(Array.new(2000) { |i| "name kept #{i}".to_sym })
    FIND = 'k = n % 2000; (-"kept_#{k}").equal?(KEPT[k]) && "name kept #{k}".to_sym.equal?(NAMES[k]) ? nil : k'
  RUBY

  def assert_race(code)
    assert_ractors(RACE + code)
  end

  def test_racing_insert_and_insert
    assert_ractors(<<~'RUBY')
      ractors = Array.new(4) do
        Ractor.new do
          Ractor.receive
          Array.new(20_000) { |n| [-"met by all #{n}", "met by all #{n}".to_sym] }
        end
      end
      ractors.each { |ractor| ractor.send(:go) }
      first, *others = ractors.map(&:take)
      others.each do |other|
        assert_equal([], first.zip(other).reject { |(s, sym), (t, other_sym)| s.equal?(t) && sym.equal?(other_sym) }.first(3))
      end
      assert_equal([], first.reject { |s, sym| (-s.dup).equal?(s) && s.to_sym.equal?(sym) && sym.name == s }.first(3))
    RUBY
  end

  def test_racing_find_and_purge
    assert_race(<<~'RUBY')
      race(FIND + '|| (s = "dies #{i} #{n}".dedup; s == "dies #{i} #{n}" ? nil : s)') do
        1000.times { |n| "dies in main #{n}".dedup; "dies in main #{n}".to_sym }
        GC.start(full_mark: rand(2) == 0, immediate_sweep: rand(2) == 0)
      end
    RUBY
  end

  # The same contents die and are wanted again.
  def test_racing_insert_and_purge
    assert_race(<<~'RUBY')
      race('k = n % 50; s = "again #{k}".dedup; t = "again #{k}".dedup; y = "again #{k}".to_sym; ' \
           's.equal?(t) && s == "again #{k}" && y.equal?("again #{k}".to_sym) && y.name == s ? nil : [s, t, y]') do
        GC.start(full_mark: rand(2) == 0, immediate_sweep: rand(2) == 0)
      end
    RUBY
  end

  def test_racing_find_and_grow
    assert_race(<<~'RUBY')
      n = 0
      all = []
      race(FIND, ractors: 3) do
        all = [] if all.size > 400_000
        10_000.times { all << "grow #{n += 1}".dedup << "grow #{n}".to_sym }
      end
      assert_operator(n, :>, 20_000)
      assert_equal([], all.each_slice(2).reject { |s, y| s == y.name && (-s.dup).equal?(s) && s.to_sym.equal?(y) }.first(3))
    RUBY
  end

  def test_racing_find_and_compact
    omit "no compaction" unless GC.respond_to?(:compact)
    assert_race(<<~'RUBY')
      race(FIND + '|| (s = "dies #{i} #{n}".dedup; s == "dies #{i} #{n}" ? nil : s)', ractors: 3) { GC.compact }
      GC.verify_compaction_references(expand_heap: true, toward: :empty) if GC.respond_to?(:verify_compaction_references)
      assert_equal([], KEPT.reject { |s| (-s.dup).equal?(s) })
      assert_equal([], NAMES.reject { |y| y.name.to_sym.equal?(y) })
    RUBY
  end

  def test_racing_insert_and_fork
    omit "no fork" unless Process.respond_to?(:fork)
    assert_race(<<~'RUBY')
      race('"before fork #{i} #{n}".dedup; "before fork #{i} #{n}".to_sym; ' + FIND, ractors: 3) do
        pid = fork do
          GC.start
          ok = KEPT.all? { |s| (-s.dup).equal?(s) } && NAMES.all? { |y| y.to_s.to_sym.equal?(y) }
          ok &&= Array.new(50_000) { |n| "in the child #{n}".dedup }.all? { |s| (-s.dup).equal?(s) }
          exit!(ok ? 0 : 1)
        end
        assert_equal(0, status(pid))
      end
    RUBY
  end

  def test_racing_find_and_verify
    assert_race(<<~'RUBY')
      race(FIND + '|| ("dies #{n}".dedup; "dies #{n}".to_sym; nil)', ractors: 2) { GC.verify_internal_consistency; GC.start(immediate_sweep: false) }
    RUBY
  end

  # In stock as well: with one Ractor.
  def test_memory_of_what_dies_comes_back
    %w[-"gone\ #{i}" "gone\ #{i}".to_sym].each do |make|
      assert_no_memory_leak(%w[--disable-gems], <<~PREPARE, <<~RUBY, limit: 1.5, rss: true)
        def make(from) = Array.new(50_000) { |i| i += from; #{make} }.size
        3.times { |i| make(i * 50_000); GC.start }
      PREPARE
        8.times { |i| make(i * 50_000); GC.start }
      RUBY
    end
  end

  def test_memory_of_what_dies_in_ractors_comes_back
    assert_no_memory_leak(%w[-W:no-experimental --disable-gems], <<~'PREPARE', <<~'RUBY', limit: 1.8, rss: true)
      def run(times) = Array.new(8) { |r| Ractor.new(r, times) { |r, times| times.times { |i| "gone #{r} #{i}".dedup; "gone #{r} #{i}".to_sym } } }.each(&:take)
      run(20_000); GC.start; run(20_000); GC.start
    PREPARE
      run(125_000)
      3.times { GC.start }
    RUBY
  end

  # The array of a million is not kept when they have died.
  def test_shrink
    assert_separately(%w[--disable-gems], <<~'RUBY')
      all = Array.new(1_000_000) { |i| "many #{i}".dedup }
      assert_equal([], all.each_slice(997).map(&:first).reject { |s| (-s.dup).equal?(s) })
      all = all.first(10)
      3.times { GC.start }
      assert_equal([], all.reject { |s| (-s.dup).equal?(s) })
      all.concat(Array.new(100_000) { |i| "more #{i}".dedup })
      assert_equal([], all.reject { |s| (-s.dup).equal?(s) }.first(3))
    RUBY
  end

  def test_free_at_exit
    assert_in_out_err([{ "RUBY_FREE_AT_EXIT" => "1" }, "--disable-gems", "-e",
                       '100_000.times { |i| "s#{i}".dedup; "y#{i}".to_sym }; puts :done'], "", ["done"], /\A[^\n]*Free at exit is experimental[^\n]*\Z/)
  end
end
