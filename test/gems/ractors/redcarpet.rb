# redcarpet.rb - renders Markdown
#
# Gems: redcarpet:3.5.1

require "redcarpet"

def work(i)
  renderer = Redcarpet::Markdown.new(Redcarpet::Render::HTML, tables: true, fenced_code_blocks: true)
  renderer.render("# #{i}\n\n" + Array.new(50) { |n| "* *item* `#{n * i}` [link](/#{n})\n" }.join)
end
