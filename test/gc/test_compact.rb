# frozen_string_literal: true
# gc/test_compact.rb - GC.compact beside C code that holds Strings and Arrays.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeGCCompact < Test::Unit::TestCase
  include LockfreeAssertRactors

  def setup
    omit "compaction is not supported" unless GC.respond_to?(:compact)
  end

  # Bytes that malloc has, though they would fit in the slot: tr of many characters makes such. Stock: SEGV.
  MAKE = <<~'RUBY'
    FROM = [*128..159].pack("U*").freeze
    TO = [*8200..8231].pack("U*").freeze
  RUBY

  def test_dup_that_compacts
    assert_separately([], MAKE + <<~'RUBY', timeout: 60)
      GC.auto_compact = true
      strings = Array.new(100) do
        string = "n12".dup.tr(FROM, TO)
        GC.stress = true
        copy = string.dup
        GC.stress = false
        [string, copy]
      end
      assert_equal([["n12", "n12"]], strings.uniq)
    RUBY
  end

  # Stock: SEGV, "input string invalid", freed bytes.
  def test_racing_copy_and_compact
    assert_ractors(MAKE + <<~'RUBY')
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3
      ractors = Array.new(4) do |n|
        Ractor.new(n, finish) do |n, finish|
          made = []
          until Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
            300.times do
              string = "n1#{n}".tr(FROM, TO)
              made << string.dup << string.upcase.downcase << string.sub(/[<]/, "*") << string + ""
              array = Array.new(30, n)
              array.pop(28)
              made << array.dup.map(&:itself).reverse.rotate.flatten.inspect
            end
            made.uniq!
          end
          made.sort
        end
      end
      until Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
        GC.compact
        sleep 0.003
      end
      assert_equal(Array.new(4) { |n| ["[#{n}, #{n}]", "n1#{n}"] }, ractors.map(&:take))
    RUBY
  end

  # A name that a C string is made of, with an allocation in between: rb_class2name, rb_id2name. Stock: none, in each tenth and in
  # half of them.
  NAMES = <<~'RUBY'
    def with_names(count)
      Array.new(count) do |i|
        junk = Array.new(3_000) { |k| "junk%08d" % k }
        call, expected = yield i
        junk.clear
        GC.stress = true
        text = call.call
        GC.stress = false
        [text, expected]
      end.reject { |text, expected| text.include?(expected) }
    end
    GC.auto_compact = true
  RUBY

  def test_name_of_a_class
    assert_separately(%w[--disable-gems], NAMES + <<~'RUBY', timeout: 60)
      require "socket"
      address = Socket.sockaddr_in(80, "127.0.0.1")
      outer = Object.const_set(:Outer, Module.new)
      wrong = with_names(100) do |i|
        object = outer.const_set(:"K#{i}", Class.new(Addrinfo)).new(address)
        [object.method(:inspect), "#<Outer::K#{i}: "]
      end
      assert_equal([], wrong)
    RUBY
  end

  def test_name_of_an_id
    assert_separately(%w[--disable-gems -W:no-experimental], NAMES + <<~'RUBY', timeout: 60)
      wrong = Ractor.new do
        with_names(60) do |i|
          read = eval("proc { $name#{i} }")
          [-> { read.call rescue $!.message }, " $name#{i} "]
        end
      end
      assert_equal([], wrong.take)
    RUBY
  end
end
