# tilt.rb - renders a template of ERB
#
# Gems: tilt:2.0.11

require "tilt"
require "tilt/erb"

def work(i) = Tilt::ERBTemplate.new { "<% 30.times do |n| %><p><%= n * i %></p>\n<% end %>" }.render(nil, i: i)
