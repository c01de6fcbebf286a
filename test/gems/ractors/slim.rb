# slim.rb - compiles and renders a template
#
# Gems: slim:5.2.1

require "slim"

def work(i) = Slim::Template.new { "ul\n  - 30.times do |n|\n    li = n * #{i}\n" }.render
