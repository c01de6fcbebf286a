# frozen_string_literal: true
# minirubies.rb - the two binaries that tests compare.

module LockfreeMinirubies
  # Stock's, from the same source with the same flags.
  def stock
    ENV["STOCK_MINIRUBY"] or omit "STOCK_MINIRUBY names no stock miniruby (make test-ours sets it)"
  end

  # Ours, beside the ruby that runs the tests.
  def our_miniruby = File.join(File.dirname(EnvUtil.rubybin), "miniruby")
end
