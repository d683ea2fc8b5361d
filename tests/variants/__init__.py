"""Variants that only tests know, a folder each: see `tests.sixth`."""
