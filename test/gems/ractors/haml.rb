# haml.rb - compiles and renders a template
#
# Gems: haml:6.3.0

require "haml"

def work(i) = Haml::Template.new { "%ul\n  - 30.times do |n|\n    %li= n * #{i}\n" }.render
