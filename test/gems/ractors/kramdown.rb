# kramdown.rb - renders Markdown
#
# Gems: kramdown:2.5.1

require "kramdown"

def work(i)
  items = Array.new(20) { |n| "* *item* `#{n * i}` [link](/#{n})\n" }.join
  Kramdown::Document.new("# #{i}\n\n#{items}").to_html
end
