t = Time.at(1_700_000_000, in: "UTC"); [t + 1, t - 1, t - (t - 5), t <=> t + 1, t == t.dup, t.eql?(t.dup), t.hash == t.dup.hash, t.asctime, t.ctime, t.day, t.mday, t.hour, t.min, t.month, t.mon, t.sec, t.year, t.yday, t.wday, t.usec, t.nsec, t.tv_sec, t.tv_usec, t.tv_nsec, t.subsec]
t = Time.at(1_700_000_000.123456789r, in: "+09:00"); [t.inspect, t.to_s, t.iso8601(3), t.xmlschema, t.ceil(3), t.floor(3), t.round(2), t.to_a, t.to_f, t.to_i, t.to_r, t.zone, t.utc_offset, t.gmt_offset, t.gmtoff, t.utc?, t.gmt?, t.isdst, t.dst?]
t = Time.utc(2024, 2, 29, 12, 30, 45.5); [t.getlocal("+01:00"), t.getgm, t.getutc, t.getlocal, t.localtime("-05:00"), t.dup.gmtime, t.dup.utc, t.deconstruct_keys([:year, :month]), t.monday?, t.tuesday?, t.wednesday?, t.thursday?, t.friday?, t.saturday?, t.sunday?]
t = Time.utc(2024, 1, 5, 7, 8, 9); t.strftime("%Y-%m-%d %H:%M:%S.%L %z %Z %a %A %b %B %j %U %W %u %w %y %C %e %I %l %p %P %s %n %t %% %c %x %X %D %F %T %R %r %v %h %G %V %g %N %3N %10Y %-d %^a %+")
[Time.gm(2000, 1, 1), Time.local(2000, 1, 1).to_s, Time.mktime(2000, 12, 31), Time.utc(2000, "jan", 1, 20, 15, 1), Time.new(2024, 1, 2, 3, 4, 5, "+09:00"), Time.new(2024, in: "Z"), Time.new("2024-03-04 05:06:07Z"), Time.new("2024-03-04 05:06:07.123 +09:00"), (Time.new("zork") rescue $!.message)]
[Time.now.class, Time.now(in: "+03:00").utc_offset, Time.at(0).utc.to_s, Time.at(1, 500, :millisecond).subsec, Time.at(1.5).subsec, (Time.at("x") rescue $!.message), (Time.utc(2000, 13) rescue $!.message)]
Time.utc(1969, 12, 31).to_i + Time.utc(2500, 1, 1).to_i + Time.utc(-1, 1, 1).year
(0..11).map { |m| Time.utc(2023, m + 1, 1).yday }
Time.local(2024, 7, 1).zone
t = Time.at(0, in: "UTC"); Marshal.load(Marshal.dump(t)) == t
Time.at(2**40, in: "+05:30").to_a
Time.at(EDGE_INT).utc.year rescue $!.class
[Time.utc(2024, 1, 1) <=> Time.utc(2024, 1, 2), Time.utc(2024, 1, 1).between?(Time.utc(2023), Time.utc(2025)), (Time.utc(2024) + "x" rescue $!.message)]
Time.utc(2024, 12, 25).then { case _1; in { year:, day: } then [year, day] end }
c = Class.new { def utc_to_local(t) = t + 3600; def local_to_utc(t) = t - 3600; def name = "Z1" }.new; t = Time.new(2024, 1, 1, 0, 0, 0, c); [t.hour, t.utc_offset, t.zone.class.name, t.utc.hour]
k = Class.new { def self.log = @l; def utc_to_local(t) = (@l = [t.year, t.month, t.day, t.hour, t.min, t.sec, t.mon, t.mday, t.usec, t.nsec, t.subsec, t.to_i, t.to_f, t.to_r, t.to_a, t.inspect, t.utc?, t.utc_offset, t.zone, t.isdst, t.dst?, t.gmtoff, t.gmt_offset, t.tv_sec, t.tv_nsec, t.tv_usec, t.utc.class, t.yday, t.wday].size rescue 0; t + 60); attr_reader :l }; z = k.new; Time.at(0, in: z).min
Time::tm.class rescue 1
k = Time.utc(2024).class; [k.const_get(:tm).instance_methods(false).size > 20] rescue $!.class
[Process.clock_gettime(Process::CLOCK_MONOTONIC).class, Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond).class, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_microsecond).class, Process.clock_getres(Process::CLOCK_MONOTONIC).class]
