# frozen_string_literal: true
# yjit/test_class_ivar.rb - yjit/class_ivar.rs: compiled reads give what the interpreter gives.

require "test/unit"
require_relative "assert_compiled"

class TestLockfreeYJITClassIvar < Test::Unit::TestCase
  include LockfreeAssertCompiled

  def test_same_as_interpreted
    assert_same_as_interpreted("compiled_reads.rb")
  end

  # A read that called out would be counted among the sends or leave compiled code.
  def test_reads_stay_in_compiled_code
    program = <<~'RUBY'
      module Mod
        @a = 1
        def self.read(n)
          i = 0
          i += @a while i < n
        end
      end
      2.times { Mod.read(10) }
      exits = -> { RubyVM::YJIT.runtime_stats.sum { |name, n| name.start_with?("exit_") || name == :num_getivar_megamorphic ? n : 0 } }
      before = exits.()
      Mod.read(100_000)
      puts exits.() - before
    RUBY
    out, err, = Open3.capture3(EnvUtil.rubybin, "--disable-all", "--yjit", "--yjit-call-threshold=1", "--yjit-stats=quiet", "-e", program)
    assert_operator out.to_i, :<, 10, err
  end
end
