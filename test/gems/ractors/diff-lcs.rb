# diff-lcs.rb - compares sequences
#
# Gems: diff-lcs:1.5.1

require "diff/lcs"

ROUNDS = 500

def work(i)
  Diff::LCS.diff(Array.new(60) { |n| n * i % 7 }, Array.new(60) { |n| n * i % 5 }).map { |hunk| hunk.map(&:inspect) }
end
