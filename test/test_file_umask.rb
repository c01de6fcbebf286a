# frozen_string_literal: true
# test_file_umask.rb - file_umask.h: the file mode creation mask, looked at without changing it.

require "test/unit"
require_relative "assert_ractors"

class TestLockfreeFileUmask < Test::Unit::TestCase
  include LockfreeAssertRactors

  def test_racing_look_and_make_a_file
    omit "no Umask in /proc/self/status" unless File.read("/proc/self/status").include?("Umask:") rescue omit("no /proc")
    assert_ractors(<<~'RUBY')
      require "tmpdir"
      File.umask(0o022)
      Dir.mktmpdir do |folder|
        looking = Array.new(3) { Ractor.new { Array.new(20_000) { File.umask }.tally } }
        making = Ractor.new(folder) do |folder|
          Array.new(5000) do |i|
            file = "#{folder}/#{i}"
            File.write(file, "")
            File.stat(file).mode & 0o777
          ensure
            File.unlink(file)
          end.tally
        end
        assert_equal([{ 0o644 => 5000 }, [{ 0o022 => 20_000 }] * 3], [making.take, looking.map(&:take)])
      end
    RUBY
  end
end
