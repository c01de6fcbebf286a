# public_suffix.rb - splits host names
#
# Gems: public_suffix:4.0.7

require "public_suffix"

def work(i)
  Array.new(20) { |n| PublicSuffix.parse("a#{n * i}.b.example.co.uk").then { |name| [name.tld, name.sld, name.trd] } }
end
