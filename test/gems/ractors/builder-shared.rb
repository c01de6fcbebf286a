# builder-shared.rb - the same, when main has made the constants of `Builder::XChar` shareable
#
# Gems: builder:3.2.4

require "builder"

ROUNDS = 50
Builder::XChar.constants.each do |name|
  value = Builder::XChar.const_get(name)
  Ractor.make_shareable(value) unless value.is_a?(Module)
end

def work(i)
  xml = Builder::XmlMarkup.new(indent: 1)
  xml.list { 50.times { |n| xml.item("<é#{n * i}>", id: n) } }
end
