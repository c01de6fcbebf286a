# builder.rb - builds XML
#
# Gems: builder:3.2.4

require "builder"

def work(i)
  xml = Builder::XmlMarkup.new(indent: 1)
  xml.list { 50.times { |n| xml.item("<é#{n * i}>", id: n) } }
end
