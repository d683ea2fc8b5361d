"""The highest payout odds of each bet of the installed rules, stored for the functions that finish
rounds: the database refuses a payout above them.

``manage.py migrate`` stores them as the owner. The login role of web and workers only reads them.
"""

from collections.abc import Iterator
from typing import Final

from django.db.backends.utils import CursorWrapper

from games.engine.bets import BetRule, Pays, Variant
from games.engine.conditions import EVERY_COUP
from games.engine.coup import Outcome
from games.variants import VARIANTS

LOST: Final = Pays(-1, 1)
"""The stake is lost: a payout of zero."""

STORE: Final = """
INSERT INTO games_highestodds (rules_digest, bet, outcome, win, per) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (rules_digest, outcome, bet) DO NOTHING
"""


def store(cursor: CursorWrapper) -> None:
    """Store the highest odds of every installed game; *cursor* is the owner's.

    Rules are never changed under the same digest, so existing rows stay.
    """
    for variant in VARIANTS.values():
        cursor.executemany(STORE, list(_rows(variant)))


def highest(bet: BetRule, outcome: Outcome) -> Pays:
    """Return the highest odds that *bet* can pay on a coup with this outcome, `LOST` if it always loses."""
    paid = {bet.pays(coup) or LOST for coup in EVERY_COUP if coup.outcome is outcome}
    return max(paid, key=lambda pays: pays.fraction)


def _rows(variant: Variant) -> Iterator[tuple[str, str, str, int, int]]:
    for bet in variant.bets:
        for outcome in Outcome:
            yield (variant.digest, bet.code, outcome.value, *highest(bet, outcome))
