# rack.rb - parses queries, escapes, answers a request
#
# Gems: rack:3.1.16

require "rack"

def work(i)
  query = Rack::Utils.parse_nested_query("a[b]=#{i}&" + Array.new(50) { |n| "list[]=#{n * i}" }.join("&"))
  app = ->(env) { [200, { "content-type" => "text/plain" }, [Rack::Request.new(env).params["q"].to_s]] }
  [query, Rack::Utils.escape_html("<é#{i}>"), Rack::MockRequest.new(app).get("/?q=#{i}").body]
end
