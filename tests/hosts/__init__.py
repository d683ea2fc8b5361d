"""A house on several machines, some of which disappear."""
