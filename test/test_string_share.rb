# frozen_string_literal: true
# test_string_share.rb - string_share.h: frozen Strings whose content another one takes over.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeStringShare < Test::Unit::TestCase
  include LockfreeAssertRactors

  # Two Ractors with the same Strings, at about the same time: what each answers.
  RACE = <<~'RUBY'
    class Sub < String; end

    def race(make, *bodies)
      ractors = bodies.map do |body|
        Ractor.new(Ractor.make_shareable(nil.instance_eval(&body))) do |block|
          wrong = 0
          while (strings, start = Ractor.receive)
            strings.each_slice(40) do |few|
              nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < start
              wrong += few.count { |s| !block.call(s) }
              start += 0.001
            end
            Ractor.yield(:done)
          end
          wrong
        end
      end
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 4
      while (now = Process.clock_gettime(Process::CLOCK_MONOTONIC)) < stop
        batch = Ractor.make_shareable([Array.new(500) { make.call }, now + 0.002])
        ractors.each { |r| r.send(batch) }
        ractors.each(&:take)
      end
      ractors.each { |r| r.send(nil) }
      assert_equal([0] * bodies.size, ractors.map(&:take))
    end
  RUBY

  def assert_race(code)
    assert_ractors(RACE + code)
  end

  def test_racing_dedup_and_read_of_a_subclass
    assert_race(<<~'RUBY')
      make = proc { Sub.new << "abcdefgh" * 300 }
      race(make, proc { proc { |s| (-s).frozen? } }, proc { proc { |s| 20.times.all? { s.count("c") == 300 } } })
    RUBY
  end

  def test_racing_dedup_and_dup_of_a_shared_one
    assert_race(<<~'RUBY')
      make = proc { ("abc" * 400 + rand.to_s)[3..].freeze }
      race(make, proc { proc { |s| (-s).frozen? } }, proc { proc { |s| 8.times { s.dup }; true } })
    RUBY
  end

  def test_racing_gsub_and_gsub_of_a_subclass
    assert_race(<<~'RUBY')
      make = proc { (Sub.new << "abc" * 400 << rand.to_s) }
      body = proc { proc { |s| s.gsub("cab", "").size == s.size - 3 * 399 } }
      race(make, body, body)
    RUBY
  end

  def test_racing_append_and_object_id
    assert_race(<<~'RUBY')
      make = proc { ("\u00e9" * 40).force_encoding("EUC-JP") }
      race(make, proc { proc { |s| 30.times { "".b << s }; true } },
           proc { proc { |s| id = s.object_id; 30.times.all? { s.object_id == id } } })
    RUBY
  end

  def test_racing_io_buffer_for_and_io_buffer_for
    assert_ractors(<<~'RUBY')
      S = ("abc" * 1000).freeze
      ractors = Array.new(4) do
        Ractor.new { 5_000.times.map { IO::Buffer.for(S) { |b| b.get_value(:U8, 0) } rescue $!.message }.uniq }
      end
      assert_equal([["a".ord]] * 4, ractors.map(&:take))
      s = +"abc" * 10
      IO::Buffer.for(s) { |b| assert_raise(RuntimeError) { s << "d" } }
      s << "d"
    RUBY
  end

  # A frozen String becomes the root of others as it stands.
  def test_frozen_root
    assert_ractors(<<~'RUBY')
      class Sub < String; end
      Ractor.new { }.take
      s = (Sub.new << "abc" * 400).freeze
      plain = s.gsub("x", "")
      parts = Array.new(20) { |i| s.gsub("cab", "-")[i..] }
      deduped = -s
      assert_same(s, deduped)
      assert_equal("abc" * 400, plain)
      assert_equal(String, plain.class)
      assert_equal(-("abc" * 400), -plain)
      key = { plain => 1 }.keys[0]
      symbol = s.to_sym
      GC.verify_compaction_references(expand_heap: true, toward: :empty) if GC.respond_to?(:verify_compaction_references)
      s = deduped = nil
      GC.start
      assert_equal("abc" * 400, plain)
      assert_equal("abc" * 400, key)
      assert_equal("abc" * 400, symbol.name)
      assert_equal("ab" + "-" * 399 + "c", parts[0])
      plain << "d"
      assert_equal("abc" * 400 + "d", plain)
    RUBY
  end
end
