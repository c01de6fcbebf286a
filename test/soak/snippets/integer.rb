[EDGE_INT + EDGE_INT, EDGE_INT - EDGE_NUM, EDGE_INT * EDGE_INT]
[EDGE_INT / EDGE_INT, EDGE_INT % EDGE_INT] rescue $!.message
[EDGE_INT / EDGE_NUM] rescue $!.message
[EDGE_INT & EDGE_INT, EDGE_INT | EDGE_INT, EDGE_INT ^ EDGE_INT, ~EDGE_INT]
[EDGE_INT ** EDGE_COUNT, 2 ** -2, 0 ** 0, 2 ** 0.5, (-8) ** (1r/3)]
[EDGE_INT << EDGE_SMALL, EDGE_INT >> EDGE_SMALL]
[EDGE_INT <=> EDGE_NUM, EDGE_INT == EDGE_NUM, EDGE_INT === EDGE_INT] rescue $!.message
[EDGE_INT < EDGE_INT, EDGE_INT <= EDGE_INT, EDGE_INT > EDGE_INT, EDGE_INT >= EDGE_INT]
[-EDGE_INT, EDGE_INT[0], EDGE_INT[3], EDGE_INT[0, 4], EDGE_INT[1..3], 255[4..]]
[EDGE_INT.abs, EDGE_INT.magnitude, EDGE_INT.bit_length, EDGE_INT.size]
[6.allbits?(2), 6.anybits?(3), 6.nobits?(1)]
[15.ceil(-1), 15.floor(-1), 15.round(-1), 25.round(-1, half: :even), 15.truncate(-1), EDGE_INT.round(-2), EDGE_INT.ceil(-3), EDGE_INT.floor(-30)]
[7.ceildiv(2), (-7).ceildiv(2)]
[65.chr, 233.chr, 233.chr("UTF-8"), 0x3042.chr(Encoding::UTF_8), (300.chr rescue $!.message)]
[1.coerce(2.5), 1.coerce(2), (2**70).coerce(1)]
[EDGE_INT.denominator, EDGE_INT.numerator]
[123.digits, 255.digits(16), (10**20).digits.size, (-1.digits rescue $!.message)]
[7.div(2), -7.div(2), 7.div(2.0), 7.modulo(-3), 7.remainder(-3), 7.divmod(-2), (7.divmod(0) rescue $!.message), (2**70).divmod(2**35)]
3.downto(1).to_a + 1.upto(3).to_a + 1.step(10, 4).to_a
r = []; 3.downto(1) { r << _1 }; 1.upto(3) { r << _1 }; 3.times { r << _1 }; r
[2.even?, 2.odd?, (2**70).even?, (2**70 + 1).odd?, 0.zero?, EDGE_INT.zero?, 1.integer?]
[7.fdiv(2), (10**400).fdiv(10**399), 1.fdiv(0)]
[12.gcd(18), 12.lcm(18), 12.gcdlcm(18), (2**70).gcd(2**40 * 3), (10**40).lcm(7)]
[EDGE_INT.inspect, EDGE_INT.to_s, 255.to_s(2), 255.to_s(36), (10**40).to_s(7)]
[1.next, 1.succ, 1.pred, (2**62 - 1).succ, (-2**62).pred, 65.ord]
[3.pow(4), 3.pow(4, 5), 3.pow(10**20, 7), 2.pow(-1), (-3).pow(3, 5)]
[3.rationalize, 3.to_r, 3.to_f, 3.to_i, 3.to_int, (2**70).to_f, (2**2000).to_f]
[3.times.to_a, 5.times.map { _1 * 2 }, 1.upto(5).select(&:even?), 10.downto(7).size]
[Integer.sqrt(24), Integer.sqrt(10**40), (Integer.sqrt(-1) rescue $!.message), Integer.try_convert(1.9), Integer.try_convert("x")]
(1..200).inject(:*).to_s.size
(1..60).map { |i| 3**i }.sum
(3**500) / (7**100) % (2**64)
(12345678901234567890**20).to_s(36)
(2**3000).to_s.size
"1#{'0' * 3000}".to_i.digits.size
(2**200 - 1) & (2**100 + 12345) | (2**150)
(-2**200) >> 7 << 3
[1 + 1.5, 1 - 2r, 2 * 3i, 1 / 3r, 7 % 2.5]
[(1 + nil rescue $!.message), (1 + "1" rescue $!.message), (Integer("x") rescue $!.message), (1 <=> "x"), (1 < "x" rescue $!.message)]
[Integer("0x1f", 16), Integer("0b11"), Integer("z", 36), Integer("9" * 30), Integer("x", exception: false), Integer(3.9), Integer("1_000")]
10.then { |n| a, b = 0, 1; n.times { a, b = b, a + b }; a }
(1..1000).sum { |i| i * i }
i = 0; i += 1 while i < 1000; i
(2**64).hash == (2**64).hash
1.dup.equal?(1) && 1.frozen?
EDGE_INT.digits rescue $!.message
EDGE_INT.bit_length
EDGE_INT.to_s(EDGE_COUNT) rescue $!.message
[1.real?, 1.nonzero?, 0.nonzero?, 1.finite?, 1.infinite?, 1.positive?, -1.negative?]
