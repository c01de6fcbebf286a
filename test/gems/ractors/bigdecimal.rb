# bigdecimal.rb - computes
#
require "bigdecimal"
require "bigdecimal/util"

ROUNDS = 1000

def work(i)
  sum = (1..100).sum(BigDecimal(0)) { |n| BigDecimal(n * (i + 1)).div(BigDecimal("7.3"), 40) }
  [sum.to_s, sum.sqrt(30).round(20).to_s, "1.25".to_d.to_s]
end
