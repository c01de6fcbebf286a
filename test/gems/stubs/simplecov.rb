# simplecov.rb - in place of the gem, which would measure coverage: nothing is asked of it here.

module SimpleCov
  def self.start(*) = nil
end
