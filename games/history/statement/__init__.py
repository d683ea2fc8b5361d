"""A player's statement for any period: on the screen, as a file for spreadsheets, as a document.

It stands among the games since it says what was staked and paid back in each of them; every figure comes from the
ledger.
"""
