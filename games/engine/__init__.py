"""The mathematics of baccarat: pure functions and immutable values.

The engine uses no database, no clock and no random source. Randomness is an argument: a seed or a
sequence of cards.
"""
