"""A house on many machines, some of which disappear."""
