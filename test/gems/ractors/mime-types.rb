# mime-types.rb - looks types up
#
# Gems: mime-types:3.6.0

require "mime/types"

def work(i) = [MIME::Types.type_for("a#{i}.png").map(&:to_s), MIME::Types["text/html"].first.extensions]
