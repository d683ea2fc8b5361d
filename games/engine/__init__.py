"""The mathematics of baccarat: rules without a database, a clock or a source of chance of their own.

Everything here is a pure function or an immutable value. Chance comes in as an argument (a seed, a sequence of cards).
"""
