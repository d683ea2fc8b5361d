"""Measures the house against yardsticks that others wrote: `make bench`, or `python -m bench [NAME …]`.

Both sides are measured in the same run, in turn, several times; medians are compared, so that a slow machine or a busy
minute meets both alike. What counts is the ratio.
"""
