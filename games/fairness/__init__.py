"""Fairness of play: hourly totals, tests of randomness, monitoring of returns."""
