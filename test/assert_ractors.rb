# frozen_string_literal: true
# assert_ractors.rb - what tests of racing Ractors share.

module LockfreeAssertRactors
  YJIT = defined?(RubyVM::YJIT.enable) ? [[], %w[--yjit --yjit-call-threshold=2]] : [[]]

  # Runs +code+ in a process of its own, interpreted, and compiled at the second call.
  def assert_ractors(code)
    YJIT.each do |options|
      assert_separately(%w[-W:no-experimental --disable-gems] + options, code, timeout: 60)
    end
  end

  # CRuby's sources, patched.
  TREE = File.expand_path("../../..", Test::Unit::CoreAssertions.instance_method(:assert_separately).source_location[0])

  # For +code+: upstream's scheduler of Fibers, that of its own tests.
  REQUIRE_SCHEDULER = "require #{"#{TREE}/test/fiber/scheduler".dump}\n"

  # For +code+: what the process +pid+ exits with; :hangs if it does not within +seconds+.
  STATUS = <<~'RUBY'
    def status(pid, seconds = 20)
      (seconds * 200).times do
        _, status = Process.wait2(pid, Process::WNOHANG)
        return status.exitstatus || status.inspect if status
        sleep 0.005
      end
      Process.kill(:KILL, pid)
      Process.wait(pid)
      :hangs
    end
  RUBY

  # For +code+: a Ractor for each of +asks+, the source of a block's body, asks that about each object +o+ that the block
  # makes, at about the same time as the others; all is to be +expected+.
  ASSERT_RACE = <<~'RUBY'
    def assert_race(expected, *asks, seconds: 3)
      ractors = asks.map do |ask|
        Ractor.new(ask, expected) do |ask, expected|
          ask = eval("proc { |o| #{ask} }")
          wrong = []
          while (objects, start = Ractor.receive)
            objects.each_slice(20).with_index do |some, i|
              nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > start + i * 0.001
              some.each do |o|
                answer = ask.call(o) rescue $!.inspect
                wrong << answer unless answer == expected
              end
            end
            Ractor.yield(:done)
          end
          wrong.tally
        end
      end
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      while (now = Process.clock_gettime(Process::CLOCK_MONOTONIC)) < stop
        batch = Ractor.make_shareable([Array.new(2000) { yield }, now + 0.002])
        ractors.each { |ractor| ractor.send(batch) }
        ractors.each(&:take)
      end
      ractors.each { |ractor| ractor.send(nil) }
      assert_equal([{}] * asks.size, ractors.map(&:take))
    end
  RUBY
end
