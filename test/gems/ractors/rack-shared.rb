# rack-shared.rb - parses queries, escapes, when main has made `Rack::Utils.default_query_parser` shareable
#
# Gems: rack:3.1.16

require "rack"

ROUNDS = 500
Ractor.make_shareable(Rack::Utils.default_query_parser)

def work(i)
  query = Rack::Utils.parse_nested_query("a[b]=#{i}&" + Array.new(50) { |n| "list[]=#{n * i}" }.join("&"))
  [query, Rack::Utils.build_query("a" => i), Rack::Utils.escape_path("é #{i}")]
end
