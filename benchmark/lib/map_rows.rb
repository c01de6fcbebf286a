# map_rows.rb - the rows of the map: one kind of ordinary work each, as source.
#
#   row NAME, CODE, once: SOURCE, setup: SOURCE, shown: SOURCE
#
# CODE is one operation; its variable `i` counts the turns. `once` is evaluated at the start of the process: libraries,
# classes, constants. `setup` makes the local variables of CODE; each Ractor, and each process, runs it itself, and it is not
# timed. What CODE gives must be the same in a Ractor as in one thread, turn by turn, as far as its `inspect` tells; `shown`
# is an expression for the part of `value` that is the same, where not all of it is. What `once` makes is as a user who knows
# Ractors would write it: constants are shareable. A row that a Ractor may not run stays: its word says so.

module MapRows
  Row = Struct.new(:name, :group, :code, :once, :setup, :shown, keyword_init: true) do
    # The program: `unit` is timed, `values` are to be the same wherever they are made.
    def source
      <<~RUBY
        #{once}
        module MapUnit
          # [start, stop, what the last turn gave, seconds that this thread stood ready meanwhile]
          def self.unit(turns)
            #{setup}
            i = 0
            value = nil
            stood = Map.stood
            start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
            while i < turns
              value = (#{code})
              i += 1
            end
            stop = Process.clock_gettime(Process::CLOCK_MONOTONIC)
            [start, stop, show(value), Map.stood - stood]
          end

          def self.values(turns)
            #{setup}
            i = 0
            seen = []
            while i < turns
              value = (#{code})
              seen << show(value)
              i += 1
            end
            seen
          end

          # Addresses differ.
          def self.show(value) = (#{shown || 'value'}).inspect.gsub(/0x\\h+/, "0x")[0, 200]
        end
      RUBY
    end
  end

  @rows = []
  @group = nil

  class << self
    attr_reader :rows

    # The rows whose names or groups match.
    def matching(pattern) = rows.select { |row| pattern.nil? || row.name.match?(pattern) || row.group.match?(pattern) }
    def named(name) = rows.find { |row| row.name == name }

    # Rows of another file, as this one's are.
    def replace(path)
      @rows = []
      instance_eval(File.read(path), path)
    end

    private

    def group(name) = @group = name

    def row(name, code, once: nil, setup: nil, shown: nil)
      raise ArgumentError, "two rows are called #{name}" if named(name)

      @rows << Row.new(name: name, group: @group, code: code, once: once, setup: setup, shown: shown)
    end
  end

  # ---- what rows share

  POINT = "class Point; attr_accessor :x, :y; def initialize(x, y); @x = x; @y = y; end; end".freeze
  WORDS = 'WORDS = %w[pear apple quince fig plum cherry medlar grape].map(&:freeze).freeze'.freeze
  TEXT = 'TEXT = ("The quick brown fox jumps over the lazy dog; " * 4).freeze'.freeze
  # Classes that have the same methods.
  SHAPES = <<~'RUBY'.freeze
    class Form; def initialize(a) = @a = a; end
    KINDS = Ractor.make_shareable(Array.new(8) { |k| Class.new(Form) { class_eval("def area = @a + #{k}"); define_method(:hash) { 1 } } })
  RUBY
  NUMBERS = "NUMBERS = Array.new(100) { |k| k * 7919 % 1000 }.freeze".freeze
  TABLE = 'TABLE = Ractor.make_shareable((0...100).to_h { |k| ["key#{k}", k] })'.freeze

  # ---- class state and constants

  group "class state"
  row "an empty turn of the loop", "nil"
  row "@x of a module", "Conf.level", once: "module Conf; @level = 3; def self.level = @level; end"
  row "attr_reader of a class", "Conf.level", once: "class Conf; @level = 3; class << self; attr_reader :level; end; end"
  row "@x of 8 classes at one site", "KINDS[i % 8].level", once: <<~'RUBY'
    class Base; def self.level = @level; end
    KINDS = Ractor.make_shareable(Array.new(8) { |k| Class.new(Base) { @level = k } })
  RUBY
  row "@@x", "Conf.level", once: "class Conf; @@level = 3; def self.level = @@level; end"
  row "a constant", "LIMITS", once: "LIMITS = [1, 2, 3].freeze"
  row "a constant in a module in a module", "Outer::Inner::LIMIT", once: "module Outer; module Inner; LIMIT = 3; end; end"
  row "const_get", "Object.const_get(:LIMIT)", once: "LIMIT = 3"
  row "instance_variable_get of a class", "Conf.instance_variable_get(:@level)", once: "class Conf; @level = 3; end"
  row "a global variable", "$stdout", shown: "value.class"
  row "ENV[]", 'ENV["LANG_OF_THE_MAP"]'
  row "ENV.to_h", "ENV.to_h", shown: "value.class"
  row "ENV.fetch", 'ENV.fetch("FOUND_BY_THE_MAP")', once: 'ENV["FOUND_BY_THE_MAP"] = "found"'

  # ---- objects

  group "objects"
  row "Object.new", "Object.new"
  row "new with two variables", "Point.new(i, i)", once: POINT, shown: "[value.x, value.y]"
  row "new with eight variables", "Eight.new(i)", shown: "value.instance_variables", once: <<~'RUBY'
    class Eight
      def initialize(i) = (@a = @b = @c = @d = @e = @f = @g = @h = i)
    end
  RUBY
  row "new with keywords", "Place.new(lat: i, long: 2)", shown: "value.lat",
      once: "class Place; attr_reader :lat; def initialize(lat:, long: 0); @lat = lat; @long = long; end; end"
  row "attr_accessor, read and written", "p.x = p.x + 1", once: POINT, setup: "p = Point.new(1, 2)"
  row "Struct.new", "Pair.new(i, 2)", once: "Pair = Struct.new(:a, :b)"
  row "Struct, read and written", "s.a += s.b", once: "Pair = Struct.new(:a, :b)", setup: "s = Pair.new(1, 2)"
  row "Data, with", "d.with(a: i)", once: "Pair = Data.define(:a, :b)", setup: "d = Pair.new(a: 1, b: 2)"
  row "dup", "p.dup.x", once: POINT, setup: "p = Point.new(1, 2)"
  row "instance_variable_set and get", "p.instance_variable_set(:@z, i); p.instance_variable_get(:@z)", once: POINT,
      setup: "p = Point.new(1, 2)"
  row "a singleton method", "o = Object.new; def o.a = 1; o.a"
  row "is_a? and ===", "Comparable === s && s.is_a?(String)", setup: 's = "a"'

  # ---- strings

  group "strings"
  row "string literal", '"a literal that is copied at each turn"'
  row "interpolation", '"abc#{i}"'
  row "String#<<", 's << "abc"; s.clear if s.bytesize > 1000', setup: "s = +''"
  row "String#+ and *", '"ab" * 3 + "c"'
  row "split", 'TEXT.split(" ").size', once: TEXT
  row "scan", 'TEXT.scan(/\w+/).size', once: TEXT
  row "gsub with a String", 'TEXT.gsub(/o/, "0").size', once: TEXT
  row "gsub with a Hash", 'TEXT.gsub(/[ox]/, SIGNS).size', once: "#{TEXT}; SIGNS = Ractor.make_shareable({ 'o' => '0', 'x' => '%' })"
  row "sub with a block", 'TEXT.sub(/q(\w+)/) { $1 }.size', once: TEXT
  row "=~ and $~", 'TEXT =~ /b(?<c>\w+)/; $~[:c]', once: TEXT
  row "match?", "TEXT.match?(/lazy/)", once: TEXT
  row "a Regexp made at each turn", '/a#{i % 8}/.match?("a3")'
  row "upcase and capitalize", "s.upcase + s.capitalize", setup: 's = "quince"'
  row "tr and delete", 's.tr("a-y", "b-z").delete("j")', setup: 's = "quince"'
  row "each_char", "n = 0; TEXT.each_char { |c| n += 1 if c == 'o' }; n", once: TEXT
  row "bytes and each_byte", "n = 0; s.each_byte { |b| n += b }; n + s.bytes.size", setup: 's = "quince"'
  row "String#[] and index", 'TEXT[i % 40, 5] + TEXT.index("lazy").to_s', once: TEXT
  row "String#== and start_with?", 'WORDS[i % 8] == "apple" || WORDS[i % 8].start_with?("p")', once: WORDS
  row "String#hash", "WORDS[i % 8].hash == WORDS[i % 8].hash", once: WORDS
  row "String#<=>", "WORDS[i % 8] <=> WORDS[(i + 1) % 8]", once: WORDS
  row "dedup: -string that exists", '-"abc#{i % 8}"'
  row "dedup: -string that is new", '-"abc#{i}"'
  row "encode to UTF-16 and back", 's.encode("UTF-16LE").encode("UTF-8")', setup: 's = "quïnce"'
  row "force_encoding and valid_encoding?", 's.force_encoding("BINARY").force_encoding("UTF-8").valid_encoding?', setup: 's = +"quïnce"'
  row "unicode_normalize", 's.unicode_normalize(:nfd).size', setup: 's = "quïnce"; s.unicode_normalize'
  row "pack and unpack", '[i, 2, 3].pack("Nnc").unpack("Nnc")'
  row "format", 'format("%05d %s %.2f", i, "a", 1.5)'
  row "String#%, center, ljust", '("%x" % i).ljust(8).center(12)'
  row "lines, strip, chomp", '" a\nb \nc\n".lines.map(&:strip).join'
  row "heredoc and squeeze", "<<~A.squeeze\n  aab \#{i % 10}\nA\n"
  row "StringIO", 'io = StringIO.new; io << "a" << i; io.string', once: 'require "stringio"'
  row "StringScanner", 's = StringScanner.new("ab 12"); s.scan(/\w+/); s.skip(/ /); s.scan(/\d+/)', once: 'require "strscan"'

  # ---- symbols

  group "symbols"
  row "to_sym of a symbol that exists", "WORDS[i % 8].to_sym", once: WORDS
  row "to_sym of a name that is new", '"name#{i}".to_sym.size'
  row "Symbol#to_s and name", ":apple.to_s + :apple.name"
  row "Symbol#to_proc", "WORDS.map(&:size).sum", once: WORDS
  row "Symbol#<=> and ==", "(:apple <=> :pear) == -1"

  # ---- numbers

  group "numbers"
  row "Integer#to_s", "i.to_s"
  row "Integer()", 'Integer("123") + Integer("ff", 16)'
  row "Float()", 'Float("1.25") + "2.5".to_f'
  row "Float#to_s and round", "(i * 0.1).round(3).to_s"
  row "Float arithmetic", "(i * 1.5e-300 + 2.5e300) / 3.0e200"
  row "bignum", "(2**70 + i) * 3 % 1_000_007"
  row "Rational", "Rational(i, 3) + 1"
  row "Complex", "Complex(i, 1) * Complex(2, 3)"
  row "digits and gcd", "i.digits.sum + i.gcd(12)"
  row "Integer.sqrt, pow, divmod", "Integer.sqrt(i) + i.pow(3, 7) + i.divmod(7).sum"
  row "rand", "rand(100)", shown: "value.class"
  row "Random.new", "Random.new(i).rand(100)"
  row "Integer#times with a block", "n = 0; 10.times { |k| n += k }; n"
  row "upto and step", "n = 0; 1.step(20, 3) { |k| n += k }; n"
  row "Range#sum, each, ===", "n = 0; (1..10).each { |k| n += k if (3..5) === k }; n"
  row "clamp, between?, Comparable", "i.clamp(3, 9) + (i.between?(2, 5) ? 1 : 0)"
  row "Math", "Math.sqrt(i) + Math.sin(i) + Math.log(i + 1)"

  # ---- calls

  group "calls"
  row "a method call", "area(i)", once: "def area(a) = a"
  row "send and public_send", "i.send(:+, 1) + i.public_send(:abs)"
  row "send of names that vary", "i.send(NAMES[i % 4])", once: "NAMES = %i[abs succ pred to_i].freeze"
  row "calls on 8 classes at one site", "all[i % 8].area", once: SHAPES, setup: "all = KINDS.map { |kind| kind.new(1) }"
  row "super", "s.area", once: "class A; def area = 1; end; class B < A; def area = super + 1; end", setup: "s = B.new"
  row "super with keywords and a block", "s.area(i, by: 2) { 3 }", setup: "s = B.new", once: <<~'RUBY'
    class A; def area(a, by: 1) = a * by + yield; end
    class B < A; def area(a, by: 1, &block) = super; end
  RUBY
  row "method_missing", "o.width", setup: "o = Ghost.new",
      once: "class Ghost; def method_missing(name, *) = name; def respond_to_missing?(*) = true; end"
  row "respond_to?", "i.respond_to?(:abs) && !i.respond_to?(:absent)"
  row "respond_to? of 8 classes", "all[i % 8].respond_to?(:area)", once: SHAPES, setup: "all = KINDS.map { |kind| kind.new(1) }"
  row "keywords", "area(a: i, b: 2)", once: "def area(a:, b: 1, c: 2) = a + b + c"
  row "keywords by **", "area(**options)", once: "def area(a:, b: 1) = a + b", setup: "options = { a: 1, b: 2 }"
  row "splats", "area(*list)", once: "def area(first, *rest) = first + rest.size", setup: "list = [1, 2, 3, 4]"
  row "optional arguments", "area(i) + area(i, 2)", once: "def area(a, b = a + 1) = a + b"
  row "forwarding by ...", "outer(i, by: 2)", once: "def inner(a, by:) = a * by; def outer(...) = inner(...)"
  row "instance_exec", "p.instance_exec(i) { |k| @x + k }", once: POINT, setup: "p = Point.new(1, 2)"
  row "Method objects", "i.method(:succ).call"
  row "a Method kept", "m.call(i)", setup: "m = 1.method(:+)"
  row "UnboundMethod#bind_call", 'm.bind_call("abc")', setup: "m = String.instance_method(:length)"
  row "define_method", "p.area(i)", setup: "p = Ghost.new",
      once: "class Ghost; define_method(:area, &Ractor.make_shareable(proc { |a| a + 1 })); end"
  row "Comparable", "V.new(i) < V.new(3)",
      once: "class V; include Comparable; attr_reader :n; def initialize(n) = @n = n; def <=>(o) = n <=> o.n; end"
  row "a refinement", '"abc".shout', once: 'module Loud; refine(String) { def shout = upcase }; end; using Loud'
  row "a method of a module in the chain", "o.area", setup: "o = Long.new",
      once: "module M1; def area = 1; end; class Long; 8.times { include Module.new }; include M1; end"
  row "operators of one's own", "V.new(1) + V.new(i)", shown: "value.n",
      once: "class V; attr_reader :n; def initialize(n) = @n = n; def +(o) = V.new(n + o.n); def [](k) = n; end"
  row "then, tap, itself", "i.then { |k| k + 1 }.tap { |k| k }.itself"
  row "safe navigation and ||=", "a = nil; a&.size; a ||= i; a"

  # ---- blocks

  group "blocks"
  row "yield", "twice { |k| k }", once: "def twice = yield(1) + yield(2)"
  row "&block, called", "pass { |k| k }", once: "def pass(&block) = block.call(1)"
  row "proc made and called", "proc { |k| k + 1 }.call(i)"
  row "lambda made and called", "->(k) { k + 1 }.(i)"
  row "a closure that counts", "c.call", setup: "n = 0; c = -> { n += 1 }"
  row "curry and >>", "(ADD.curry[1] >> ADD.curry[2]).call(i)", once: "ADD = Ractor.make_shareable(nil.instance_eval { ->(a, b) { a + b } })"
  row "Proc that is shareable", "ADD.call(i, 1)", once: "ADD = Ractor.make_shareable(nil.instance_eval { ->(a, b) { a + b } })"
  row "break and next", "[1, 2, 3].each { |k| next if k == 1; break k if k == 2 }"

  group "control"
  row "case in: an Array", "case [i, 2]; in [Integer => a, b] then a + b; end"
  row "case in: a Hash", "case { a: i, b: { c: 2 } }; in { a:, b: { c: } } then a + c; end"
  row "case when with Strings", 'case WORDS[i % 8]; when "fig" then 1; when "apple" then 2; else 3; end', once: WORDS
  row "raise and rescue", 'begin; raise ArgumentError, "a"; rescue => e; e.message; end'
  row "an exception 20 frames deep", "begin; deep(20); rescue => e; e.backtrace.size > 20; end",
      once: 'def deep(n) = n.zero? ? raise("a") : deep(n - 1)'
  row "rescue modifier of NoMethodError", "nil.absent rescue $!.name"
  row "ensure", "begin; i + 1; ensure; i; end"
  row "catch and throw", "catch(:found) { throw :found, i }"
  row "Integer() with exception: false", 'Integer("x", exception: false)'
  row "loop and StopIteration", "e = [1].each; n = 0; loop { n += e.next }; n"

  # ---- identity and sharing

  group "identity"
  row "object_id of a new object", "Object.new.object_id", shown: "value.class"
  row "object_id, asked again", "p.object_id", once: POINT, setup: "p = Point.new(1, 2)", shown: "value.class"
  row "variables of a String", 's = +"a"; s.instance_variable_set(:@a, i); s.instance_variable_get(:@a)'
  row "a variable of an Array, kept", "a.instance_variable_get(:@n)", setup: "a = [1]; a.instance_variable_set(:@n, 3)"
  row "an exception with a variable", "Oops.new(i).code", once: "class Oops < StandardError; attr_reader :code; def initialize(c) = @code = c; end"
  row "freeze and frozen?", '[i, "a"].freeze.frozen?'
  row "make_shareable", 'Ractor.make_shareable([i, "a", { b: 1 }])'
  row "shareable?", "Ractor.shareable?(LIMITS)", once: "LIMITS = Ractor.make_shareable([1, [2, 'a'], { b: 3 }])"
  row "WeakMap", "o = Object.new; w[o] = i; w[o]", setup: "w = ObjectSpace::WeakMap.new"
  row "WeakKeyMap", 'k = "a#{i % 8}"; w[k] = i; w[k]', setup: "w = ObjectSpace::WeakKeyMap.new"

  # ---- hashes and sets

  group "hashes"
  row "Hash#[] with Symbols", "h[:b]", setup: "h = { a: 1, b: 2, c: 3 }"
  row "Hash#[] with Strings", 'TABLE["key7"]', once: TABLE
  row "Hash#[] with Strings that are made", 'TABLE["key#{i % 100}"]', once: TABLE
  row "Hash#[] with keys of 50 classes", "TABLE[KEYS[i % 50]]", once: <<~'RUBY'
    KEYS = Ractor.make_shareable(Array.new(50) { |k| Class.new { class_eval("def hash = #{k}; def eql?(o) = true") }.new })
    TABLE = Ractor.make_shareable(KEYS.each_with_index.to_h)
  RUBY
  row "Hash#[]= with Integers", "h[i % 1000] = i", setup: "h = {}"
  row "Hash#[]= with Strings", 'h["k#{i % 1000}"] = i', setup: "h = {}"
  row "Hash literal", "{ a: i, b: 2, c: 3 }"
  row "a Hash that grows to 20", "h = {}; 20.times { |k| h[k] = k }; h.size"
  row "Hash#each and map", "n = 0; h.each { |k, v| n += v }; n + h.map { |k, v| v }.size", setup: "h = (0...20).to_h { |k| [k, k] }"
  row "Hash.new with a block", "h[i % 50] << i; h.clear if h.size > 40; h.size", setup: "h = Hash.new { |all, k| all[k] = [] }"
  row "merge, transform_values, select", "h.merge(d: i).transform_values { |v| v + 1 }.select { |_, v| v > 2 }.size",
      setup: "h = { a: 1, b: 2, c: 3 }"
  row "group_by, tally, to_h", "NUMBERS.group_by(&:odd?).size + NUMBERS.tally.size", once: NUMBERS
  row "compare_by_identity", "h[KEYS[i % 8]]", once: WORDS + "; KEYS = WORDS", setup: "h = {}.compare_by_identity; KEYS.each_with_index { |k, n| h[k] = n }"
  row "Hash with Arrays as keys", "h[[i % 10, 1]] = i", setup: "h = {}"
  row "Hash with one's own keys", "h[K.new(i % 10)] = i", setup: "h = {}",
      once: "class K; attr_reader :n; def initialize(n) = @n = n; def hash = @n.hash; def eql?(o) = @n == o.n; end"
  row "Hash#dig, fetch, key?", 'h.dig(:a, :b) + h.fetch(:c) + (h.key?(:d) ? 1 : 2)', setup: "h = { a: { b: 1 }, c: 2 }"
  row "Hash#== and hash", "h == g && h.hash == g.hash", setup: "h = { a: 1, b: [2] }; g = { a: 1, b: [2] }"
  row "Set", "s << i % 100; s.include?(3)", setup: "s = Set.new"
  row "Set operations", "(s | [i % 7, 20]).size + (s & [3]).size", setup: "s = Set[1, 2, 3, 4]"

  # ---- arrays

  group "arrays"
  row "Array literal", "[i, 2, 3]"
  row "Array#<<, pop, shift", "a << i << 2; a.pop; a.shift; a.size", setup: "a = []"
  row "Array#[] and []=", "a[i % 10] = a[3]", setup: "a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
  row "Array#each", "n = 0; NUMBERS.each { |k| n += k }; n", once: NUMBERS
  row "map, select, reduce", "NUMBERS.map { |k| k + 1 }.select(&:even?).reduce(:+)", once: NUMBERS
  row "sort", "NUMBERS.sort.first", once: NUMBERS
  row "sort_by and min_by", "NUMBERS.sort_by { |k| -k }.first + NUMBERS.min_by { |k| k % 10 }", once: NUMBERS
  row "sort with a block of Strings", "WORDS.sort { |a, b| b <=> a }.first", once: WORDS
  row "each_slice and each_cons", "NUMBERS.each_slice(10).sum(&:size) + NUMBERS.each_cons(2).count", once: NUMBERS
  row "zip and transpose", "[1, 2, 3].zip([4, 5, 6]).transpose.size"
  row "Array#pack and join", '[1, 2, i].pack("C*").bytesize + WORDS.join(",").size', once: WORDS
  row "flatten, compact, uniq", "[[1, [2, nil]], [2, 3]].flatten.compact.uniq"
  row "include?, index, bsearch", "NUMBERS.include?(999) || NUMBERS.index(991)", once: NUMBERS
  row "each_with_index, with_object", "NUMBERS.each_with_index.map { |k, n| k * n }.sum + NUMBERS.each_with_object([]) { |k, a| a << k }.size", once: NUMBERS
  row "product, combination", "[1, 2].product([3, 4]).size + [1, 2, 3].combination(2).to_a.size"
  row "Array#==, hash, <=>", "a == b && a.hash == b.hash && (a <=> b)", setup: 'a = [1, "a", [2]]; b = [1, "a", [2]]'
  row "multiple assignment", "a, (b, *c) = i, [2, 3, 4]; a + b + c.size"
  row "Array.new with a block", "Array.new(10) { |k| k }.sum"

  # ---- enumerators and fibers

  group "enumerators"
  row "each without a block, next", "e = [i, 2].each; e.next + e.next"
  row "an Enumerator of one's own", "Enumerator.new { |y| y << i << 2 }.to_a"
  row "lazy", "(1..Float::INFINITY).lazy.map { |k| k * 2 }.select { |k| k % 3 == 0 }.first(3)"
  row "Enumerator::produce and take", "Enumerator.produce(1) { |k| k * 2 }.take(5).sum"
  row "a Fiber started and ended", "Fiber.new { |k| k + 1 }.resume(i)"
  row "a Fiber resumed", "f.resume", setup: "f = Fiber.new { n = 0; loop { Fiber.yield(n += 1) } }"
  row "Fiber storage", "Fiber[:request] = i; Fiber[:request]"

  # ---- time and data

  group "time and data"
  row "Time.now", "Time.now", shown: "value.class"
  row "Time.at, +, to_i", "(Time.at(i) + 3600).to_i"
  row "Time.new and local fields", "Time.new(2026, 1 + i % 12, 3, 4, 5, 6).hour"
  row "strftime", 'T.strftime("%Y-%m-%d %H:%M:%S")', once: "T = Ractor.make_shareable(Time.utc(2026, 1, 2, 3, 4, 5))"
  row "Time.parse and iso8601", 'Time.parse("2026-01-02 03:04:05 UTC").iso8601', once: 'require "time"'
  row "Date", "(Date.new(2026, 1, 2) + i % 100).to_s", once: 'require "date"'
  row "clock_gettime", "Process.clock_gettime(Process::CLOCK_MONOTONIC)", shown: "value.class"
  row "Marshal", "Marshal.load(Marshal.dump(data))", setup: 'data = { "a" => [1, 2.5, :b], "c" => "d" * 20 }'
  row "JSON.generate", "JSON.generate(data)", once: 'require "json"', setup: 'data = { "a" => [1, 2.5, nil], "c" => "d" * 20 }'
  row "JSON.parse", "JSON.parse(TEXT)", once: %q(require "json"; TEXT = '{"a": [1, 2.5, null], "c": "dddddddd"}'.freeze)
  row "Digest and Base64", "[Digest::SHA256.digest(WORDS[i % 8])].pack('m0').size", once: "require \"digest\"; #{WORDS}"
  row "Zlib", "Zlib::Inflate.inflate(Zlib::Deflate.deflate(TEXT)).size", once: "require \"zlib\"; #{TEXT}"
  row "ERB", "PAGE.result_with_hash(n: i)", once: 'require "erb"; PAGE = Ractor.make_shareable(ERB.new("a <%= n %>"))'
  row "SecureRandom", "SecureRandom.hex(8)", once: 'require "securerandom"', shown: "value.size"

  # ---- threads

  group "threads"
  row "Mutex#synchronize", "m.synchronize { i }", setup: "m = Mutex.new"
  row "Monitor", "m.synchronize { m.synchronize { i } }", once: 'require "monitor"', setup: "m = Monitor.new"
  row "Queue, one thread", "q << i; q.pop", setup: "q = Queue.new"
  row "Queue, to a thread and back", "q << i; back.pop", setup: "q = Queue.new; back = Queue.new; Thread.new { while (k = q.pop); back << k; end }"
  row "a Thread started and ended", "Thread.new { i }.value"
  row "a thread's variables", "Thread.current[:a] = i; Thread.current[:a]"
  row "a Ractor's variables", "Ractor.current[:a] = i; Ractor.current[:a]"
  row "Timeout", "Timeout.timeout(60) { i }", once: 'require "timeout"'
  row "sleep 0 and Thread.pass", "Thread.pass; i"

  # ---- reflection and loading

  group "reflection"
  row "caller", "caller(0, 2).size"
  row "caller_locations", "caller_locations(0, 1).first.lineno > 0"
  row "__method__ and binding", "b = binding; b.local_variable_get(:i)"
  row "eval", 'eval("i + 1")'
  row "instance_eval of a String", 'p.instance_eval("@x + 1")', once: POINT, setup: "p = Point.new(1, 2)"
  row "methods, instance_variables", "p.instance_variables.size + p.methods(false).size", once: POINT, setup: "p = Point.new(1, 2)"
  row "defined?", "defined?(String) && defined?(@absent).nil?"
  row "inspect of an object", "p.inspect", once: POINT, setup: "p = Point.new(1, 2)"
  row "a class made", "Class.new { def a = 1 }.new.a"
  row "a subclass made", "Class.new(Point).new(1, i).y", once: POINT
  row "a module included", "Class.new { include Comparable }.include?(Comparable)"
  row "extend of an object", "o = Object.new; o.extend(Comparable); o.is_a?(Comparable)"
  row "define_method, then remove_method", "k.class_eval { def b = 1 }; k.new.b.tap { k.remove_method(:b) }", setup: "k = Class.new"
  row "first calls of a new class's methods", "Class.new(Form).new(i).then { |o| o.a + o.b + o.c }",
      once: "class Form; def initialize(a) = @a = a; def a = @a; def b = a + 1; def c = b + 1; end"
  row "first calls after a method was defined", "Form.class_eval(\"def a = \#{i}\"); f.a.class", setup: "f = Form.new", once: "class Form; end"
  row "RubyVM::InstructionSequence", 'RubyVM::InstructionSequence.compile("1 + 2").eval'

  group "loading"
  row "require of what is loaded", 'require "set"', once: 'require "set"'
  row "require of a library in C that is loaded", 'require "stringio"', once: 'require "stringio"'
  row "load of a file", "load(FILE)", once: <<~'RUBY'
    require "tmpdir"
    FILE = File.join(Dir.tmpdir, "map_load_#{Process.pid}.rb").freeze
    File.write(FILE, "class Loaded; def a = 1; end\n")
    at_exit { File.delete(FILE) rescue nil }
  RUBY

  # ---- Ractors

  group "Ractors"
  row "a Ractor started and ended", "Ractor.new(i) { |k| k }.take"
  row "a message to and fro", "r.send(i); r.take", setup: "r = Ractor.new { loop { Ractor.yield(Ractor.receive) } }"
  { "an Integer" => "i", "a Symbol" => ":a" }.each do |what, value|
    row "message: #{what}", "Ractor.current.send(#{value}); Ractor.receive"
  end
  {
    "a string of 10 bytes" => '"a" * 10', "a string of 100 kB" => '"a" * 100_000',
    "10 strings" => 'Array.new(10) { |k| "text #{k}" }',
    "1,000 arrays of 2" => "Array.new(1000) { |k| [k, k] }",
    "100 objects" => "Array.new(100) { |k| Point.new(k, k) }",
  }.each do |what, value|
    row "message copied: #{what}", "Ractor.current.send(m); Ractor.receive.size", once: POINT, setup: "m = #{value}"
    row "message moved: #{what}", "Ractor.current.send(m, move: true); m = Ractor.receive; m.size", once: POINT, setup: "m = #{value}"
    row "message shareable: #{what}", "Ractor.current.send(m); Ractor.receive.size", once: POINT, setup: "m = Ractor.make_shareable(#{value})"
  end

  # ---- IO

  group "IO"
  row "a pipe", 'w.write("abc"); r.read(3)', setup: "r, w = IO.pipe"
  row "a pipe, lines", 'w.puts("abc"); r.gets', setup: "r, w = IO.pipe"
  row "File.read", 'File.read("/proc/self/statm")', shown: "value.class"
  row "a file written and read", 'f.rewind; f.write("abc\n"); f.rewind; f.gets', once: 'require "tempfile"', setup: 'f = Tempfile.create("map", anonymous: true)'
  row "File.exist?, join, basename", 'File.exist?("/") && File.basename(File.join("a", "b.rb"), ".rb")'
  row "Dir.children", 'Dir.children("/proc/self/fdinfo").size > 0'
  row "a loopback socket", 'a.write("ping"); b.readpartial(4)', once: 'require "socket"', setup: <<~'RUBY'
    server = TCPServer.new("127.0.0.1", 0)
    a = TCPSocket.new("127.0.0.1", server.addr[1])
    b = server.accept
    a.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  RUBY
  row "a Unix socket pair", 'a.write("ping"); b.readpartial(4)', once: 'require "socket"', setup: "a, b = UNIXSocket.pair"
  row "a process run", 'Process.wait(spawn("true")); $?.exitstatus'
  row "IO.select", "w.write(\"a\"); IO.select([r], nil, nil, 1); r.getbyte", setup: "r, w = IO.pipe"
end
