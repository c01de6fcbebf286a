# concurrent-ruby.rb - counts, keeps a map
#
# Gems: concurrent-ruby:1.3.5

require "concurrent"

def work(i)
  map, count = Concurrent::Map.new, Concurrent::AtomicFixnum.new
  100.times { |n| map.compute_if_absent(n % 10) { count.increment + i } }
  [map.keys.sort, count.value]
end
