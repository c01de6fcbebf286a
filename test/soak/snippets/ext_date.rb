#require date
#require time
d = Date.new(2024, 2, 29); [d + 1, d >> 12, d << 1, d - Date.new(2024, 1, 1), d.next_day, d.prev_month, d.next_year, d.yday, d.wday, d.cwday, d.cweek, d.cwyear, d.mjd, d.jd, d.ajd, d.leap?, d.to_s, d.inspect, d.iso8601, d.rfc2822, d.httpdate, d.jisx0301, d.strftime("%a %d %b %Y"), d <=> d + 1, d === d, d.saturday?, d.to_time.class, d.to_datetime.to_s]
[Date.parse("2024-03-04"), Date.parse("3rd Feb 2001"), Date.parse("H31.04.30"), (Date.parse("zork") rescue $!.message), Date.iso8601("2024-W01-1"), Date.strptime("2001-034", "%Y-%j"), Date.valid_date?(2023, 2, 29), Date.valid_ordinal?(2024, 366), Date.jd(2459945), Date.ordinal(2024, 60), Date.commercial(2024, 1, 1), Date.gregorian_leap?(1900), Date._parse("10:20 2024-01-01"), Date.rfc2822("Sat, 3 Feb 2001 00:00:00 +0000"), Date.httpdate("Sat, 03 Feb 2001 00:00:00 GMT"), Date.xmlschema("2001-02-03"), Date.jisx0301("H13.02.03")]
[DateTime.new(2024, 1, 2, 3, 4, 5.5, "+9").to_s, DateTime.parse("2024-01-02T03:04:05+09:00").hour, DateTime.new(2024).to_time.utc.to_s, DateTime.strptime("1", "%s").year, DateTime.new(2001, 2, 3, 4, 5, 6, "+7").new_offset(0).to_s, DateTime.iso8601("2001-02-03T04:05:06+07:00").minute]
(Date.new(2024, 1, 1)..Date.new(2024, 1, 5)).map(&:day)
Date.new(2024, 1, 31).step(Date.new(2024, 3, 1), 10).map(&:to_s) + Date.new(2024, 1, 3).downto(Date.new(2024, 1, 1)).map(&:day) + Date.new(2024).upto(Date.new(2024, 1, 3)).map(&:day)
[Date.today.class, DateTime.now.class, Date::MONTHNAMES[1], Date::ABBR_DAYNAMES, Time.utc(2024).to_date, Time.utc(2024).to_datetime.to_s, Date::ITALY]
Marshal.load(Marshal.dump(Date.new(2024, 1, 1)))
Date._strptime("2001-02-03", "%Y-%m-%d")
case Date.new(2024, 5, 6); in { year:, month: }; [year, month]; end
Date.new(2024, 1, 1).hash == Date.new(2024, 1, 1).hash
[Date.new(1582, 10, 4) + 1, Date.new(-4712, 1, 1).jd, Date.new(2001, 2, 3, Date::ENGLAND).julian?, Date.new(2001, -1, -1)]
(1..50).map { |i| (Date.new(2000, 1, 1) + i * 37).strftime("%Y-%m-%d %j %U %V") }
Time.parse("2024-01-02 03:04:05 UTC").to_i
[Time.iso8601("2024-01-02T03:04:05Z").to_i, Time.strptime("2001-12-04T04:05:06+09:00", "%Y-%m-%dT%H:%M:%S%z").to_i, Time.rfc2822("Wed, 05 Oct 2011 22:26:12 -0400").to_i, Time.httpdate("Thu, 06 Oct 2011 02:26:12 GMT").to_i, Time.utc(2024).httpdate, Time.utc(2024).rfc2822, Time.utc(2024).xmlschema(2), (Time.parse("zork") rescue $!.message)]
