"""Hints next to a reason field: whether the player can later read the reason.

Players may ask for all their data (`accounts.data_export`), so they can read most reasons.
"""

from typing import Final

TOLD: Final = "The player can read this: it is part of the data that they may ask for."
TOLD_ONCE_DONE: Final = "Once it is done the player can read this: it is part of the data that they may ask for."
UNTOLD: Final = "The player never reads this."
