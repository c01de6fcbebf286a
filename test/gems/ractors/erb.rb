# erb.rb - compiles and renders a template (part of Ruby)
#
require "erb"

def work(i)
  list = Array.new(50) { |n| n * i }
  ERB.new("<% list.each do |n| %><p><%= n %> <%= ERB::Util.html_escape(\"<#{i}>\") %></p>\n<% end %>").result(binding)
end
