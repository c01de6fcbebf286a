# public_suffix-shared.rb - the same, with a list that main has made shareable, given by `list:`
#
# Gems: public_suffix:4.0.7

require "public_suffix"

ROUNDS = 500
LIST = Ractor.make_shareable(PublicSuffix::List.default)

def work(i)
  Array.new(20) do |n|
    PublicSuffix.parse("a#{n * i}.b.example.co.uk", list: LIST).then { |name| [name.tld, name.sld, name.trd] }
  end
end
