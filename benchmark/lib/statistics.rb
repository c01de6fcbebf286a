# statistics.rb - means, geometric ones, medians, deviations, and the confidence interval of a ratio of two means.

module Statistics
  module_function

  def mean(numbers) = numbers.sum.fdiv(numbers.size)
  def geometric_mean(numbers) = Math.exp(mean(numbers.map { |n| Math.log(n) }))

  def median(numbers) = numbers.sort.then { |all| (all[(all.size - 1) / 2] + all[all.size / 2]) / 2.0 }

  # Standard deviation of the sample; 0 for a single number.
  def deviation(numbers)
    return 0.0 if numbers.size < 2

    middle = mean(numbers)
    Math.sqrt(numbers.sum { |n| (n - middle)**2 } / (numbers.size - 1))
  end

  # [mean of a / mean of b, low, high]. The interval is Fieller's, in the form that Kalibera and Jones give for speed-ups
  # (Rigorous Benchmarking in Reasonable Time, ISMM 2013). low and high are nil where there is none: a single number, or
  # so much noise that b's mean may be zero.
  def ratio(a, b, confidence = 0.95)
    mean_a, mean_b = mean(a), mean(b)
    return nil unless mean_b.positive?

    ratio = mean_a / mean_b
    return [ratio, nil, nil] if [a, b].any? { |numbers| numbers.size < 2 }

    square_a, square_b = [a, b].map { |numbers| mean(numbers)**2 - half_width(numbers, confidence)**2 }
    return [ratio, nil, nil] unless square_b.positive?

    root = Math.sqrt([(mean_a * mean_b)**2 - square_a * square_b, 0.0].max) # rounding may leave it just below zero
    [ratio, [(mean_a * mean_b - root) / square_b, 0.0].max, (mean_a * mean_b + root) / square_b]
  end

  # Half the width of the confidence interval of the mean.
  def half_width(numbers, confidence)
    quantile(confidence, numbers.size - 1) * deviation(numbers) / Math.sqrt(numbers.size)
  end

  # The t below which Student's |t| stays with that probability, by bisection.
  def quantile(probability, freedom)
    low, high = 0.0, 1.0
    high *= 2 while within(high, freedom) < probability
    100.times do
      middle = (low + high) / 2
      within(middle, freedom) < probability ? low = middle : high = middle
    end
    high
  end

  # The probability that Student's |t| is at most t: the finite series for whole degrees of freedom (Abramowitz and
  # Stegun, 26.7.3 and 26.7.4).
  def within(t, freedom)
    angle = Math.atan(t / Math.sqrt(freedom))
    cosine = Math.cos(angle)
    odd = freedom.odd?
    term = odd ? cosine : 1.0
    sum = freedom == 1 ? 0.0 : term
    (odd ? 3 : 2).step(freedom - 2, 2) do |k|
      term *= cosine**2 * (k - 1) / k
      sum += term
    end
    odd ? 2 / Math::PI * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum
  end
end
