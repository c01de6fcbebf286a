[1r * 2, 1r ** 2, 2r ** -2, 2r ** 0.5, 1r + 1, 1r - 0.5, -1r, (1/3r) / (2/5r), (1r / 0 rescue $!.message)]
[1/3r <=> 0.3, 1/3r == 1/3r, (1/3r).abs, (-7/2r).magnitude, (7/2r).ceil, (7/2r).floor, (7/2r).round, (5/2r).round(half: :even), (7/3r).round(2), (7/3r).truncate(1), (22/7r).ceil(2), (22/7r).floor(2)]
[(1/3r).coerce(2), (1/3r).denominator, (1/3r).numerator, (1/3r).fdiv(2), (1/3r).quo(2), (1/3r).hash == (1/3r).hash]
[(1/3r).inspect, (1/3r).to_s, (1/3r).negative?, (1/3r).positive?, (1/3r).zero?, (311/100r).rationalize(1/10r), (7/2r).to_f, (7/2r).to_i, (7/2r).to_r, (7/2r).truncate]
[Rational("1/3"), Rational(0.5), Rational(1, 3), Rational("0.75"), (Rational("x") rescue $!.message), Rational("x", exception: false)]
(1..30).map { |i| Rational(1, i) }.sum
[1i * 2i, 1i ** 2, Complex(1, 2) ** 3, Complex(1, 2) ** 0.5, 1i + 1, 1i - 1, -1i, Complex(1, 2) / Complex(3, 4), Complex(3, 4).quo(2), Complex(1, 0) <=> 2, 1i == Complex(0, 1)]
[Complex(3, 4).abs, Complex(3, 4).abs2, Complex(3, 4).magnitude, Complex(0, 1).angle, Complex(0, 1).arg, Complex(0, 1).phase, 1i.coerce(2), 1i.conj, 1i.conjugate]
[Complex(1/2r, 1/3r).denominator, Complex(1/2r, 1/3r).numerator, Complex(1, 2).fdiv(2), 1i.finite?, 1i.infinite?, 1i.hash == 1i.hash, Complex(1, 2).imag, Complex(1, 2).imaginary, Complex(1, 2).real, 1i.real?, 1i.eql?(1i)]
[Complex(3, 4).polar, Complex(3, 4).rect, Complex(3, 4).rectangular, Complex(3, 0).rationalize, Complex(3, 0).to_c, Complex(3, 0).to_f, Complex(3, 0).to_i, Complex(3, 0).to_r, Complex(3, -4).to_s, Complex(3, 4).inspect]
[Complex.polar(1, 2), Complex.rect(1, 2), Complex.rectangular(1, 2), Complex("1+2i"), (Complex("x") rescue $!.message), Complex("3@1")]
[1.abs2, 1.5.abs2, 2.angle, 2.arg, 2.phase, 2.polar, 2.rect, 2.rectangular, 2.conj, 2.conjugate, 2.i, 2.imag, 2.imaginary, 2.real, 2.real?, 2.to_c, 2.5.to_c]
[+1, +1.5, 1.quo(3), 1.0.quo(3), 5.div(3), 5.remainder(3), 5.5.remainder(2), 1.integer?, 1.5.integer?, 0.0.nonzero?, 5.5.nonzero?]
[1.step(10, 3).to_a, 1.step(by: 2, to: 7).to_a, 1.0.step(by: -0.5, to: 0).to_a, 1.step(by: 2).first(3)]
c = Class.new(Numeric) { def coerce(o) = [o.to_f, 5.0]; def to_f = 5.0; def to_r = 5r; def to_i = 5; def <=>(o) = 5 <=> o; def -(o) = 5 - o; def floor = 5; def /(o) = 5 / o; def *(o) = 5 * o; def <(o) = 5 < o; def >(o) = 5 > o; def ==(o) = 5 == o.to_i }; n = c.new; [n.-@, n + 1] rescue $!.class
c = Class.new(Numeric) { def coerce(o) = [o, 5]; def to_i = 5; def -(o) = 5 - o; def /(o) = 5.0 / o; def <(o) = 5 < o; def *(o) = 5 * o; def to_r = 5r; def to_f = 5.0; def <=>(o) = 5 <=> o; def ==(o) = 5 == o; def >(o) = 5 > o }; n = c.new; [n.to_int, n.-@, n.div(2), n % 3, n.modulo(3), n.divmod(3), n.remainder(3), n.fdiv(2), n.quo(2), n.abs2, n.denominator, n.numerator, n.real.class, n.eql?(n), n.clone.equal?(n), n.dup.equal?(n), n.+@.equal?(n)]
c = Class.new(Numeric) { def to_f = 5.5; def to_r = 11/2r }; n = c.new; [(n.ceil rescue $!.class), (n.floor rescue $!.class), (n.round rescue $!.class), (n.truncate rescue $!.class), n.to_c.class, n.i.class, n.conj.class, n.real?, n.rect.size, n.coerce(n).size, (n.coerce("x") rescue $!.class), n.integer?, n <=> n, n <=> 1, n.step(1, 1).class]
raised { class << (n = Numeric.new); def x = 1; end }.message.sub(/#<.*/, "")
[Math.acos(0.5), Math.acosh(2), Math.asin(0.5), Math.asinh(1), Math.atan(1), Math.atan2(1, 2), Math.atanh(0.5), Math.cbrt(27), Math.cos(1), Math.cosh(1)]
[Math.erf(1), Math.erfc(1), Math.exp(1), Math.frexp(10), Math.gamma(5), Math.hypot(3, 4), Math.ldexp(0.5, 3), Math.lgamma(0.5), Math.log(2), Math.log(8, 2), Math.log(10**400), Math.log10(1000), Math.log2(8), Math.sin(1), Math.sinh(1), Math.sqrt(2), Math.tan(1), Math.tanh(1)]
[(Math.sqrt(-1) rescue $!.message), (Math.log(-1) rescue $!.message), (Math.acos(2) rescue $!.message), (Math.sqrt("x") rescue $!.message)]
Math.log(EDGE_INT) rescue $!.message
EDGE_NUM + EDGE_NUM
EDGE_NUM * EDGE_NUM
EDGE_NUM ** 3
EDGE_NUM - EDGE_NUM
EDGE_NUM / 3
EDGE_NUM == EDGE_NUM
EDGE_NUM.to_s
EDGE_NUM.to_c
r = Random.new(EDGE_INT); [r.rand(100), r.rand, r.rand(1.5), r.rand(1..6), r.bytes(4), r.seed]
[Random.new(1) == Random.new(1), Random.new(3).dup.rand(10), Random.bytes(3).size, Random.rand(1), Random.rand(3) < 3, Random.new_seed.class, Random.random_number(1), Random.seed.class, Random.urandom(3).size]
[rand(1), rand.class, srand.class, srand(5).class, rand(10).class, Kernel.rand(1..1)]
r = Random.new(5); [r.random_number, r.random_number(5), r.random_number(2.5), Array.new(3) { r.rand(2**70) }, Marshal.load(Marshal.dump(r)).rand == r.rand]
[1, 2, 3].shuffle(random: Random.new(1)) + [[1, 2, 3].sample(random: Random.new(1))]
Random.srand(3).class
[0b1010, 0o17, 0xff, 1_000, 1e3, ?a, 3.14r, 2ri]
[1.clamp(2, 3), 5.clamp(..3), 2.5.clamp(1..2), 1.between?(0, 2), "b".clamp("a", "c")]
Random::DEFAULT rescue $!.class
[1r.-@, 1i.-@, 2r.send(:-@), Process::Tms.new(1, 2, 3, 4).utime]
