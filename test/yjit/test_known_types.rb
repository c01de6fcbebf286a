# frozen_string_literal: true
# yjit/test_known_types.rb - yjit_guard_extended_string.patch, yjit_unknown_results.patch, yjit_splat_inlined.patch,
# yjit_local_number.patch, ractor/move.c: what YJIT takes a value for is what it is.

require "test/unit"

class TestLockfreeYjitKnownTypes < Test::Unit::TestCase
  def assert_compiled_calls(code)
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_separately(%w[-W:no-experimental --disable-gems --yjit --yjit-call-threshold=5], code, timeout: 60)
  end

  def test_literal_that_is_extended_before_the_call
    assert_compiled_calls(<<~'RUBY')
      def (+"").x = 1 # the process has seen one
      module Marked
        def +(other) = "M#{super}"
        def <<(other) = super("<#{other}>")
        def ==(other) = :equal
        def empty? = :empty
      end
      class Calls
        def extended(string, marked) = (string.extend(Marked) if marked; "x")
        def plus(marked) = (string = "l#{1}"; string + extended(string, marked))
        def append(marked) = (string = +""; string << extended(string, marked))
        def equal(marked) = (string = "l#{1}"; string == extended(string, marked))
        def empty(marked) = (string = +""; extended(string, marked); string.empty?)
        def all(marked) = [plus(marked), append(marked), equal(marked), empty(marked)]
      end
      plain, marked = ["l1x", "x", false, true], ["Ml1x", "<x>", :equal, :empty]
      check = lambda do
        calls = Calls.new
        50.times { assert_equal(plain, calls.all(false)) }
        3.times { assert_equal(marked, calls.all(true)) }
        assert_equal(plain, calls.all(false))
      end
      check.call
      found = Array.new(4) { Ractor.new { Array.new(50) { Calls.new.all(false) } << Calls.new.all(true) } }.map(&:take)
      assert_equal([[plain] * 50 << marked] * 4, found)
    RUBY
  end

  def test_buffer_of_pack
    assert_compiled_calls(<<~'RUBY')
      class Sub < String; def size = 42; end
      def buffer_size(buffer, n = 65) = [n].pack("C", buffer: buffer).size
      def packed_size(n = 65) = [n].pack("C").bytesize
      40.times { assert_equal([1, 1], [buffer_size(+""), packed_size]) }
      assert_equal(42, buffer_size(Sub.new))
      assert_equal(42, Ractor.new { buffer_size(Sub.new) }.take)
      $VERBOSE = nil # "method redefined"
      class Array; alias plain_pack pack; def pack(*, **) = nil; end
      assert_raise(NoMethodError) { packed_size }
      class Array; alias pack plain_pack; end
    RUBY
  end

  def test_value_of_setbyte
    assert_compiled_calls(<<~'RUBY')
      def set(string, value) = string.setbyte(0, value).to_s
      40.times { assert_equal("65", set(+"a", 65)) }
      assert_equal((2**64).to_s, set(+"a", 2**64))
      assert_equal("own", set(+"a", Class.new { def to_int = 65; def to_s = "own" }.new))
    RUBY
  end

  # Compiled code of the first move, and of what is compiled later.
  def test_receiver_that_is_moved_while_its_arguments_are_evaluated
    assert_compiled_calls(<<~'RUBY')
      RECEIVER = Ractor.new { loop { Ractor.receive } }
      def moved(o, move) = (RECEIVER.send(o, move: true) if move; 1)
      def array(move) = (o = [1, 2]; o[moved(o, move)])
      def hash(move) = (o = {1 => 2}; o[moved(o, move)])
      def string(move) = (o = "a#{1}"; o[moved(o, move)])
      def append(move) = (o = "a#{1}"; o == "a1" && o.getbyte(moved(o, move)))
      %i[array hash string append].each do |name|
        plain = __send__(name, false)
        40.times { assert_equal(plain, __send__(name, false)) }
        2.times { assert_raise(Ractor::MovedError) { __send__(name, true) } }
        40.times { assert_equal(plain, __send__(name, false)) }
        assert_raise(Ractor::MovedError) { __send__(name, true) }
      end
    RUBY
  end

  # A method that gives what is known was compiled without a look at how many arguments a splat has.
  def test_splat_to_a_method_whose_value_is_known
    assert_compiled_calls(<<~'RUBY')
      class Calls
        def value = 50
        def rest(a, *) = 5
        def itself! = self
        def splat(name, args)
          case name
          when :value then value(*args)
          when :rest then rest(*args)
          when :itself! then itself!(*args)
          end
        rescue ArgumentError
          :arguments
        end
      end
      calls = Calls.new
      20.times { calls.splat(:value, []); calls.splat(:rest, [1]); calls.splat(:itself!, []) }
      assert_equal([50, 5, calls], [calls.splat(:value, []), calls.splat(:rest, [1]), calls.splat(:itself!, [])])
      assert_equal([:arguments] * 3, [calls.splat(:value, [1, 2]), calls.splat(:rest, []), calls.splat(:itself!, [1])])
      assert_equal(5, calls.splat(:rest, [1, 2, 3]))
    RUBY
  end

  # The 257th variable had the register of the first.
  def test_more_variables_than_have_a_number_in_a_byte
    assert_compiled_calls(<<~'RUBY')
      [256, 257, 258, 300].each do |n|
        names = (1..n).map { |k| "v#{k}" }
        set = names.map.with_index(1) { |name, k| "#{name} = #{k}" }.join("; ")
        eval("def plain_#{n} = (#{set}; #{names.join(" + ")}); def block_#{n} = (#{set}; [1].each { return #{names.join(" + ")} })")
        10.times { assert_equal([n * (n + 1) / 2] * 2, [send("plain_#{n}"), send("block_#{n}")]) }
      end
    RUBY
  end
end
