"""The dealer: a separate process that draws the seeds of rounds and shoes, keeps them secret and deals them.

It has no Django and no database. ``python -m games.dealer`` starts it; `docs/randomness.md`
describes what it promises.
"""
