# frozen_string_literal: true
# yjit/test_class_ivar.rb - yjit/class_ivar.rs: compiled reads give what the interpreter gives.

require "test/unit"
require "open3"

class TestLockfreeYJITClassIvar < Test::Unit::TestCase
  PROGRAM = File.join(__dir__, "../programs", "compiled_reads.rb")

  def setup
    omit "no YJIT here" unless defined?(RubyVM::YJIT)
  end

  def output(*options)
    out, err, status = Open3.capture3(EnvUtil.rubybin, "--disable-gems", *options, PROGRAM)
    assert_predicate status, :success?, err[0, 4000]
    out
  end

  def test_same_as_interpreted
    assert_equal output("--disable-yjit"), output("--yjit", "--yjit-call-threshold=1")
    assert_equal output("--disable-yjit"), output("--yjit", "--yjit-call-threshold=5")
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
