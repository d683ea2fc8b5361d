"""How long a simulated shoe is dealt from."""

from typing import Final

CUT_CARD: Final = 14
"""So many cards lie behind the cut card, as is the custom of the trade; the coup in which it appears is the shoe's
last. With fewer than six, cards could run out in mid-coup.
"""
