# frozen_string_literal: true
# test_closed_in_block.rb - dir_closed_in_block.patch: a block closes the Dir, or frees the buffer, that it is called for.

require "test/unit"
require "tmpdir"

class TestLockfreeClosedInBlock < Test::Unit::TestCase
  def test_dir
    Dir.mktmpdir do |folder|
      3.times { |k| File.write("#{folder}/#{k}", "") }
      %i[each each_child].each do |name|
        dir = Dir.new(folder)
        assert_raise(IOError) { dir.send(name) { dir.close } }
        dir = Dir.new(folder)
        entries = dir.send(name)
        entries.next
        dir.close
        assert_raise(IOError) { loop { entries.next } }
      end
    end
  end

  def test_buffer
    [%i[each U8], %i[each u32], %i[each_byte]].each do |name, *type|
      buffer = IO::Buffer.new(100_000)
      assert_raise(ArgumentError, IO::Buffer::AllocationError) { buffer.send(name, *type) { buffer.free } }
      buffer = IO::Buffer.new(10_000)
      calls = 0
      assert_raise(ArgumentError) { buffer.send(name, *type) { buffer.resize(40) if (calls += 1) == 2 } }
      buffer = IO::Buffer.new(8)
      buffer.set_string("abcdefgh")
      assert_equal(8, buffer.each_byte.to_a.size)
      last = 0
      assert_same(buffer, buffer.each(:U8) { buffer.free if (last += 1) == 8 })
    end
  end
end
