# mustermann.rb - matches patterns
#
# Gems: mustermann:3.0.0

require "mustermann"

def work(i)
  pattern = Mustermann.new("/users/:id/(:action)?")
  [pattern.params("/users/#{i}/edit"), pattern.match("/").nil?]
end
