"""Tests of cards and shuffles for randomness (GLI-19 v3.0, 3.2–3.3).

They are counted every hour and tested at 99 % confidence, on request and once for each finished
week.
"""
