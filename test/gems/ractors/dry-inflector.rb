# dry-inflector.rb - inflects
#
# Gems: dry-inflector:0.1.2

require "dry/inflector"

ROUNDS = 1000

def work(i)
  inflector = Dry::Inflector.new
  [inflector.pluralize("person#{i}"), inflector.camelize("a_b#{i}"), inflector.underscore("DataMapper#{i}")]
end
