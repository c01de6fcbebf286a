# yajl.rb - generates and parses JSON
#
# Gems: yajl-ruby:1.4.3

require "yajl"

def work(i)
  data = { "id" => i, "list" => Array.new(200) { |n| { "n" => n * i, "text" => "é#{n}" } } }
  text = Yajl::Encoder.encode(data)
  [Yajl::Parser.parse(text) == data, text.bytesize]
end
