# sqlite3.rb - creates, fills and asks a database in memory
#
# Gems: sqlite3:1.4.4

require "sqlite3"

def work(i)
  db = SQLite3::Database.new(":memory:")
  db.execute("create table t (a integer, b text)")
  50.times { |n| db.execute("insert into t values (?, ?)", [n * i, "é#{n}"]) }
  db.execute("select sum(a), max(b) from t")
end
