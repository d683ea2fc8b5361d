"""What is said beside a field in which staff give a reason: whether the player it is about can come to read it.

Players may ask for everything the house holds about them (`accounts.data_export`), so most reasons are theirs to read.
"""

from typing import Final

TOLD: Final = "The player can read this: it is part of the data that they may ask for."
TOLD_ONCE_DONE: Final = "Once it is done the player can read this: it is part of the data that they may ask for."
UNTOLD: Final = "The player never reads this."
