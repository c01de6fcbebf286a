# frozen_string_literal: true
# minirubies.rb - the two binaries that tests compare.

module LockfreeMinirubies
  # Stock's, from the same source with the same flags.
  def stock
    ENV["STOCK_MINIRUBY"] or omit "STOCK_MINIRUBY names no stock miniruby (make test-ours sets it)"
  end

  # What one Ractor sees is what stock shows: +lines+, a number or a Range, that +program+ prints with both.
  def assert_stocks(lines, program)
    outputs = [stock, our_miniruby].map { |miniruby| IO.popen([miniruby, "--disable-all", "-e", program, err: %i[child out]], &:read) }
    assert_equal(*outputs)
    assert_operator(lines, :===, outputs[1].lines.size, outputs[1])
  end

  # Ours, beside the ruby that runs the tests.
  def our_miniruby = File.join(File.dirname(EnvUtil.rubybin), "miniruby")
end
