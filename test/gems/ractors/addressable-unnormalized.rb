# addressable-unnormalized.rb - parses, joins, without normalizing
#
# Gems: addressable:2.8.7

require "addressable/uri"

ROUNDS = 1000

def work(i)
  uri = Addressable::URI.parse("http://example.com:80/a/../b#{i}?q=#{i}")
  [uri.to_s, uri.host, uri.query_values, uri.join("x").to_s]
end
