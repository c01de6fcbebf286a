# red.rb - a test that fails on ours alone: the runner must say red.

class SelfTest < Minitest::Test
  def test_fails_on_ours = refute(defined?(RubyVM::Lockfree))
  def test_passes = assert(true)
end
