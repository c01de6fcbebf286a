# mustache.rb - renders a template
#
# Gems: mustache:1.1.1

require "mustache"

def work(i)
  Mustache.render("{{#list}}<p>{{n}} {{{text}}}</p>{{/list}}", list: Array.new(50) { |n| { n: n * i, text: "<é>" } })
end
