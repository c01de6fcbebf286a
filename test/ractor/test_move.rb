# frozen_string_literal: true
# ractor/test_move.rb - ractor/move.c: what is moved to another Ractor arrives whole, or stays whole.

require "test/unit"

class TestLockfreeRactorMove < Test::Unit::TestCase
  RUBY_DEBUG = RbConfig::CONFIG["cppflags"].to_s.include?("RUBY_DEBUG")

  # A Ractor that sends back, moved again, what it is sent. Slots that were freed too early are filled by what follows.
  PRELUDE = <<~'RUBY'
    Echo = Ractor.new do
      loop { o = Ractor.receive; GC.start; Array.new(100) { "filler" * 3 }; Ractor.yield(o, move: true) }
    end

    def moved(object)
      Echo.send(object, move: true)
      Echo.take
    end

    def gone?(object) = Ractor::MovedObject === object

    def assert_moved(expected, object)
      result = moved(object)
      assert_equal([expected.class, expected, true], [result.class, result, gone?(object)])
      result
    end

    def assert_refused(error, object)
      assert_raise(error) { Echo.send(object, move: true) }
    end
  RUBY

  def assert_with_echo(source)
    assert_ractor(PRELUDE + source, timeout: 120)
  end

  # Bug #20271
  def test_string
    assert_with_echo(<<~'RUBY')
      Sub = Class.new(String)
      [0, 15, 16, 17, 23, 24, 100, 600, 650, 100_000].each do |n|
        s = assert_moved("é" * n, "é" * n)
        assert_equal("é" * n + "!", s << "!")
        assert_moved(Sub.new("a" * n), Sub.new("a" * n))
      end
    RUBY
  end

  def test_string_that_shares_its_content
    assert_with_echo(<<~'RUBY')
      s = "a" * 5000
      tail, copy = s[100..], s.dup
      assert_moved("a" * 4900, tail) << "b"
      assert_moved("a" * 5000, s) << "b"
      assert_equal("a" * 5000, copy)
    RUBY
  end

  # Bug #20255
  def test_array
    assert_with_echo(<<~'RUBY')
      Sub = Class.new(Array)
      [0, 1, 3, 4, 10, 40, 78, 79, 1000].each do |n|
        a = assert_moved(Array.new(n, &:to_s), Array.new(n, &:to_s))
        assert_equal([n + 1, true], [(a << +"x").size, a.all? { |e| e << "y" }])
        assert_moved(Sub.new(n, "x"), Sub.new(n, "x"))
      end
    RUBY
  end

  def test_array_that_shares_its_content
    assert_with_echo(<<~'RUBY')
      a = Array.new(100, &:to_s)
      tail, copy = a[50..], a.dup
      assert_moved((50...100).map(&:to_s), tail)
      assert_equal(["49", true], [a[49], gone?(copy[50])])
    RUBY
  end

  # Others may share what is frozen: it leaves its content to them.
  def test_frozen
    assert_with_echo(<<~'RUBY')
      a = Array.new(100, &:to_s).freeze
      tail = a[50..]
      assert_true(assert_moved(Array.new(100, &:to_s), a).frozen?)
      s = "a" * 5000
      s.instance_variable_set(:@iv, +"iv")
      copy = s.freeze.dup
      result = assert_moved("a" * 5000, s)
      assert_equal([true, "iv!"], [result.frozen?, result.instance_variable_get(:@iv) << "!"])
      result = a = s = nil
      GC.start
      assert_equal([50, true, "a" * 5000], [tail.size, tail.all? { |e| gone?(e) }, copy])
    RUBY
  end

  # Bug #20267
  def test_hash
    assert_with_echo(<<~'RUBY')
      Sub = Class.new(Hash)
      [0, 1, 3, 8, 9, 20, 1000].each do |n|
        h = assert_moved(n.times.to_h { |i| ["k#{i}", "v#{i}"] }, n.times.to_h { |i| ["k#{i}", "v#{i}"] })
        assert_equal([n + 1, "x"], [h.merge!(x: "x").size, h[:x]])
        assert_moved(Sub[n.times.map { |i| [i, i] }], Sub[n.times.map { |i| [i, i] }])
      end
      assert_equal("default", moved(Hash.new(+"default"))[0])
    RUBY
  end

  def test_hash_that_compares_by_identity
    assert_with_echo(<<~'RUBY')
      keys = Array.new(20, &:to_s)
      keys, hash = moved([keys, keys.each_with_object({}.compare_by_identity) { |k, h| h[k] = "v" + k }])
      assert_equal(keys.map { |k| "v" + k }, hash.values_at(*keys))
      assert_equal([20, nil], [hash.size, hash["1"]])
    RUBY
  end

  # Bug #20165
  def test_struct
    assert_with_echo(<<~'RUBY')
      [1, 3, 4, 10, 100].each do |n|
        struct = Struct.new(*n.times.map { |i| :"f#{i}" })
        assert_moved(struct.new(*n.times.map(&:to_s)), struct.new(*n.times.map(&:to_s)))
      end
      Point = Data.define(:x, :y)
      assert_moved(Point.new("1", ["2"]), Point.new("1", ["2"]))
    RUBY
  end

  def test_instance_variables
    assert_with_echo(<<~'RUBY')
      def set(object, names) = names.each { |n| object.instance_variable_set(n, n.to_s) } && object
      def get(object) = object.instance_variables.to_h { |n| [n, object.instance_variable_get(n)] }

      names = Array.new(100) { |i| :"@v#{i}" }
      [0, 1, 3, 4, 10, 60, 100].each do |n|
        [Class.new, Class.new(String), Class.new(Array)].each do |c|
          object = set(c.new, names.first(n))
          expected = names.first(n).to_h { |name| [name, name.to_s] }
          result = moved(object)
          assert_equal([expected, c, true], [get(result), result.class, gone?(object)])
          assert_equal("@v", get(set(result, [:@v]))[:@v])
        end
      end
      complex = Class.new # for its many shapes
      40.times { |i| assert_equal(["@w#{i}", "@v0"], get(moved(set(complex.new, [:"@w#{i}", :@v0]))).values) }
    RUBY
  end

  def test_other_objects
    assert_with_echo(<<~'RUBY')
      assert_equal(["w", "hello "], moved("hello world".match(/w/)).then { |m| [m[0], m.pre_match] })
      assert_moved(Regexp.new("a+b"), Regexp.new("a+b"))
      assert_equal("message", moved(RuntimeError.new("message")).message)
      r, w = IO.pipe
      moved(w).then { |io| io.puts("line"); io.close }
      assert_equal("line\n", r.read)
    RUBY
  end

  def test_references_keep_their_form
    depth = RUBY_DEBUG ? 1_000 : 50_000 # upstream's assertions walk what arrives by recursion
    assert_with_echo("DEPTH = #{depth}\n" + <<~'RUBY')
      a = []
      a << a << { a => a }
      a = moved(a)
      assert_equal([true] * 3, [a[0], a[1].keys[0], a[1].values[0]].map { |o| o.equal?(a) })
      s = "shared" * 3
      a = moved([s, s, [s]])
      assert_true(a[0].equal?(a[1]) && a[2][0].equal?(a[0]))
      list = nil
      DEPTH.times { list = [list] }
      list = moved(list)
      n = 0
      (n += 1; list = list[0]) while list
      assert_equal(DEPTH, n)
    RUBY
  end

  # Bug #19410
  def test_what_is_refused_stays_whole
    assert_with_echo(<<~'RUBY')
      singleton = Object.new.tap { |o| def o.own = 1 }
      [[Ractor::Error, Mutex.new], [TypeError, Thread.current], [TypeError, singleton]].each do |error, culprit|
        long = "s" * 100
        long.instance_variable_set(:@iv, +"iv")
        object = [+"a", { k: [+"b"] }, long, [+"c"].freeze, {}.compare_by_identity.tap { |h| h[long] = 1 }, culprit]
        assert_refused(error, object)
        assert_equal(["a", { k: ["b"] }, "s" * 100, ["c"]], object.first(4))
        assert_equal(["iv", 1], [long.instance_variable_get(:@iv), object[4][long]])
        object.pop
        assert_equal(["a", { k: ["b"] }, "s" * 100, ["c"]], moved(object).first(4))
      end
      hash = { a: "b" }
      hash.each { assert_refused(Ractor::Error, hash) }
      assert_moved({ a: "b" }, hash)
      assert_refused(TypeError, [hash])
    RUBY
  end

  def test_what_a_closed_port_refuses_stays_whole
    assert_ractor(<<~'RUBY', timeout: 60)
      ractor = Ractor.new { close_incoming; Ractor.yield(:closed); Ractor.yield(:end) }
      ractor.take
      object = ["s" * 100, { a: [+"b"] }]
      assert_raise(Ractor::ClosedError) { ractor.send(object, move: true) }
      assert_equal(["s" * 100, { a: ["b"] }], object)
    RUBY
  end

  # C code that is in the middle of a change when the object goes.
  def test_racing_change_and_move
    omit "array.c asserts that its array is still one" if RUBY_DEBUG
    assert_with_echo(<<~'RUBY')
      array = Array.new(1000, &:to_s)
      assert_raise(Ractor::MovedError, FrozenError, NoMethodError) do
        array.map!.with_index { |e, i| i == 500 ? (Echo.send(array, move: true); e) : e }
      end
      assert_equal(1000, Echo.take.size)
      string = "a" * 1000
      assert_raise(RuntimeError) { string.gsub!(/a/) { Echo.send(string, move: true); "b" } }
      assert_equal(1000, Echo.take.size)
      GC.start
    RUBY
  end

  # A key, and an argument, that move what is just being asked.  Stock, and what came before: a crash, or an entry lost.
  def test_racing_look_up_and_move
    assert_with_echo(<<~'RUBY')
      class Key
        def initialize(at) = @at = at
        def hash = (act(:hash); 0)
        def eql?(other) = (act(:eql?); @same)
        def act(at)
          return unless @at == at && @target
          Echo.send(@target, move: true)
          @target = nil
        end
        def arm(target, same) = (@target, @same = target, same; self)
      end

      ways = { fetch: -> (h, k) { h[k] }, store: -> (h, k) { h[k] = 1 }, dig: -> (h, k) { h.dig(k) },
               update: -> (h, k) { h.update(k => 2) { 3 } }, values_at: -> (h, k) { h.values_at(k) } }
      [2, 8, 9, 100].product([:hash, :eql?], [true, false], ways.keys) do |size, at, same, way|
        hash = size.times.to_h { |i| [i.zero? ? Key.new(nil) : "k#{i}", i] }
        hash.delete("k1") if size == 9
        key = Key.new(at).arm(hash, same)
        assert_raise(Ractor::MovedError, FrozenError, NoMethodError, "#{[size, at, same, way]}") { ways[way].(hash, key) }
        echo = Echo.take
        assert_equal([size - (size == 9 ? 1 : 0), 0], [echo.size, echo.values.first])
      end
      keep = [[:delete, nil], [:key?, false]]
      [2, 100].product([:hash, :eql?], keep) do |size, at, (way, result)|
        hash = size.times.to_h { |i| [i.zero? ? Key.new(nil) : "k#{i}", i] }
        answer = hash.public_send(way, Key.new(at).arm(hash, false)) rescue result
        assert_equal([result, size], [answer, Echo.take.size])
      end

      class Text
        def initialize(target) = @target = target
        def to_str = (Echo.send(@target, move: true); "b")
      end
      %i[index rindex start_with? include? count delete squeeze casecmp casecmp? partition rpartition split each_line
         tr_s + << prepend concat end_with? delete_prefix delete_suffix sub =~ [] crypt unpack1 encode force_encoding
         replace insert].each do |way|
        ["abc", "abc" * 100].each do |content|
          string = content.dup
          arguments = way == :insert ? [0] : []
          arguments << Text.new(string)
          arguments << "c" if %i[tr_s sub].include?(way)
          begin
            string.public_send(way, *arguments)
          rescue Ractor::MovedError, FrozenError, TypeError, ArgumentError, NoMethodError, Encoding::CompatibilityError
          end
          assert_equal(content, Echo.take, way.to_s) if gone?(string)
        end
      end
      GC.start
    RUBY
  end

  # What an #inspect, #marshal_dump or #to_ary moves is what has it.
  def test_racing_walk_and_move
    assert_with_echo(<<~'RUBY')
      class Mover
        def arm(target) = (@target = target; self)
        def inspect = act
        def marshal_dump = act
        def to_ary = (act; nil)
        def act
          target, @target = @target, nil
          Echo.send(target, move: true) if target
          "moved"
        end
      end
      [5, 20, 100].product([Object, String, Array], [false, true]) do |size, klass, frozen|
        object = klass.new
        mover = Mover.new.arm(object)
        if klass == Array then object.concat([*1...size], [mover, [1]])
        else size.times { |i| object.instance_variable_set("@v#{i}", i == size / 2 ? mover : "v#{i}") }
        end
        object.freeze if frozen
        assert_raise(Ractor::MovedError, "#{klass} #{size} #{frozen}") do
          case object
          when Array then object.flatten
          when String then Marshal.dump(object)
          else object.inspect
          end
        end
        assert_instance_of(klass, Echo.take)
      end
      GC.start
    RUBY
  end

  def test_racing_walk_of_struct_and_move
    assert_with_echo(<<~'RUBY')
      class Mover
        def arm(target) = (@target = target; self)
        def act = (Echo.send(@target, move: true); "moved")
        %i[inspect marshal_dump].each { |name| alias_method name, :act }
        def hash = (act; 1)
        def ==(_) = (act; true)
        def eql?(_) = (act; true)
      end
      walks = {
        inspect: proc { |s, _| s.inspect }, dump: proc { |s, _| Marshal.dump(s) }, hash: proc { |s, _| s.hash },
        equal: proc { |s, other| s == other }, eql: proc { |s, other| s.eql?(other) },
      }
      [3, 30, 100].product([Struct, Data], walks.keys) do |size, base, walk|
        next if base == Data && walk == :dump
        members = Array.new(size) { :"m#{_1}" }
        klass = base == Struct ? Struct.new(*members) : Data.define(*members)
        Object.const_set("Walked#{base}#{size}#{walk}", klass)
        mover = Mover.new
        s, other = [mover, Object.new].map { |second| klass.new("v0", second, *Array.new(size - 2) { "v" }) }
        mover.arm(s)
        assert_raise(Ractor::MovedError, "#{base} #{size} #{walk}") { walks[walk].(s, other) }
        Echo.take
      end
    RUBY
  end

  def test_racing_walk_of_io_and_move
    assert_with_echo(<<~'RUBY')
      %i[each_byte each_char each_codepoint].product([nil, "UTF-16LE:UTF-8"]) do |walk, encoding|
        r, w = IO.pipe
        w.write("ab\ncd\n" * 200)
        w.close
        r.set_encoding(encoding) if encoding
        n = 0
        assert_raise(Ractor::MovedError, "#{walk} #{encoding}") do
          r.__send__(walk) { Echo.send(r, move: true) if (n += 1) == 3 }
        end
        Echo.take.close
        GC.start
      end
    RUBY
  end

  # The handler of a signal runs where a read looks for interrupts.
  def test_racing_read_and_move_in_a_trap
    assert_with_echo(<<~'RUBY')
      reads = { gets: proc { |r| r.gets }, read: proc { |r| r.read }, readpartial: proc { |r| r.readpartial(10) },
                each_char: proc { |r| r.each_char {} } }
      reads.keys.product(%i[dropped kept], [1, 2, 3]) do |read, what, _|
        r, w = IO.pipe
        sink = Ractor.new(what) do |what|
          io = Ractor.receive
          io = nil if what == :dropped
          GC.start
          20.times { IO.pipe.each(&:close) }
          Ractor.receive
          io&.close
        end
        gone = Thread::Queue.new
        trap(:USR1) { sink.send(r, move: true); gone << true }
        reader = Thread.current
        helper = Thread.new do
          Thread.pass until reader.stop?
          Process.kill(:USR1, $$)
          gone.pop
          w.write("line\n") rescue nil
        end
        assert_raise(Ractor::MovedError, [read, what].inspect) { reads[read].(r) }
        helper.join
        sink.send(:end)
        sink.take
      end
    RUBY
  end

  # An argument that is converted, or written bit by bit.
  def test_racing_conversion_and_move
    assert_with_echo(<<~'RUBY')
      class Mover
        def initialize(target) = @target = target
        def act = Echo.send(@target, move: true)
        def to_s = (act; "xyz")
        def to_str = (act; "UTF-8")
        def to_int = (act; 7)
      end
      calls = {
        ungetc: proc { |r, _| r.ungetc(Mover.new(r)) }, ungetbyte: proc { |r, _| r.ungetbyte(Mover.new(r)) },
        lineno: proc { |r, _| r.lineno = Mover.new(r) }, advise: proc { |r, _| r.advise(:normal, Mover.new(r)) },
        set_encoding: proc { |r, _| r.set_encoding(Mover.new(r)) }, write: proc { |_, w| w.write("a", Mover.new(w), "b") },
        buffered: proc { |_, w| w.sync = false; w.write("a", Mover.new(w), "b") },
      }
      calls.keys.product([1, 2, 3, 4]) do |call, _|
        pair = IO.pipe
        assert_raise(Ractor::MovedError, call.inspect) { calls[call].(*pair) }
        Echo.take.close
      end
    RUBY
  end

  def test_racing_select_of_struct_and_move
    assert_with_echo(<<~'RUBY')
      [3, 40, 120].product(%i[select filter]) do |size, name|
        klass = Struct.new(*Array.new(size) { :"m#{_1}" })
        structs = Array.new(50) { [klass.new(*Array.new(size) { "v#{_1}" }), "z" * 100] }
        s = structs[25][0]
        n = 0
        assert_raise(Ractor::MovedError) { s.__send__(name) { Echo.send(s, move: true) if (n += 1) == size; true } }
        Echo.take
      end
    RUBY
  end

  # What it writes to is told the names of members.
  def test_racing_dump_of_struct_and_move
    assert_with_echo(<<~'RUBY')
      Long = Struct.new(*Array.new(200) { :"m#{_1}#{"q" * 200}" })
      class Writer
        def initialize(target) = (@target, @n = target, 0)
        def binmode = self
        def write(bytes) = (Echo.send(@target, move: true) if (@n += 1) == 2; bytes.size)
      end
      10.times do
        structs = Array.new(50) { [Long.new(*0...200), "z" * 100] }
        s = structs[25][0]
        assert_raise(Ractor::MovedError) { Marshal.dump(s, Writer.new(s)) }
        Echo.take
        GC.start
      end
    RUBY
  end

  # With one thread, a crash of upstream's.
  def test_flatten_what_to_ary_clears
    elements = [1, 2, 3]
    elements[1] = Class.new { define_method(:to_ary) { elements.clear; nil } }.new
    assert_equal([], elements.flatten)
  end

  def test_zip_with_what_to_ary_clears
    elements = [1, 2, 3] * 10
    clears = Class.new { define_method(:to_ary) { elements.clear; [4, 5] } }.new
    assert_equal([], elements.zip(clears))
    assert_with_echo(<<~'RUBY')
      elements = Array.new(50)
      moves = Class.new { define_method(:to_ary) { moved(elements); [4, 5] } }.new
      assert_raise(Ractor::MovedError) { elements.zip(moves) }
    RUBY
  end

  def test_what_is_left_is_nothing_else
    assert_with_echo(<<~'RUBY')
      [+"s", "s" * 100, [1], [1] * 100, { a: 1 }, Struct.new(:a).new(1), Object.new].each do |o|
        moved(o)
        assert_raise(Ractor::MovedError) { o.to_s }
        assert_raise(Ractor::MovedError, TypeError) { [] + o }
        assert_raise(Ractor::MovedError, TypeError) { "" + o }
        assert_equal([], Kernel.instance_method(:instance_variables).bind_call(o))
      end
      GC.start
    RUBY
  end

  def test_moved_object_is_not_shareable
    assert_with_echo(<<~'RUBY')
      text = +"text"
      Echo.send(text, move: true)
      Echo.take
      assert_false(Ractor.shareable?(text))
      assert_raise(Ractor::MovedError, TypeError) { Echo.send(text, move: true) }
    RUBY
  end

  # re.c fills the MatchData of $~ anew where nobody else has it
  def test_last_match
    assert_with_echo(<<~'RUBY')
      "abc" =~ /b/
      Echo.send($~, move: true)
      assert_equal("b", Echo.take[0])
      "hello".start_with?(/he/)
      GC.start
      assert_equal(["he", "llo"], [$&, $'])
    RUBY
  end

  # Stock frees objects of a large graph while it moves them: T_NONE, or an object of another class arrives.
  def test_racing_gc_and_move
    assert_ractor(<<~'RUBY', timeout: 120)
      sender = Ractor.new { 10.times { Ractor.yield(Array.new(3000) { |i| { k: "x#{i}", v: [i.to_s] } }, move: true) } }
      10.times { assert_equal(Array.new(3000) { |i| { k: "x#{i}", v: [i.to_s] } }, sender.take) }
    RUBY
  end

  # Stock fills the slots of small Hashes in part: what was there before arrives, as `no implicit conversion of Symbol
  # into Integer', and fails when it is moved on.
  def test_racing_relay_and_gc
    assert_ractor(<<~'RUBY', timeout: 120)
      20_000.times { { id: Array, opts: [1], tags: [2] } }
      GC.start
      source = Ractor.new { 500.times { |i| Ractor.yield({ id: i, opts: { x: i }, tags: { y: [i] } }, move: true) } }
      relay = Ractor.new(source) { |s| 500.times { Ractor.yield(s.take, move: true) } }
      500.times { |i| assert_equal({ id: i, opts: { x: i }, tags: { y: [i] } }, relay.take) }
    RUBY
  end

  def test_under_gc_stress
    assert_with_echo(<<~'RUBY')
      expected = Marshal.dump(["a" * 100, { [1, "b"] => "c" }])
      object = Marshal.load(expected)
      GC.stress = true
      result = moved(object)
      GC.stress = false
      assert_equal(expected, Marshal.dump(result))
    RUBY
  end

  # Ractors look whether a value is shareable while main sends it off. Stock and what came before: a crash, or an
  # object that is marked shareable and holds an Array that is not.
  def test_racing_move_and_read_of_class_variable
    assert_ractor(<<~'RUBY', timeout: 60)
      class Holder; class << self; attr_accessor :value; end; end
      Wide = Struct.new(*Array.new(100) { |i| :"m#{i}" })
      class Many; def initialize(n) = n.times { |i| instance_variable_set("@v#{i}", i == n - 1 ? [1] : i) }; end
      makers = [-> { [[1]] }, -> { Wide.new.tap { |wide| wide.m99 = [1] } }, -> { Many.new(5) }, -> { Many.new(100) }]

      sink = Ractor.new do
        shareable = 0
        while (value = Ractor.receive)
          shareable += 1 if Ractor.shareable?(value)
        end
        shareable
      end
      readers = 2.times.map do
        Ractor.new do
          seen = []
          loop do
            value = Holder.value
            break if value == :stop
            seen << value.class if value && seen.size < 10
          rescue Ractor::IsolationError
          end
          seen
        end
      end
      20_000.times do |i|
        value = makers[i % makers.size].call.freeze
        Holder.value = value
        sink.send(value, move: true)
      end
      Holder.value = :stop
      sink.send(nil)
      assert_equal([0, [], []], [sink.take, *readers.map(&:take)])
    RUBY
  end

  # Minor collections while the plan is made: what the objects are moved to has grown old when it gets what they refer to.
  def test_move_while_the_new_objects_grow_old
    assert_ractor(<<~'RUBY', timeout: 120)
      made = ->(n) do
        Array.new(n) do |i|
          case i % 3
          when 0 then ["v#{i}"]
          when 1 then { i => +"h#{i}" }
          else (+"s#{i}").tap { |s| s.instance_variable_set(:@x, ["x#{i}"]) }
          end
        end
      end
      keeper = Ractor.new do
        kept = []
        while (list = Ractor.receive)
          kept << list
        end
        kept
      end
      sizes = [1, 5, 14, 15, 16, 17, 40, 63, 64, 65, 100]
      sizes.each do |n|
        list = made[n]
        GC.stress = 1 # minor ones
        keeper.send(list, move: true)
        GC.stress = false
      end
      5.times { GC.start(full_mark: false); Array.new(20_000) { "fill" * 4 } }
      keeper.send(nil)
      kept = keeper.take
      assert_equal(sizes.map(&made), kept)
      xs = ->(lists) { lists.flatten(1).grep(String).map { |s| s.instance_variable_get(:@x) } }
      assert_equal(xs[sizes.map(&made)], xs[kept])
    RUBY
  end

  # A walk begins in the middle of a long commit, in which what it walks is the last to go.
  def test_racing_move_and_long_walk
    assert_ractor(<<~'RUBY', timeout: 120)
      class Holder; class << self; attr_accessor :value; end; end
      sink = Ractor.new do
        sizes = []
        while (list = Ractor.receive)
          sizes << list.last.size
        end
        sizes.uniq
      end
      reader = Ractor.new do
        refused = 0
        loop do
          value = Holder.value
          break refused > 0 if value == :stop
          raise value.class.name if value
        rescue Ractor::IsolationError
          refused += 1
          5_000.times {}
        end
      end
      300.times do
        value = 20_000.times.to_h { |i| [i, i == 19_999 ? [1] : i] }.compare_by_identity.freeze
        Holder.value = value
        sink.send([*Array.new(20_000) { |i| [i] }, value], move: true)
      end
      Holder.value = :stop
      sink.send(nil)
      assert_equal([[20_000], true], [sink.take, reader.take])
    RUBY
  end

  # What a walk has come to is kept in a Hash, which grows old while it walks.
  def test_collections_while_a_message_is_copied
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY', timeout: 60)
      class Probe
        attr_accessor :kind
        def initialize_copy(other)
          other.kind == :age ? 4.times { GC.start } : GC.verify_internal_consistency
        end
      end
      age, check = Array.new(2) { Probe.new }
      age.kind = :age
      list = [age, *Array.new(100) { |i| ["copied #{i}"] }, check]
      assert_equal(102, Ractor.new(list) { |list| list.size }.take)
    RUBY
  end
end
