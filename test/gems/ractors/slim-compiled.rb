# slim-compiled.rb - renders what main has compiled: `Slim::Engine.new.call(text).freeze`, evaluated
#
# Gems: slim:5.2.1

require "slim"

ROUNDS = 500
SOURCE = Slim::Engine.new.call("ul\n  - 30.times do |n|\n    li = n * i\n").freeze

def work(i) = eval(SOURCE)
