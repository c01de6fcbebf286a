# tzinfo-shared.rb - the same, with a timezone that main has made shareable
#
# Gems: tzinfo:2.0.6

require "tzinfo"

ROUNDS = 5000
ZONE = Ractor.make_shareable(TZInfo::Timezone.get("Europe/Berlin"))

def work(i) = ZONE.utc_to_local(Time.utc(2020, 1 + i % 12, 1)).to_s
