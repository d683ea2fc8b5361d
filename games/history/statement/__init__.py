"""A player's statement for any period: on screen, as a CSV file and as a PDF document.

It is part of games because it lists stakes and payouts for each game. All figures come from the
ledger.
"""
