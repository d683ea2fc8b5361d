"""Descriptions of staff roles.

Roles are groups of permissions, created by the migrations (``players/migrations/0002_data.sql``).
"""

from typing import Final

# What each role is for, as shown where roles are given.
WORDS: Final = {
    "administrator": "looks after accounts of staff, always with a second person; sees no player and no money",
    "compliance": "reads everything, works on significant events and on players’ protection; moves no money",
    "finance": "pays out, holds the books against the providers’ statements, and sees whom it pays",
    "operator": "opens and closes tables, and answers players",
    "supervisor": "rules on what went wrong at tables, agrees to payments, and watches returns and the chat",
    "support": "looks after players: who they are, what they asked, their limits and exclusions",
}
