[nil, true, 1, 2**70, 1.5, "é", :s, [1], { a: 1 }, 1..2, 1r, 2i, String, Kernel].map { Marshal.load(Marshal.dump(_1)) }
Marshal.load(Marshal.dump(EDGE_ANY))
Marshal.load(Marshal.dump(EDGE_STR)) == EDGE_STR
Marshal.dump(EDGE_HASH).bytesize > 3
Marshal.load(Marshal.dump(EDGE_ARY), freeze: true).frozen?
Marshal.load(Marshal.dump([1, "x"]), proc { |x| x })
Marshal.load(Marshal.dump({ a: [1, { b: 2 }] }))
Marshal.restore(Marshal.dump(5))
(Marshal.dump(proc { }) rescue $!.message)
(Marshal.load("\x04\x08[") rescue $!.message)
(Marshal.load("zz") rescue $!.message)
Marshal.load(Marshal.dump(Hash.new(7).merge(a: 1))).default
Marshal.load(Marshal.dump(Float::NAN)).nan?
Marshal.load(Marshal.dump(Array.new(300) { |i| "s#{i % 7}".to_sym })).uniq.size
Marshal.load(Marshal.dump("a".encode("UTF-16LE"))).encoding
a = []; a << a; Marshal.load(Marshal.dump(a)).then { |b| b[0].equal?(b) }
Marshal.load(Marshal.dump(Time.at(0, 123456789, :nsec))).nsec
Marshal.load(Marshal.dump(Encoding::UTF_8)).name
Marshal.load(Marshal.dump(Random.new(3))).rand(100)
r, w = IO.pipe; Marshal.dump([1, 2], w); w.close; Marshal.load(r)
Marshal.load(Marshal.dump(RuntimeError.new("x"))).message
