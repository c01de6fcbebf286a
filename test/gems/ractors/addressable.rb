# addressable.rb - parses URIs, expands templates
#
# Gems: addressable:2.8.7

require "addressable/template"

def work(i)
  uri = Addressable::URI.parse("http://example.org:8080/a/../b/#{i}?x=1&y=é#f")
  template = Addressable::Template.new("/x{/a}{?b*}")
  [uri.normalize.to_s, uri.query_values, template.expand("a" => i.to_s, "b" => { "c" => "d" }).to_s]
end
