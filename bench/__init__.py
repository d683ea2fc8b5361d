"""Benchmarks: each compares the house with a yardstick in the same run.

`make bench`, or `python -m bench [NAME …]`.
"""
