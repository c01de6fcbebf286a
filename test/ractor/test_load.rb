# frozen_string_literal: true
# ractor/test_load.rb - ractor/load.c, ractor/load.h: what several Ractors are the first to use.

require "test/unit"

class TestLockfreeRactorLoad < Test::Unit::TestCase
  PAIRS = [%w[EUC-JP CP51932], %w[Windows-31J SJIS-DoCoMo], %w[Shift_JIS MacJapanese], %w[Big5 CP950]].freeze

  # Bug #19562
  def test_racing_load_and_load_of_what_it_is_based_on
    (PAIRS * 10).each do |names|
      assert_ractor(<<~RUBY, timeout: 20)
        ractors = #{names}.cycle.first(4).map do |name|
          Ractor.new(name) { |e| Ractor.receive; ("a".dup.force_encoding(e) + "b".encode(e)).valid_encoding? }
        end
        ractors.each { |r| r.send(:go) }
        assert_equal([true] * 4, ractors.map(&:take))
      RUBY
    end
  end

  # Each wrote to main's table of paths, as in stock.
  def test_racing_load_and_load
    assert_ractor(<<~'RUBY', timeout: 60)
      require "tmpdir"
      Dir.mktmpdir do |folder|
        files = Array.new(4) { |r| Array.new(400) { |i| "#{folder}/#{r}_#{i}.rb".tap { |name| File.write(name, "") } } }
        Ractor.make_shareable(files)
        ractors = files.map { |names| Ractor.new(names) { |names| names.each { |name| load name }.size } }
        50.times { |i| File.write(name = "#{folder}/main#{i}.rb", ""); require name }
        assert_equal([400] * 4, ractors.map(&:take))

        # what is looked for in $LOAD_PATH, while main changes it
        $LOAD_PATH << folder
        names = Array.new(40) { |i| "0_#{i}.rb" }.freeze
        ractors = Array.new(4) { Ractor.new(Ractor.make_shareable(names)) { |names| names.each { |name| load name }.size } }
        200.times { |i| $LOAD_PATH.unshift("#{folder}/none#{i % 7}"); $LOAD_PATH.shift }
        assert_equal([40] * 4, ractors.map(&:take))
        assert_equal(LoadError, Ractor.new { begin; load "not there.rb"; rescue LoadError; $!.class; end }.take)
      end
    RUBY
  end

  # Each has a `main` of its own: main's variables are main's.
  def test_racing_load_and_variables_of_main
    assert_ractor(<<~'RUBY', timeout: 60)
      require "tmpdir"
      @list = []
      def self.own = :own
      Dir.mktmpdir do |folder|
        names = Array.new(4) { |n| "#{folder}/#{n}.rb" }
        names.each_with_index do |name, n|
          File.write(name, (0...30).map { |i| "@v#{n}_#{i} = 'x' * #{i}; (@list ||= []) << 'q' * 50" }.join("\n"))
        end
        File.write(ask = "#{folder}/ask.rb", "$stdout.puts([to_s, inspect, own, @list.class, (def x = 1)].inspect)")
        ractors = names.map { |name| Ractor.new(name) { |name| 100.times { |i| load name, i.odd? }; :loaded } }
        300.times { |i| instance_variable_set(:"@m#{i % 40}", "y" * i); GC.start if i % 50 == 0 }
        assert_equal([:loaded] * 4, ractors.map(&:take))
        assert_equal([[], []], [@list, instance_variables.grep(/v\d_/)])

        r, w = IO.pipe
        Ractor.new(w, ask) { |w, ask| $stdout = w; load ask; Thread.new { load ask, true }.join }.take
        w.close
        assert_equal("[\"main\", \"main\", :own, NilClass, :x]\n" * 2, r.gets + r.gets)

        # its methods are main's, whenever they came, and those of all its threads
        File.write(extend = "#{folder}/extend.rb", "extend(Module.new { def late = :late }); @secret = [1]")
        File.write(define = "#{folder}/define.rb", "def self.ours = @mine = 1")
        File.write(all = "#{folder}/all.rb", "Thread.current[:all] = [late, ours, @secret, instance_variables, to_s, (none rescue $!.message)]")
        found = Ractor.new([extend, define, all].freeze) do |extend, define, all|
          load define
          require extend
          Thread.new { load all; Thread.current[:all] }.value
        end.take
        assert_equal([:late, 1, nil, [:@mine], "main", "undefined local variable or method 'none' for main"], found)
        assert_equal(["main", nil], Ractor.new { RubyVM::InstructionSequence.compile("[to_s, @secret]").eval }.take)
      end
    RUBY
  end

  def test_main_cannot_make_the_thread
    assert_ractor(<<~'RUBY', timeout: 20)
      ractor = Ractor.new { Ractor.receive; [(require "prettyprint" rescue $!.class), 1 + 1] }
      Thread.current.group.freeze
      ractor.send(:go)
      assert_equal([ThreadError, 2], ractor.take)
    RUBY
  end

  # Both are one bit; main looks when it has computed.
  def test_racing_require_and_handler_that_raises
    assert_ractor(<<~'RUBY', timeout: 20)
      trap("USR1") { raise "by the handler" }
      ractor = Ractor.new { Ractor.receive; Process.kill(:USR1, $$); require "prettyprint"; :loaded }
      error = assert_raise(RuntimeError) do
        ractor.send(:go)
        2.times { 7**4_000_000 }
        sleep 10
      end
      assert_equal(["by the handler", :loaded], [error.message, ractor.take])
    RUBY
  end

  # What comes after the first interrupt of who locks again, as it has been woken.
  def test_racing_require_and_lock_after_wait
    assert_ractor(<<~'RUBY', timeout: 20)
      mutex, condition, main = Mutex.new, ConditionVariable.new, Thread.current
      ractor = Ractor.new { Ractor.receive; require "prettyprint"; :loaded }
      thread = Thread.new do
        sleep 0.01 until main.stop?
        mutex.synchronize do
          condition.signal
          sleep 0.1
          main.wakeup
          sleep 0.1
          ractor.send(:go)
          sleep 0.2
        end
      end
      mutex.synchronize { condition.wait(mutex) }
      assert_equal(:loaded, ractor.take)
      thread.join
    RUBY
  end

  # With one thread, a crash of upstream's.
  def test_converters_of_which_one_has_a_replacement
    converters = Array.new(2) { Encoding::Converter.new("UTF-8", "EUC-JP") }
    assert_equal(*converters)
    converters[0].replacement = "x"
    assert_not_equal(*converters)
    assert_not_equal(*converters.reverse)
    converters[1].replacement = "x"
    assert_equal(*converters)
  end

  FILES = <<~'RUBY'
    require "tmpdir"
    require "fileutils"
    DIR = Dir.mktmpdir.freeze
    at_exit { FileUtils.rm_rf(DIR) }
    def self.file(name, text) = File.write("#{DIR}/#{name}.rb", text)
  RUBY

  def assert_loads(code)
    assert_separately(%w[-W:no-experimental --disable-gems], FILES + code, timeout: 60)
  end

  # What main rescues goes to the Ractor that asked: upstream loses where it was raised, and of a NameError everything.
  def test_exception_of_a_file_that_main_loads
    assert_loads(<<~'RUBY')
      file("name", "\nmodule Q; V = zork; end")
      file("const", "P = Zork")
      file("not_there", 'require "nowhere/at/all"')
      file("syntax", "def")
      file("exits", "exit 5")
      file("own", <<~'FILE')
        class Own < StandardError
          attr_reader :list, :thread, :block
          def initialize = (super("mine"); @list = [[1], "x"]; @thread = Thread.current; @block = -> { 1 })
        end
        def raiser
          raise ArgumentError, "first"
        rescue
          raise Own
        end
        raiser
      FILE
      found = Ractor.new do
        %w[name const not_there syntax exits own].to_h do |name|
          require "#{DIR}/#{name}.rb"
        rescue Exception => e
          what = [e.class, e.message.lines.first.chomp, e.backtrace&.first&.sub(/.*\//, ""), e.cause.class]
          what << e.name if NameError === e
          what << e.path if LoadError === e
          what << e.status if SystemExit === e
          what.push(e.list, e.thread, e.block, e.cause.message, e.cause.backtrace.first[/\w+\.rb:\d+/], e.backtrace_locations) if name == "own"
          [name, what]
        end
      end.take
      assert_equal([NameError, "undefined local variable or method 'zork' for module Q", "name.rb:2:in '<module:Q>'", NilClass, :zork], found["name"])
      assert_equal([NameError, "uninitialized constant Zork", "const.rb:1:in '<top (required)>'", NilClass, :Zork], found["const"])
      assert_equal([LoadError, "cannot load such file -- nowhere/at/all", LoadError, "nowhere/at/all"], found["not_there"].values_at(0, 1, 0, 4))
      assert_equal(SyntaxError, found["syntax"][0])
      assert_equal([SystemExit, "exit", "exits.rb:1:in 'Kernel#exit'", NilClass, 5], found["exits"])
      assert_equal([Own, "mine", "own.rb:8:in 'Object#raiser'", ArgumentError, [[1], "x"], nil, nil, "first", "own.rb:6", nil], found["own"])
    RUBY
  end

  def test_exception_of_a_file_that_main_loads_has_what_it_had
    assert_loads(<<~'RUBY')
      module Retry; end
      class Own < StandardError; attr_accessor :me, :list, :same, :original, :thread; end
      SHARED = Ractor.make_shareable(Own.new("shared"))
      file("extended", "e = Own.new('e'); e.extend(Retry); def e.hint = :hint; raise e")
      file("shared", "raise SHARED")
      file("frozen", "raise Own.new('frozen').freeze")
      file("parts", <<~'FILE')
        begin
          zork
        rescue NameError => e
          own = Own.new(Thread.current)
          own.original, own.me, own.list, own.thread = e, own, [1], [Thread.current]
          own.same = own.list
          $kept = own
          raise own
        end
      FILE
      found = Ractor.new do
        %w[extended shared frozen parts].map do |name|
          require "#{DIR}/#{name}.rb"
        rescue Retry
          [$!.class, $!.hint]
        rescue Own => e
          next [e.equal?(SHARED), e.frozen?, e.message] unless e.original
          e.list << 2
          [e.equal?(e.me), e.list.equal?(e.same), e.cause.equal?(e.original), e.cause.class, e.cause.backtrace.size,
           e.message[0, 9], e.thread]
        end
      end.take
      assert_equal([[Own, :hint], [true, true, "shared"], [false, true, "frozen"]], found.first(3))
      assert_equal([true, true, true, NameError, $kept.cause.backtrace.size, "#<Thread:", nil], found[3])
      assert_equal([1], $kept.list)
    RUBY
  end

  # What it has is main's, and stays there, when the thread is killed while it is copied.
  def test_main_is_killed_while_it_copies
    assert_loads(<<~'RUBY')
      class Ends; def initialize_copy(other) = Thread.exit; end
      class Own < StandardError; attr_reader :list; def initialize = (super("own"); @list = $list = [1]; @ends = Ends.new); end
      file("own", "raise Own")
      found = Ractor.new do
        require "#{DIR}/own.rb"
      rescue Own
        $!.list << 2
      rescue ThreadError
        :killed
      end.take
      assert_equal([:killed, [1]], [found, $list])
    RUBY
  end

  # Upstream gives the Ractor that exception itself, with main's objects in it.
  def test_what_is_raised_while_main_copies_for_a_ractor_is_copied
    assert_loads(<<~'RUBY')
      $kept = Struct.new(:list).new([1])
      class Hooked < StandardError
        attr_accessor :list
        def self.method_added(name) = (raise(Hooked.new("hook").tap { _1.list = $kept.list }) if $on) # self: a singleton class
      end
      class Result; def initialize_clone(*) = raise(Hooked.new("clone").tap { _1.list = $kept.list }); end
      file("hooked", "e = Hooked.new('file'); e.list = $kept.list; def e.hint = 1; $on = true; raise e")
      module Kernel
        prepend(Module.new { def require(name) = name == "result" ? Result.new : super })
      end
      found = Ractor.new do
        ["#{DIR}/hooked.rb", "result"].map do |name|
          require name
        rescue Hooked
          $!.list << 2
          [$!.class, $!.message, $!.list]
        end
      end.take
      assert_equal([[Hooked, "file", [1, 2]], [Hooked, "clone", [1, 2]]], found)
      assert_equal([1], $kept.list)
    RUBY
  end

  def test_racing_autoload_and_autoload
    assert_loads(<<~'RUBY')
      20.times { |i| file("a#{i}", "module A#{i}; X = #{i}; sleep 0.001; end"); Object.autoload(:"A#{i}", "#{DIR}/a#{i}.rb") }
      ractors = 8.times.map { Ractor.new { 20.times.sum { |i| Object.const_get("A#{i}")::X } } }
      assert_equal([190] * 8, ractors.map(&:take))
    RUBY
  end

  def test_racing_autoload_and_autoload_of_what_is_not_there
    assert_loads(<<~'RUBY')
      M = Module.new
      30.times { |i| M.autoload(:"A#{i}", "#{DIR}/none#{i}") }
      ractors = 8.times.map do |n|
        Ractor.new(n) do |n|
          30.times.flat_map do |i|
            M.autoload(:"B#{n}_#{i}", "#{DIR}/none#{n}_#{i}")
            [:"A#{i}", :"B#{n}_#{i}"].map do |name|
              M.const_get(name)
            rescue LoadError
              :not_there
            end
          end.tally
        end
      end
      assert_equal([{not_there: 60}] * 8, ractors.map(&:take))
    RUBY
  end

  def test_racing_autoload_and_const_set
    assert_loads(<<~'RUBY')
      $VERBOSE = nil
      M = Module.new
      40.times { |i| file("b#{i}", "module M; module B#{i}; end; end") }
      FILE = Ractor.make_shareable(Array.new(40) { |i| "#{DIR}/b#{i}.rb" })
      ractors = 6.times.map do |n|
        Ractor.new(n) do |n|
          40.times do |i|
            name = :"B#{i}"
            case (i + n) % 4
            when 0 then M.autoload(name, FILE[i])
            when 1 then [nil, FILE[i]].include?(M.autoload?(name)) or raise
            when 2 then M.const_get(name) if M.const_defined?(name)
            when 3 then M.const_set(name, 5) if M.const_defined?(name)
            end
          rescue TypeError # it is no module when its file is loaded
          end
          :ok
        end
      end
      assert_equal([:ok] * 6, ractors.map(&:take))
    RUBY
  end

  def test_racing_require_and_kill
    assert_loads(<<~'RUBY')
      40.times { |i| file("s#{i}", "sleep 0.005; module S#{i}; end") }
      ractors = 4.times.map do |n|
        Ractor.new(n) do |n|
          40.times do |i|
            thread = Thread.new { require "#{DIR}/s#{i}.rb" }
            sleep 0.002
            thread.kill.join
            GC.start if i % 9 == n
          end
          :ok
        end
      end
      assert_equal([:ok] * 4, ractors.map(&:take))
    RUBY
  end

  # Whatever becomes of main's thread, who asked it hears of it.
  def test_endings_of_a_load
    assert_loads(<<~'RUBY')
      file("long", "sleep")
      file("raises", "raise 'told'")
      file("throws", "throw :ball")
      file("exits", "exit 4")
      ractor = Ractor.new do
        require "#{DIR}/long.rb"
      rescue ThreadError
        :killed
      end
      Thread.pass until Thread.list.size == 2
      sleep 0.05
      (Thread.list - [Thread.current]).each(&:kill)
      assert_equal(:killed, ractor.take)
      ractor = Ractor.new do
        %w[raises throws exits].map do |name|
          require "#{DIR}/#{name}.rb"
        rescue Exception => error
          error.class
        end
      end
      assert_equal([RuntimeError, UncaughtThrowError, SystemExit], ractor.take)
    RUBY
  end

  # String#encode is given keywords; what main runs to load for it is not.
  def test_load_by_method_with_keywords
    assert_ractor(<<~'RUBY', timeout: 20)
      names = %w[UTF-16LE EUC-JP Shift_JIS ISO-2022-JP GB18030 Windows-1252]
      ractors = names.map do |name|
        Ractor.new(name) { |e| "a\u00e9".encode(e, undef: :replace, invalid: :replace).encode("UTF-8", undef: :replace)[0] }
      end
      assert_equal(["a"] * names.size, ractors.map(&:take))
    RUBY
  end

  def test_load_in_a_call_with_keywords
    assert_ractor(<<~RUBY, timeout: 20)
      names = Ractor.new do
        %w[ISO-8859-3 KOI8-R EUC-KR].map do |name|
          File.open(File::NULL, "r", external_encoding: name, internal_encoding: "UTF-8") { _1.external_encoding.name }
        end
      end.take
      assert_equal(%w[ISO-8859-3 KOI8-R EUC-KR], names)
    RUBY
  end

  # The interrupted thread waits for the copying, which waits for main.
  def test_racing_interrupted_take_and_autoload_while_the_answer_is_copied
    ["thread = Thread.current; Thread.new { sleep 0.1; thread.raise('stop') }; yielder.take rescue nil",
     "thread = Thread.new { yielder.take }; sleep 0.1; thread.kill.join",
     "thread = Thread.new { Ractor.select(yielder) }; sleep 0.1; thread.kill.join"].each do |take|
      assert_loads(<<~RUBY)
        file("late", "Late = 1")
        Object.autoload(:Late, "\#{DIR}/late.rb")
        class Slow
          def initialize_clone(*, **) = (sleep 0.3; raise if Late != 1; super)
        end
        yielder = Ractor.new { loop { Ractor.yield(Slow.new) } }
        #{take}
        assert_instance_of(Slow, yielder.take)
      RUBY
    end
  end

  # main is interrupted to load; upstream the same with Thread#wakeup.
  def test_racing_deflate_and_load
    assert_separately(%w[-W:no-experimental --disable-gems -rzlib], <<~'RUBY', timeout: 60)
      ractors = Array.new(2) { Ractor.new { 20_000.times { require "set" }; :done } }
      results = Hash.new(0)
      2000.times do
        deflate = Zlib::Deflate.new
        20.times { deflate << "ab" }
        results[Zlib.inflate(deflate.finish)] += 1
      rescue Zlib::BufError => e
        results[e.message] += 1
      end
      assert_equal({ "ab" * 20 => 2000 }, results)
      assert_equal([:done] * 2, ractors.map(&:take))
    RUBY
  end

  # As in main, which does it, no `require` of the program is called.
  def test_encodings_are_not_required_by_the_program
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      $required = []
      module Kernel
        alias_method(:original_require, :require)
        def require(name) = ($required << name) && original_require(name)
      end
      answers = Ractor.new do
        ["a".encode("EUC-JP").bytes, ("a".encode("no-such-one") rescue $!.class), (Encoding.find("no-such-one") rescue $!.class)]
      end.take
      assert_equal([[97], Encoding::ConverterNotFoundError, ArgumentError], answers)
      assert_equal([], $required)
    RUBY
  end

  # Coverage is main's: others compile without.
  def test_racing_coverage_and_compile
    assert_separately(%w[-W0 --disable-gems -rcoverage], <<~'RUBY', timeout: 60)
      ractors = Array.new(4) do
        Ractor.new { 3000.times { |i| eval("def m = [1].map do |x|\n x +\n #{i}\n end", nil, "f#{i % 3}.rb", 1) }; :done }
      end
      until ractors.all? { |ractor| ractor.inspect.include?("terminated") }
        Coverage.start(:all)
        eval("1\n2", nil, "main.rb", 1)
        Coverage.result
      end
      assert_equal([:done] * 4, ractors.map(&:take))
    RUBY
  end
end
