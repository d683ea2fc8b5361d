"""Benches: each measures the house against a yardstick in the same run. `make bench`, or `python -m bench [NAME …]`."""
