# msgpack.rb - packs and unpacks
#
# Gems: msgpack:1.4.5

require "msgpack"

def work(i)
  data = Array.new(300) { |n| { "n" => n * i, "text" => "é#{n}", "x" => n / 3.0, "null" => nil } }
  packed = MessagePack.pack(data)
  [MessagePack.unpack(packed) == data, packed.bytesize]
end
