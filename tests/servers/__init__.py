"""Applications that only tests start: the house as it is, in a process with one thing about it replaced."""
