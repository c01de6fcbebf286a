# flaky.rb - a test that fails once, on ours: the runner must say flaky.

class SelfTestFlaky < Minitest::Test
  def test_fails_once
    mark = File.join(ENV.fetch("TMPDIR"), "flaky")
    return unless defined?(RubyVM::Lockfree)

    known = File.exist?(mark)
    File.write(mark, "")
    assert known
  end
end
