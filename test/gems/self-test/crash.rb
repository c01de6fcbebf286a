# crash.rb - a test that ends the process, on ours: the runner must say red.

class SelfTestCrash < Minitest::Test
  def test_ends_ours
    Process.kill(:KILL, Process.pid) if defined?(RubyVM::Lockfree)
  end
end
