"""Which bets of the installed rules may be placed together, what they win together, and the number of
decks, stored for ``games_place_bets`` and ``games_finish_solo_round``: the database refuses other
bets, bets that could cost the house too much, and rounds that were dealt from other decks.

``manage.py migrate`` stores them as the owner. The login role of web and workers only reads them.
"""

import json
from typing import Final

from django.db.backends.utils import CursorWrapper

from games.engine.bets import Variant
from games.engine.settle import worst_rows
from games.variants import VARIANTS

STORE: Final = """
INSERT INTO games_betcombinations (rules_digest, exclusions, needs, wins, decks) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (rules_digest) DO UPDATE SET decks = excluded.decks
"""


def store(cursor: CursorWrapper) -> None:
    """Store the combinations of every installed game; *cursor* is the owner's.

    Rules are never changed under the same digest, so existing rows stay.
    """
    for variant in VARIANTS.values():
        cursor.execute(STORE, [variant.digest, *map(json.dumps, combinations_of(variant)), variant.decks])


def combinations_of(variant: Variant) -> tuple[list[list[str]], dict[str, list[str]], list[dict[str, tuple[int, int]]]]:
    """Return exclusions, needs and wins as `games.models.BetCombinations` has them."""
    exclusions = [sorted(rivals) for rivals in variant.exclusions]
    needs = {bet.code: sorted(bet.needs) for bet in variant.bets if bet.needs}
    wins = [
        {bet.code: (pays.win, pays.per) for bet, pays in zip(variant.bets, row, strict=True) if pays is not None}
        for row in worst_rows(variant.bets)
    ]
    return exclusions, needs, wins
