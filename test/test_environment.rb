# frozen_string_literal: true
# test_environment.rb - environment.h: variables of the environment, read while others set them.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeEnvironment < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Without the lock, a crash in some runs.
  def test_racing_set_and_expand_home
    assert_ractors(<<~'RUBY')
      ENV["HOME"] = home = Dir.pwd
      others = Array.new(3) { Ractor.new { Array.new(50_000) { File.expand_path("~") }.tally } }
      60.times do
        200.times { |i| ENV["LOCKFREE#{i}"] = "x" * 30 }
        200.times { |i| ENV.delete("LOCKFREE#{i}") }
      end
      assert_equal([{ home => 50_000 }] * 3, others.map(&:take))
    RUBY
  end

  # A Ractor that works out a Time reads TZ while it is deleted.
  def test_racing_delete_zone_and_local_time
    assert_ractors(<<~'RUBY')
      ENV["TZ"] = "UTC"
      others = Array.new(3) { Ractor.new { Time.at(0).hour until ENV["LOCKFREE_STOP"] } }
      offsets = Array.new(20_000) do
        ENV["TZ"] = "Asia/Tokyo"
        set = Time.now.utc_offset
        ENV.delete("TZ")
        [set, Time.now.utc_offset]
      end
      ENV["LOCKFREE_STOP"] = "1"
      others.each(&:take)
      assert_equal([[32_400, 0]], offsets.uniq)
    RUBY
  end

  # What is deleted before it moves a variable down, past who looks for it.  Without the second look at the number: not found.
  def test_racing_delete_others_and_get
    assert_ractors(<<~'RUBY')
      ENV["ROUND"] = "-1"
      others = Array.new(3) do
        Ractor.new do
          missed = []
          found = 0
          until (round = ENV["ROUND"]) == "end"
            next if round == "-1"
            value, there = ENV["LAST#{round}"], ENV.key?("LAST#{round}")
            next found += 1 if value == round && there
            missed << [round, value, there] if ENV["ROUND"] == round
          end
          [missed, found > 0]
        end
      end
      15.times do |round|
        2_000.times { |i| ENV["FIRST#{i}"] = "x" }
        ENV["LAST#{round}"] = round.to_s
        ENV["ROUND"] = round.to_s
        2_000.times { |i| ENV.delete("FIRST#{i}") }
        ENV.delete("LAST#{round - 1}")
      end
      ENV["ROUND"] = "end"
      assert_equal([[[], true]] * 3, others.map(&:take))
    RUBY
  end

  # Each variable that is added may need a larger array; the values are those of one moment.
  def test_racing_add_and_fetch
    assert_ractors(<<~'RUBY')
      ENV["FIXED"] = "fixed"
      ENV["TURN"] = "a" * 50
      others = Array.new(3) do
        Ractor.new do
          seen = Hash.new(0)
          seen[[ENV.fetch("FIXED"), ENV.fetch("TURN"), ENV["NONE"]]] += 1 until ENV["STOP"]
          seen.keys
        end
      end
      5_000.times do |i|
        ENV["ADDED#{i}"] = i.to_s
        ENV["TURN"] = (i.odd? ? "a" : "b") * 50
      end
      sums = Array.new(2) { Ractor.new { 5_000.times.sum { |i| ENV["ADDED#{i}"].to_i } } }
      assert_equal([12_497_500] * 2, sums.map(&:take))
      assert_equal(12_497_500, 5_000.times.sum { |i| ENV.delete("ADDED#{i}").to_i })
      ENV["STOP"] = "1"
      others.each { |other| assert_empty(other.take - [["fixed", "a" * 50, nil], ["fixed", "b" * 50, nil]]) }
    RUBY
  end

  # What a walk of all variables finds was there at one moment: each with its own value, FIRST never without LAST.
  def test_racing_set_and_walk
    assert_ractors(<<~'RUBY')
      ENV.replace("FIXED" => "fixed")
      others = Array.new(3) do |i|
        Ractor.new(i) do |i|
          walks = [
            -> { ENV.to_h },
            -> { ENV.to_a.to_h },
            -> { ENV.each_pair.to_a.to_h },
            -> { eval(ENV.inspect) },
            -> { ENV.keys.to_h { |name| [name, name.downcase] } },
            -> { ENV.values.to_h { |value| [value.upcase, value] } },
          ]
          wrong = []
          turns = 0
          until ENV["STOP"]
            seen = walks[(turns + i) % 6].call
            stop = seen.delete("STOP")
            wrong << seen if seen["FIXED"] != "fixed" || seen.any? { |name, value| name.downcase != value }
            wrong << seen if seen.key?("FIRST") && !seen.key?("LAST")
            wrong << stop if ENV.size < 1 || ENV.empty? || !ENV.value?("fixed") || ENV.key("fixed") != "FIXED" || !ENV.rassoc("fixed")
            turns += 1
          end
          [wrong.first(3), turns > 0]
        end
      end
      300.times do |round|
        ENV["LAST"] = "last"
        ENV["FIRST"] = "first"
        30.times { |i| ENV["ADDED#{round * 30 + i}"] = "added#{round * 30 + i}" }
        ENV.delete("FIRST")
        ENV.delete("LAST")
        30.times { |i| ENV.delete("ADDED#{round * 30 + i}") }
      end
      ENV["STOP"] = "stop"
      assert_equal([[[], true]] * 3, others.map(&:take))
    RUBY
  end

  # An extension tells nobody that it sets, adds or deletes a variable.
  def test_variable_that_ruby_does_not_set
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      begin
        require "fiddle"
      rescue LoadError
        omit "no fiddle here"
      end
      function = ->(name, *types) { Fiddle::Function.new(Fiddle.dlopen(nil)[name], types, Fiddle::TYPE_INT) }
      setenv = function["setenv", Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT]
      unsetenv = function["unsetenv", Fiddle::TYPE_VOIDP]
      putenv = function["putenv", Fiddle::TYPE_VOIDP]
      clearenv = function["clearenv"]
      other = Ractor.new { loop { Ractor.yield(ENV[Ractor.receive]) } }
      look = ->(name) { other.send(name); [ENV[name], ENV.key?(name), other.take] }

      ENV["RUBYS"] = "0"
      assert_equal(["0", true, "0"], look["RUBYS"])
      100.times do |i|
        setenv.call("NEW#{i}", "x#{i}", 1)
        assert_equal(["x#{i}", true, "x#{i}"], look["NEW#{i}"])
        setenv.call("RUBYS", "y#{i}", 1)
        assert_equal(["y#{i}", true, "y#{i}"], look["RUBYS"])
        ENV["RUBYS"] = "z#{i}"
        assert_equal(["z#{i}", true, "z#{i}"], look["RUBYS"])
        unsetenv.call("NEW#{i - 1}")
        assert_equal([nil, false, nil], look["NEW#{i - 1}"])
      end
      put = Fiddle::Pointer["PUT=1"]
      putenv.call(put)
      assert_equal(["1", true, "1"], look["PUT"])
      put[4] = "2".ord
      assert_equal(["2", true, "2"], look["PUT"])
      clearenv.call
      assert_equal([nil, false, nil], look["RUBYS"])
      ENV["RUBYS"] = "1"
      assert_equal(["1", true, "1"], look["RUBYS"])
      assert_equal({ "RUBYS" => "1" }, ENV.to_h)
    RUBY
  end

  # What C, children and one Ractor see is what several see.
  def test_names_and_children
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      ENV["A"] = "b=c"
      ENV["EMPTY"] = ""
      names = ["A", "EMPTY", "A=b", "", "=", "EMPT", "EMPTYY"]
      alone = names.map { |name| [ENV[name], ENV.key?(name)] }
      several = Ractor.new(names) { |names| names.map { |name| [ENV[name], ENV.key?(name)] } }.take
      assert_equal(alone, several)
      assert_equal(alone, names.map { |name| [ENV[name], ENV.key?(name)] })
      Ractor.new { ENV["NEW"] = "new"; ENV.delete("A") }.take
      assert_equal("new, ", `echo "$NEW, $A"`.chomp)
      read, write = IO.pipe
      pid = fork do
        ENV["CHILD"] = "child"
        write.print([ENV["NEW"], ENV["A"], ENV["CHILD"], Ractor.new { [ENV["CHILD"], ENV["A"]] }.take].inspect)
        exit!
      end
      Process.wait(pid)
      write.close
      assert_equal(["new", nil, "child", ["child", nil]].inspect, read.read)
    RUBY
  end
end
