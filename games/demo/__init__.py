"""The demo game: visitors without an account watch a round and play with chips without value.

No money is involved. The game is stored in the visitor's session and ends with it.
"""
