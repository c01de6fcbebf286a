# zlib.rb - compresses (part of Ruby)
#
require "zlib"

ROUNDS = 100

def work(i)
  text = Array.new(2000) { |n| "line #{n * i}\n" }.join
  packed = Zlib::Deflate.deflate(text, 9)
  [Zlib::Inflate.inflate(packed) == text, packed.bytesize, Zlib.crc32(text), Zlib.gunzip(Zlib.gzip(text)) == text]
end
