# frozen_string_literal: true
# ractor/test_loaded.rb - ractor/loaded.h: what main has found to be loaded, and until when that holds.

require "test/unit"

class TestLockfreeRactorLoaded < Test::Unit::TestCase
  # file(name, text) writes a file that counts in $loads how often it is loaded; ask(names...) requires them in a Ractor;
  # asked { } is how many threads main has made meanwhile.
  PRELUDE = <<~'RUBY'
    require "tmpdir"
    require "fileutils"
    DIR = File.realpath(Dir.mktmpdir).freeze
    at_exit { FileUtils.rm_rf(DIR) }
    $loads = Hash.new(0)
    def self.file(name, folder = DIR)
      FileUtils.mkdir_p(folder)
      File.write(path = "#{folder}/#{name}.rb", "$loads[__FILE__] += 1")
      path
    end
    def self.ask(*names) = Ractor.new(names) { |names| names.map { |name| require name } }.take
    def self.asked
      threads = 0
      TracePoint.new(:thread_begin) { threads += 1 }.enable(target_thread: nil) { yield }
      threads
    end
    Ractor.new {}.take
  RUBY

  def assert_required(code, options = %w[--disable-gems], timeout: 60)
    assert_separately(["-W:no-experimental", *options], PRELUDE + code, timeout: timeout)
  end

  ONCE = <<~'RUBY'
    $LOAD_PATH << DIR
    path = file("one")
    names = ["one", "one.rb", path, path.delete_suffix(".rb")]
    require "one"
    in_order = RUBY_PLATFORM.match?(/x86|i\d86/) # elsewhere main is asked each time
    assert_equal(4, asked { assert_equal([false] * 4, ask(*names)) })
    assert_equal([[false] * 4] * 3, Array.new(3) { ask(*names) })
    threads = asked { 8.times.map { Ractor.new(names) { |names| 100.times { names.each { |n| require n } } } }.each(&:take) }
    assert_equal(0, threads) if in_order

    # what is loaded meanwhile changes nothing
    require file("two")
    assert_equal([true], ask(file("three")))
    assert_equal(in_order ? 0 : 4, asked { ask(*names) })
    assert_equal({ path => 1, "#{DIR}/two.rb" => 1, "#{DIR}/three.rb" => 1 }, $loads)
  RUBY

  def test_main_is_asked_once = assert_required(ONCE)

  def test_main_is_asked_once_with_rubygems = assert_required("assert_kind_of(Module, Gem)\n" + ONCE, %w[--enable-gems])

  # main is not needed: it computes, and looks for no interrupt.
  def test_main_does_not_look
    omit "main is asked: loaded.h, LOADED_STORES_IN_ORDER" unless RUBY_PLATFORM.match?(/x86|i\d86/)
    assert_required(<<~'RUBY')
      ask("fileutils")
      ractor = Ractor.new { Ractor.receive; sleep 0.01; require "fileutils"; Process.clock_gettime(Process::CLOCK_MONOTONIC) }
      ractor.send(:go)
      _ = 7**4_000_000
      computed = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      assert_operator(ractor.take, :<, computed)
    RUBY
  end

  def test_loaded_features_change
    assert_required(<<~'RUBY')
      one, two = file("one"), file("two")
      require one
      ask(one)
      assert_equal([false], ask(one))

      $LOADED_FEATURES.delete(one)
      assert_equal([true], ask(one))
      2.times { assert_equal([false], ask(one)) }

      # indexed anew before a Ractor looks, at the same length
      $LOADED_FEATURES.pop
      require two
      assert_equal([true], ask(one))
      2.times { assert_equal([false, false], ask(one, two)) }

      $LOADED_FEATURES[$LOADED_FEATURES.index(one)] = "something else"
      assert_equal([true, false], ask(one, two))
      2.times { assert_equal([false, false], ask(one, two)) }

      kept = $LOADED_FEATURES.dup
      $LOADED_FEATURES.delete(one)
      $LOADED_FEATURES.replace(kept)
      assert_equal([false], ask(one))
      $LOADED_FEATURES.clear
      assert_equal([true], ask(one))
      assert_equal({ one => 5, two => 1 }, $loads)
    RUBY
  end

  def test_load_path_changes
    assert_required(<<~'RUBY')
      old, new = file("same", "#{DIR}/old"), file("same", "#{DIR}/new")
      $LOAD_PATH << "#{DIR}/old"
      assert_equal([true, false, false], ask("same", "same", "same"))
      $LOAD_PATH[-1] = "#{DIR}/new"
      assert_equal([true, false, false], ask("same", "same", "same"))
      assert_equal({ old => 1, new => 1 }, $loads)

      # by the working directory, or by a method: main is asked each time
      require "pathname"
      folders = Array.new(4) { |i| File.dirname(file("here", "#{DIR}/here#{i}/in")) }
      [-> (_) { "in" }, -> (i) { Pathname(folders[i]) }].each do |entry|
        $loads.clear
        $LOADED_FEATURES.reject! { |path| path.include?("here") }
        folders.size.times do |i|
          Dir.chdir(File.dirname(folders[i]))
          $LOAD_PATH[-1] = entry[i]
          assert_equal([true, false], ask("here", "here"))
        end
        assert_equal([1] * 4, $loads.values)
      end
      assert_equal([true, true], folders.first(2).map { |folder| $LOADED_FEATURES.clear; Dir.chdir(folder); ask("./here")[0] })
    RUBY
  end

  # main indexes the list while it indexes the list, which changes then.
  def test_load_path_changes_while_it_is_indexed
    assert_required(<<~'RUBY')
      old, new = file("same", "#{DIR}/old"), file("same", "#{DIR}/new")
      changing = Object.new
      def changing.to_path
        change, $change = $change, nil
        change&.call
        DIR
      end
      $change = proc do
        $LOAD_PATH[0] = DIR
        assert_equal([true, false], ask("same", "same"))
        $LOAD_PATH[-1] = "#{DIR}/new"
      end
      $LOAD_PATH << "#{DIR}/old"
      $LOAD_PATH.unshift(changing)
      assert_raise(LoadError) { require "nothing" }
      assert_equal([true, false], ask("same", "same"))
      assert_equal({ old => 1, new => 1 }, $loads)
    RUBY
  end

  def test_a_require_of_the_program
    assert_required(<<~'RUBY')
      ask("fileutils")
      $names = []
      own = Module.new { def require(name) = (Ractor.main? and $names << name; super) }
      [ # not in Kernel itself: upstream does not find what is defined there under a module that is prepended
        -> { Kernel.prepend(own) },
        -> { class Object; def require(name) = (Ractor.main? and $names << name; super); end },
        -> { NilClass.prepend(own) },
        -> { def nil.require(name) = (Ractor.main? and $names << name; super) },
      ].each_with_index do |change, at|
        change.call
        $names.clear
        3.times { assert_equal([false], ask("fileutils")) }
        assert_operator($names.size, :>=, 3, at.to_s)
      end
    RUBY
  end

  def test_a_require_of_the_program_from_the_start
    assert_separately(%w[-W:no-experimental --disable-gems], <<~'RUBY')
      $names = []
      module Kernel
        alias was require
        def require(name) = ($names << name; was(name))
      end
      Ractor.new { 3.times { require "fileutils" } }.take
      assert_equal(3, $names.count("fileutils"))
    RUBY
  end

  def test_a_require_of_the_program_below_rubygems
    assert_required(<<~'RUBY', %w[--enable-gems])
      ask("fileutils")
      $names = []
      module Kernel
        alias was gem_original_require
        def gem_original_require(name) = ($names << name; was(name))
      end
      3.times { assert_equal([false], ask("fileutils")) }
      assert_equal(3, $names.count("fileutils"))
    RUBY
  end

  def test_names_that_are_no_plain_strings
    assert_required(<<~'RUBY')
      class Name < String
        def hash = raise
        def eql?(other) = raise
      end
      $LOAD_PATH << DIR
      file("one")
      require "one"
      assert_equal([false] * 4, ask("one", Name.new("one"), "one".encode("UTF-16LE").force_encoding("UTF-8").delete("\0"), +"one"))
      assert_equal([ArgumentError, TypeError, LoadError, LoadError], Ractor.new {
        ["one\0", 1, "", "o"].map do |name|
          require name
        rescue Exception
          $!.class
        end
      }.take)
      assert_equal([false] * 600, ask(*Array.new(600) { |i| "#{DIR}/#{'x/../' * i}one" }.each { |name| FileUtils.mkdir_p("#{DIR}/x") }))
    RUBY
  end

  def test_more_names_than_are_kept
    assert_required(<<~'RUBY')
      names = Array.new(1200) { |i| file("f#{i}") }
      assert_equal([true] * 1200, ask(*names))
      4.times.map { |n| Ractor.new(names.rotate(n * 300)) { |names| 2.times { names.each { |n| require n and raise n } } } }.each(&:take)
      assert_equal([1], $loads.values.uniq)
      assert_equal(1200, $loads.size)
      GC.compact if GC.respond_to?(:compact)
      assert_equal([false] * 1200, ask(*names))
    RUBY
  end

  # main looks at the folders, although the name is loaded; so does the Ractor, and asks main if there is a file.
  def test_names_for_which_main_looks_at_files
    assert_required(<<~'RUBY')
      $LOAD_PATH.unshift("#{DIR}/new", DIR)
      file("dotted.name")
      require "etc.so"
      assert_equal([false, false, true, false], ask("etc", "etc", "dotted.name", "dotted.name"))
      assert_equal([false] * 2, ask("etc.so", "etc.so"))
      threads = asked { assert_equal([false] * 3, ask("etc", "etc", "etc.so")) }
      assert_equal(0, threads) if RUBY_PLATFORM.match?(/x86|i\d86/)
      FileUtils.mkdir_p("#{DIR}/new/etc.rb")
      assert_equal([false], ask("etc")) # no file
      FileUtils.rmdir("#{DIR}/new/etc.rb")
      file("etc", "#{DIR}/new")
      file("dotted.name", "#{DIR}/new")
      assert_equal([true, false, true], ask("etc", "etc.so", "dotted.name"))
    RUBY
  end

  # While main answers that it is loaded, it is loaded anew, and that fails.
  def test_a_name_that_is_being_loaded
    assert_required(<<~'RUBY')
      $go = Queue.new
      path = file("one")
      require path
      File.write(path, "if ($loads[__FILE__] += 1) == 2; $go << 1; sleep 0.2; raise 'not now'; end")
      loader = nil
      TracePoint.new(:return) do |event|
        if event.method_id == :require && !loader && Thread.current != Thread.main
          $LOADED_FEATURES.delete(path)
          loader = Thread.new { require path rescue $!.message }
          $go.pop
        end
      end.enable(target_thread: nil) { assert_equal([false], ask(path)) }
      assert_equal([true], ask(path)) # waits, and loads
      assert_equal("not now", loader.value)
      assert_equal([false], ask(path))
      assert_equal(3, $loads[path])
    RUBY
  end

  def test_racing_require_and_load_that_fails
    assert_required(<<~'RUBY')
      path = file("one")
      require path
      File.write(path, "sleep 0.0005; raise 'not now' if $fails")
      ractors = Array.new(3) do
        Ractor.new(path) do |path|
          while Ractor.receive == :go
            3.times { require path rescue nil }
          end
        end
      end
      1_000.times do |i|
        ractors.each { |r| r.send(:go) }
        (i % 100 * 100).times { }
        $fails = true
        $LOADED_FEATURES.delete(path)
        require path rescue nil
        told = Ractor.new(path) { |path| require path rescue :fails }.take
        assert_include($LOADED_FEATURES, path) if told == false
        $fails = false
        require path
      end
      ractors.each { |r| r.send(:stop) }.each(&:take)
    RUBY
  end

  def test_racing_require_and_change_of_loaded_features
    assert_required(<<~'RUBY')
      names = Array.new(4) { |i| file("f#{i}") }
      names.each { |name| require name }
      ractors = names.map do |name|
        Ractor.new(name) { |name| 3_000.times { require name } }
      end
      deleted = Hash.new(0)
      300.times do |i|
        name = names[i % 4]
        deleted[name] += 1 if $LOADED_FEATURES.delete(name)
        $LOADED_FEATURES.replace($LOADED_FEATURES.dup) if i % 7 == 0
        require name if i % 3 == 0
        GC.start if i % 50 == 0
      end
      ractors.each(&:take)
      names.each do |name|
        assert_operator($loads[name], :<=, 1 + deleted[name])
        assert_equal(false, ask(name, name)[1])
        assert_include($LOADED_FEATURES, name)
        $LOADED_FEATURES.delete(name)
        assert_equal([true, false], ask(name, name))
      end
    RUBY
  end

  def test_racing_require_and_definition_of_require
    assert_required(<<~'RUBY')
      ask("fileutils")
      ractors = Array.new(4) { Ractor.new { 1_000.times.count { require "fileutils" } } }
      20.times do
        Kernel.prepend(Module.new { def require(name) = super })
        GC.start
      end
      assert_equal([0] * 4, ractors.map(&:take))
    RUBY
  end

  def test_racing_require_and_fork
    assert_required(<<~'RUBY')
      names = Array.new(4) { |i| file("f#{i}") }
      names.each { |name| require name }
      ask(*names)
      ractors = Array.new(2) { Ractor.new(names) { |names| 20_000.times { |i| require names[i % 4] and raise } } }
      30.times do
        pid = fork do
          exit!(ask(*names) == [false] * 4 && ($LOADED_FEATURES.delete(names[0]); ask(*names) == [true, false, false, false]) ? 3 : 4)
        end
        assert_equal(3, Process.wait2(pid)[1].exitstatus)
      end
      ractors.each(&:take)
    RUBY
  end

  # "socket" is socket.rb and socket.so, both loaded: it is the first file of that name that counts.
  def test_names_of_a_file_of_ruby_and_a_library
    assert_required(<<~'RUBY')
      %w[digest objspace].each { |name| require name } # both loaded, in either order of the features
      assert_equal([false] * 2, ask("digest", "objspace"))
      assert_equal(0, asked { 20.times { assert_equal([false] * 2, ask("digest", "objspace")) } })

      file("digest", "#{DIR}/first")
      $LOAD_PATH.unshift("#{DIR}/first")
      expected = require("digest")
      assert_equal([false], ask("digest"))
      $LOADED_FEATURES.delete("#{DIR}/first/digest.rb")
      assert_equal([expected], ask("digest"))
      assert_equal([false], ask("digest"))

      file("objspace", "#{DIR}/last")
      assert_equal([false], ask("objspace"))
    RUBY
  end
end
