[EDGE_FLOAT + EDGE_NUM, EDGE_FLOAT - EDGE_FLOAT, EDGE_FLOAT * EDGE_NUM, EDGE_FLOAT / EDGE_NUM]
[EDGE_FLOAT % EDGE_FLOAT, EDGE_FLOAT ** EDGE_FLOAT, -EDGE_FLOAT]
[EDGE_FLOAT <=> EDGE_FLOAT, EDGE_FLOAT == EDGE_FLOAT, EDGE_FLOAT === EDGE_FLOAT, EDGE_FLOAT < EDGE_FLOAT, EDGE_FLOAT <= EDGE_FLOAT, EDGE_FLOAT > EDGE_FLOAT, EDGE_FLOAT >= EDGE_FLOAT]
[EDGE_FLOAT.abs, EDGE_FLOAT.magnitude, EDGE_FLOAT.angle, EDGE_FLOAT.arg, EDGE_FLOAT.phase]
[1.25.ceil, 1.25.ceil(1), 1.25.floor(1), -1.5.round, 2.5.round(half: :even), 2.5.round(half: :down), 1.2345.round(3), 1e20.round(-19), 1.9.truncate, 1.29.truncate(1), 12345.678.floor(-2)]
EDGE_FLOAT.round(EDGE_COUNT) rescue $!.message
[EDGE_FLOAT.ceil(2), EDGE_FLOAT.floor(2)] rescue $!.message
[1.5.coerce(2), 0.5.denominator, 0.5.numerator]
[7.5.divmod(2), -7.5.divmod(2), 7.5.modulo(2), 7.5.fdiv(2), 7.5.quo(2), 7.5.div(2), (1.0.divmod(0) rescue $!.message)]
[1.0.eql?(1.0), 1.0.eql?(1), 1.0.equal?(1.0), 1.0.hash == 1.0.hash, 0.0.hash == -0.0.hash]
[EDGE_FLOAT.finite?, EDGE_FLOAT.infinite?, EDGE_FLOAT.nan?, EDGE_FLOAT.zero?, EDGE_FLOAT.negative?, EDGE_FLOAT.positive?]
[EDGE_FLOAT.inspect, EDGE_FLOAT.to_s, 1e15.to_s, 1e16.to_s, 1e-5.to_s, 123456789.123456789.to_s]
[EDGE_FLOAT.next_float, EDGE_FLOAT.prev_float]
[0.3.rationalize, 0.3.rationalize(0.01), 0.5.to_r, 3.7.to_i, 3.7.to_int, 3.7.to_f, (Float::NAN.to_i rescue $!.message)]
[Float("1.5"), (Float("x") rescue $!.message), Float("1e3"), Float("x", exception: false), Float("0x1.8p1")]
(1..100).sum { |i| 1.0 / i }
[0.1, 0.2, 0.3].sum
[1e100, 1.0, -1e100].sum
(1..50).map { |i| Math.sqrt(i).to_s }.join(",")
1.0.step(2.0, 0.25).to_a
0.1 + 0.2
1e23.to_s + 9007199254740993.0.to_s + 5e-324.to_s
EDGE_FLOAT.to_r rescue $!.message
