# rouge.rb - highlights Ruby
#
# Gems: rouge:4.5.1

require "rouge"

def work(i)
  source = Array.new(10) { |n| "def m#{n} = [#{n * i}, \"é\#{@x}\", :y].map { |z| z.to_s }\n" }.join
  Rouge::Formatters::HTML.new.format(Rouge::Lexers::Ruby.new.lex(source))
end
