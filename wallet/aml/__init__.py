"""AML alerts: signs of money laundering in deposits and withdrawals.

The signs are: money that passes through with little play, several deposits just under the
large-deposit threshold, and deposits far above the player's usual amount. Detection reads the
sealed event log and reports each sign with the rows that it follows from. Nothing is decided here.
"""
