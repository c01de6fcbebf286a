# frozen_string_literal: true
# ractor/test_main_constant.rb - ractor/main_constant.h: a Ractor has its own of what Ruby's libraries keep in constants. What
# it lets them do: test_libraries.rb; and of the defaults that main changes: ext/test_ssl_defaults.rb.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeRactorMainConstant < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Gem::Requirement stands for any library: what is put there is copied.
  COMMON = <<~'RUBY'
    require "rubygems"
    Library = Gem::Requirement
    def library(name, value) = Library.const_set(name, value)
    def refused(code) = assert_equal("Ractor::IsolationError", Ractor.new(code) { |code| eval(code) rescue $!.class.name }.take)
  RUBY

  def test_each_ractor_has_its_own
    assert_ractors(COMMON + <<~'RUBY')
      library(:TABLE, { "a" => [+"x"] })
      library(:ALIAS, [Library::TABLE, 0])
      ractors = Array.new(4) do |i|
        Ractor.new(i) do |i|
          same = [Library::TABLE.equal?(Library::TABLE), Library::ALIAS[0].equal?(Library.const_get(:TABLE))]
          Library::TABLE["a"] << i
          Library::ALIAS[1] += i
          [same, Library::TABLE, Library::ALIAS[1], Library::TABLE.frozen?, Library::TABLE["a"][0].frozen?]
        end
      end
      ractors.each_with_index { |ractor, i| assert_equal([[true, true], { "a" => ["x", i] }, i, false, false], ractor.take) }
      assert_equal([{ "a" => ["x"] }, 0, false], [Library::TABLE, Library::ALIAS[1], Library::TABLE.frozen?])
    RUBY
  end

  # As it is when the Ractor names it first; another object there is another constant.
  def test_when_it_is_copied
    assert_ractors(COMMON + <<~'RUBY')
      library(:TABLE, [1])
      early = Ractor.new do
        Ractor.yield(Library::TABLE)
        Ractor.receive
        Library::TABLE
      end
      assert_equal([1], early.take)
      Library::TABLE << 2
      early << :again
      assert_equal([[1], [1, 2]], [early.take, Ractor.new { Library::TABLE }.take])
      $VERBOSE = nil
      library(:TABLE, [3])
      assert_equal([3], Ractor.new { Library::TABLE }.take)
    RUBY
  end

  # One site, in main and in Ractors: an inline cache is everybody's.
  def test_racing_one_site
    assert_ractors(COMMON + <<~'RUBY')
      library(:TABLE, [+"main"])
      MAINS = Library::TABLE.object_id
      def table = Library::TABLE
      def tables = (1..2000).map { table.object_id }.uniq
      ids = []
      3.times do
        ractors = Array.new(4) { Ractor.new { tables } }
        assert_equal([MAINS], tables)
        ids.concat(ractors.map(&:take))
        assert_equal([MAINS], tables)
      end
      assert_equal([1], ids.map(&:size).uniq)
      assert_equal(13, [MAINS, *ids.flatten].uniq.size)
    RUBY
  end

  def test_what_is_copied
    assert_ractors(COMMON + <<~'RUBY')
      class Thing
        attr_accessor :name, :other
        def ==(thing) = thing.class == self.class && thing.name == name
      end
      Pair = Struct.new(:left, :right)
      class Words < Array; attr_accessor :language; end
      words = Words.new([+"w"])
      words.language = +"en"
      thing = Thing.new
      thing.name = +"t"
      thing.other = thing
      text = +"é".encode("ISO-8859-1")
      text.instance_variable_set(:@note, [1])
      twice = nil.instance_eval { proc { |x| x * 2 } }
      library(:ALL, [+"a", text, [[]], { 1 => { nil => +"v" }, /r/ => 2.5, Thing => [:s] }, thing, Pair.new(thing, +"r"), words,
                     Regexp.new(+"a.c", Regexp::IGNORECASE), Thread::Mutex.new, twice, Hash.new(5).compare_by_identity, Hash.new { |hash, key| hash[key] = key * 2 },
                     { [+"k", thing] => [1] }])
      got = Ractor.new do
        all = Library::ALL
        string, latin, empty, hash, object, pair, array, regexp, mutex, proc, identity, default, keys = all
        [[string, latin.encoding.to_s, latin.encode("UTF-8"), latin.instance_variable_get(:@note), empty, hash.values_at(1, /r/, Thing)],
         [object.name, object.other.equal?(object), pair.left.equal?(object), pair.right], [array.class.name, array.to_a, array.language],
         [regexp.match?("xABCx"), regexp.frozen?], mutex.synchronize { 1 }, proc.call(4), [identity.compare_by_identity?, identity[0], default[4], default],
         keys.keys[0][1].equal?(object), keys[["k", object]]]
      end.take
      assert_equal([["a", "ISO-8859-1", "é", [1], [[]], [{ nil => "v" }, 2.5, [:s]]], ["t", true, true, "r"], ["Words", ["w"], "en"],
                    [true, false], 1, 8, [true, 5, 8, { 4 => 8 }], true, [1]], got)
      assert_false(twice.frozen?)
    RUBY
  end

  def test_what_is_not
    assert_ractors(COMMON + <<~'RUBY')
      mine = +"m"
      single = +"s"
      def single.shout = upcase
      { CAPTURES: proc { mine }, SELF: [Object.new.instance_eval { proc { self } }], METHOD: method(:p).to_proc, SINGLE: [single],
        DATA: $stdout, DEEP: 100.times.inject([]) { |inner, _| [inner] },
        MANY: Array.new(11_000) { +"e" }, LONG: [+"x" * 3_000_000],
        WIDE: Array.new(30_000, 1), NONE: [Regexp.allocate], LOCK: lock = [method(:p)], NESTED: { lock: lock } }.each { |name, value| library(name, value); refused("Gem::Requirement::#{name}") }
      MINE = [+"m"]
      library(:THEIRS, MINE)
      refused("Gem::Requirement::THEIRS.size; MINE")
      refused("require 'optparse'; OptionParser.new; ARGV")
      module Mine; TABLE = [+"m"]; end
      %w[MINE Mine::TABLE Object.const_get(:MINE) Gem::Requirement.const_get(:MINE) ARGV].each { |code| refused(code) }
      assert_equal(["m", false, false], [Library::CAPTURES.call, Library::CAPTURES.frozen?, MINE.frozen?])
    RUBY
  end

  # What a Regexp warns of is said when the others go on: the one who reads it stood still, and the pipe was full.
  def test_warnings
    assert_ractors(COMMON + <<~'RUBY')
      verbose, $VERBOSE = $VERBOSE, nil
      library(:PATTERNS, Array.new(1800) { |i| Regexp.new("[aa]b#{i}", timeout: 2.5) })
      reader, writer = IO.pipe
      said = Thread.new { count = 0; count += 1 while reader.gets; count }
      stderr = $stderr.dup
      $VERBOSE = true
      $stderr.reopen(writer)
      writer.close
      timeouts = Ractor.new { Library::PATTERNS.map(&:timeout).uniq }.take
      $stderr.reopen(stderr)
      $VERBOSE = verbose
      assert_equal([[2.5], 1800], [timeouts, said.value])
    RUBY
  end

  # As keys' methods, a hook of TracePoint, and warnings of too many variations of a class: these wait for main.
  def test_methods_are_called_when_the_others_go_on
    assert_ractors(COMMON + <<~'RUBY')
      ASKED = Ractor.new { loop { Ractor.yield(Ractor.receive) } }
      class Key
        def hash = Ractor.main? ? 1 : (ASKED << 1; ASKED.take)
        def eql?(other) = other.class == Key
      end
      library(:KEYS, { Key.new => +"found", 1 => +"x" })
      assert_equal("found", Ractor.new { Library::KEYS[Key.new] }.take)
      class Own
        attr_reader :table
        def initialize = (@table = {}; @name = +"n"; @table[self] = 1)
        def hash = @name.upcase.hash
      end
      library(:OWN, Own.new)
      assert_equal(1, Ractor.new { Library::OWN.table[Library::OWN] }.take)
      class Frozen
        def initialize(name) = (@name = [name]; freeze)
        def hash = frozen? ? @name.hash : raise("not frozen")
        def eql?(other) = other.class == Frozen
      end
      text = +"key"
      text.instance_variable_set(:@note, [1])
      text.freeze
      library(:FROZEN, [{ Frozen.new(+"n") => 1 }.freeze, text, { text => 1 }])
      table, string, strings = Ractor.new { [Library::FROZEN[0].frozen?, Library::FROZEN[1], Library::FROZEN[2].keys[0]] }.take
      assert_equal([true, [1], [1]], [table, string.instance_variable_get(:@note), strings.instance_variable_get(:@note)])
      assert_true(Ractor.new { Library::FROZEN[1].equal?(Library::FROZEN[2].keys[0]) }.take)
      class FrozenHash < Hash
        def hash = frozen? && self[:name] ? 5 : raise("not frozen")
        def eql?(other) = other.class == FrozenHash
      end
      library(:FROZEN_HASH, { FrozenHash[:name, +"n"].freeze => [1] }.freeze)
      assert_equal([1], Ractor.new { Library::FROZEN_HASH[Library::FROZEN_HASH.keys[0]] }.take)
      library(:PATTERNS, { /a/ => +"x" })
      hashes = Ractor.new do
        count = 0
        TracePoint.new(:c_call) { |point| (ASKED << (count += 1); ASKED.take) if point.method_id == :hash }.enable { Library::PATTERNS.size }
        count
      end
      assert_operator(hashes.take, :>=, 0)
      class Varied; def initialize(i) = instance_variable_set(:"@v#{i}", +"a"); end
      library(:VARIED, Array.new(6) { Varied.new(_1) })
      Varied.new(0).then { |one| 12.times { |i| one.instance_variable_set(:"@w#{i}", 1) } }
      module Warning; def self.warn(*, **) = (ASKED << 1; ASKED.take); end
      Warning[:performance] = true
      assert_equal(6, Ractor.new { Library::VARIED.size }.take)
    RUBY
  end

  # As rb_const_search finds it: past a class whose origin is another, and at the top for a module.
  def test_whose_constant_it_is
    assert_ractors(COMMON + <<~'RUBY')
      module Mine; TABLE = [+"mine"]; end
      class Library; TABLE = [+"theirs"]; prepend Mine; end
      class Below < Library; end
      class Aside; TABLE = [+"mine"]; prepend Gem::Version.const_set(:Tables, Module.new { const_set(:TABLE, [+"theirs"]) }); end
      class BelowAside < Aside; end
      refused("Mine::TABLE")
      [Below, BelowAside].each do |klass|
        expected = klass::TABLE[0] == "theirs" ? ["theirs"] : "Ractor::IsolationError"
        assert_equal(expected, Ractor.new(klass) { |klass| klass::TABLE rescue $!.class.name }.take)
      end
      named = Module.new.set_temporary_name("Logger:mine")
      named.const_set(:TABLE, [+"mine"])
      assert_equal("Ractor::IsolationError", Ractor.new(named) { |named| named::TABLE rescue $!.class.name }.take)
    RUBY
  end

  # It is there all the time.
  def test_racing_set_again
    assert_ractors(COMMON + <<~'RUBY')
      $VERBOSE = nil
      library(:TABLE, ["0"])
      ractors = Array.new(2) { Ractor.new { 10_000.times { Library::TABLE.fetch(0) } } }
      i = 0
      ending = Thread.new { ractors.each(&:take) }
      library(:TABLE, [(i += 1).to_s]) while ending.alive?
      assert_not_nil(ending.value)
    RUBY
  end

  def test_racing_copies_and_changes
    assert_ractors(COMMON + <<~'RUBY')
      200.times { |i| library(:"TABLE#{i}", Array.new(20) { |k| { k => [+"v#{k}"] } }) }
      ractors = Array.new(4) do |r|
        Ractor.new(r) do |r|
          200.times.sum do |i|
            GC.start if i % 60 == r
            table = Library.const_get(:"TABLE#{i}")
            table.sum { |hash| hash.each_pair.sum { |k, (v)| v == "v#{k}" ? 1 : -1000 } }
          end
        end
      end
      until ractors.empty?
        200.times { |i| Library.const_get(:"TABLE#{i}").each { |hash| hash.delete(rand(20)); hash[100 + rand(20)] = ["v0".dup]; hash.keep_if { |k, _| k < 20 } } }
        GC.compact if GC.respond_to?(:compact)
        done, sum = Ractor.select(*ractors)
        assert_operator(sum, :>, 0)
        ractors.delete(done)
      end
    RUBY
  end
end
