"""Whether play is fair: hourly totals, randomness and returns."""
