# yaml.rb - dumps and loads (part of Ruby)
#
require "yaml"

ROUNDS = 100

def work(i)
  data = { "id" => i, "list" => Array.new(30) { |n| { "n" => n * i, "text" => "é#{n}" } } }
  YAML.load(YAML.dump(data)) == data
end
