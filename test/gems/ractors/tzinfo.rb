# tzinfo.rb - converts times
#
# Gems: tzinfo:2.0.6

require "tzinfo"

def work(i) = TZInfo::Timezone.get("Europe/Berlin").utc_to_local(Time.utc(2020, 1 + i % 12, 1)).to_s
