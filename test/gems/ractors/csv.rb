# csv.rb - generates and parses
#
require "csv"

ROUNDS = 200

def work(i)
  rows = Array.new(50) { |n| [(n * i).to_s, "é,#{n}", "\"q\""] }
  CSV.parse(CSV.generate { |csv| rows.each { |row| csv << row } }) == rows
end
