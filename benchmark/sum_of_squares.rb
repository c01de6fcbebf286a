# sum_of_squares.rb - the sum of the squares of 0...N, cut into equal ranges.
#
#   ruby [--yjit] sum_of_squares.rb serial|ractors|threads WORKERS N
#
# Prints seconds, after some to warm up; JSON as in measure.rb.

require_relative "measure"

module SumOfSquares
  def self.call(range) = range.sum { |i| i * i }
end

kind, workers, n = Measure.arguments(3)
workers, n = workers.to_i, n.to_i
parts = Array.new(workers) { |i| (n * i / workers...n * (i + 1) / workers).freeze }
3.times { SumOfSquares.call(0...n / 10) }
taken, sums = Measure.parts(kind, SumOfSquares, parts)
sum = sums.sum
sum == (n - 1) * n * (2 * n - 1) / 6 or abort "sum_of_squares.rb: wrong sum #{sum}"
Measure.print("time" => [taken, "s"])
