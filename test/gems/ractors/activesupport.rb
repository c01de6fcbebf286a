# activesupport.rb - inflects, rounds, counts days
#
# Gems: activesupport:7.2.2.2

require "active_support/all"

def work(i)
  ["person#{i}".pluralize, "a_b#{i}".camelize, 3.days.to_i, { a: i }.to_query, (i / 3.0).to_fs(:rounded, precision: 2)]
end
