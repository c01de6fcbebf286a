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
end
