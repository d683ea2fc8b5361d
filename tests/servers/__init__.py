"""Applications that only tests start: the house in a process in which one thing is replaced."""
