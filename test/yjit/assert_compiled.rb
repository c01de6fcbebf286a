# frozen_string_literal: true
# yjit/assert_compiled.rb - compiled code prints what the interpreter prints.

require "open3"

module LockfreeAssertCompiled
  def setup
    omit "no YJIT here" unless defined?(RubyVM::YJIT)
  end

  # +program+ is one of test/programs.
  def assert_same_as_interpreted(program)
    interpreted = output(program, "--disable-yjit")
    [1, 5].each { |threshold| assert_equal interpreted, output(program, "--yjit", "--yjit-call-threshold=#{threshold}") }
  end

  private

  def output(program, *options)
    out, err, status = Open3.capture3(EnvUtil.rubybin, "-W0", "--disable-gems", *options, File.join(__dir__, "../programs", program))
    assert_predicate status, :success?, err[0, 4000]
    out
  end
end
