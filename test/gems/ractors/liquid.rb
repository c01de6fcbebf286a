# liquid.rb - parses and renders a template
#
# Gems: liquid:5.4.0

require "liquid"

def work(i)
  template = Liquid::Template.parse("{% for n in list %}{{ n | times: 2 }} {{ name | upcase }},{% endfor %}")
  template.render("list" => Array.new(50) { |n| n * i }, "name" => "é#{i}")
end
