# ox.rb - dumps and parses XML
#
# Gems: ox:2.14.22

require "ox"

ROUNDS = 500

def work(i)
  items = Array.new(100) { |n| "<item id=\"#{n}\"><v>#{n * i}</v></item>" }.join
  parsed = Ox.parse("<top>#{items}</top>")
  [parsed.nodes.map { |item| item.v.text }, Ox.dump(parsed).bytesize]
end
