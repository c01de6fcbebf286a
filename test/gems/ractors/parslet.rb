# parslet.rb - parses by a grammar
#
# Gems: parslet:2.0.0

require "parslet"

class Sums < Parslet::Parser
  rule(:number) { match("[0-9]").repeat(1).as(:n) }
  rule(:sum) { number >> (str("+") >> number).repeat }
  root :sum
end

def work(i) = Sums.new.parse((1..20).map { |n| n * i }.join("+")).map { |one| one[:n].to_s }
