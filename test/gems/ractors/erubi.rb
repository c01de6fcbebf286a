# erubi.rb - compiles and renders a template
#
# Gems: erubi:1.12.0

require "erubi"

def work(i)
  source = Erubi::Engine.new("<% list.each do |n| %><p><%= n %> <%== \"<#{i}>\" %></p>\n<% end %>", escape: false).src
  list = Array.new(50) { |n| n * i }
  binding.then { |here| here.local_variable_set(:list, list); here.eval(source) }
end
