# json.rb - generates and parses
#
require "json"

ROUNDS = 300

def work(i)
  data = { "id" => i, "list" => Array.new(200) { |n| { "n" => n * i, "text" => "é#{n}", "x" => n / 3.0 } } }
  text = JSON.generate(data)
  [JSON.parse(text) == data, text.bytesize, JSON.pretty_generate(data).bytesize]
end
