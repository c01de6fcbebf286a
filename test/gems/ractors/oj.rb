# oj.rb - dumps and loads
#
# Gems: oj:3.13.23

require "oj"

ROUNDS = 500

def work(i)
  data = { "id" => i, "list" => Array.new(200) { |n| { "n" => n * i, "text" => "é#{n}", "x" => n / 4.0 } } }
  text = Oj.dump(data, mode: :strict)
  [Oj.load(text, mode: :strict) == data, text.bytesize]
end
