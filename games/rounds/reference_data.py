"""Reference data for the functions of the database: highest odds, bet combinations, dealer keys.

``manage.py migrate`` stores it as the owner. The database refuses a payout above the highest odds of
a bet, bets that may not be placed together or could cost the house too much, and rounds that were
dealt from another number of decks. With its keys the dealer proves to the database what it dealt
(``sql/functions/dealer.sql``). The login role of web and workers reads only odds and combinations.
"""

import json
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.db.backends.utils import CursorWrapper

from audit.key_folder import CannotStart
from games.dealer.keys import Keys, proof_key
from games.engine.bets import BetRule, Pays, Variant
from games.engine.conditions import EVERY_COUP
from games.engine.coup import Outcome
from games.engine.settle import worst_rows
from games.variants import VARIANTS
from players import key_rotation
from players.login.credentials import padded

OUTCOMES: Final = tuple(coup.outcome for coup in EVERY_COUP)
LOST: Final = Pays(-1, 1)
"""The stake is lost: a payout of zero."""

STORE_HIGHEST_ODDS: Final = """
INSERT INTO games_highestodds (rules_digest, bet, outcome, win, per) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (rules_digest, outcome, bet) DO NOTHING
"""


def store_highest_odds(cursor: CursorWrapper) -> None:
    """Store the highest odds of every installed game; *cursor* is the owner's.

    Rules are never changed under the same digest, so existing rows stay.
    """
    for variant in VARIANTS.values():
        cursor.executemany(STORE_HIGHEST_ODDS, list(_highest_odds(variant)))


def highest(bet: BetRule, outcome: Outcome) -> Pays:
    """Return the highest odds that *bet* can pay on a coup with this outcome, `LOST` if it always loses."""
    paid = {pays or LOST for pays, ends in zip(bet.payouts, OUTCOMES, strict=True) if ends is outcome}
    return max(paid, key=lambda pays: pays.fraction)


def _highest_odds(variant: Variant) -> Iterator[tuple[str, str, str, int, int]]:
    for bet in variant.bets:
        for outcome in Outcome:
            yield (variant.digest, bet.code, outcome.value, *highest(bet, outcome))


STORE_BET_COMBINATIONS: Final = """
INSERT INTO games_betcombinations (rules_digest, exclusions, needs, wins, decks) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (rules_digest) DO UPDATE SET decks = excluded.decks
"""


def store_bet_combinations(cursor: CursorWrapper) -> None:
    """Store the combinations of every installed game; *cursor* is the owner's.

    Rules are never changed under the same digest, so existing rows stay.
    """
    for variant in VARIANTS.values():
        cursor.execute(
            STORE_BET_COMBINATIONS, [variant.digest, *map(json.dumps, combinations_of(variant)), variant.decks]
        )


def combinations_of(variant: Variant) -> tuple[list[list[str]], dict[str, list[str]], list[dict[str, tuple[int, int]]]]:
    """Return exclusions, needs and wins as `games.models.BetCombinations` has them."""
    exclusions = [sorted(rivals) for rivals in variant.exclusions]
    needs = {bet.code: sorted(bet.needs) for bet in variant.bets if bet.needs}
    wins = [
        {bet.code: (pays.win, pays.per) for bet, pays in zip(variant.bets, row, strict=True) if pays is not None}
        for row in worst_rows(variant.bets)
    ]
    return exclusions, needs, wins


STORE_DEALER_KEYS: Final = "INSERT INTO games_dealer_key (number, inner_pad, outer_pad) VALUES (%s, %s, %s)"


class WrongKey(Exception):
    """A key of DEALER_PROOF_KEY is not valid; the message says why."""


def store_dealer_keys(cursor: CursorWrapper) -> int:
    """Store the keys of DEALER_PROOF_KEY, and no others; return how many the database has.

    Without the setting, a demo stores the key of its own dealer, and other houses keep those that they
    have. Raises WrongKey.
    """
    keys = _dealer_keys()
    if not keys:
        cursor.execute("SELECT count(*) FROM games_dealer_key")
        (stored,) = cursor.fetchone()
        return int(stored)
    cursor.execute("DELETE FROM games_dealer_key")
    cursor.executemany(STORE_DEALER_KEYS, [(number, *padded(key)) for number, key in enumerate(keys)])
    return len(keys)


def _dealer_keys() -> list[bytes]:
    try:
        if given := key_rotation.keys_of(settings.DEALER_PROOF_KEY):
            return [proof_key(key) for key in given]
        return [] if settings.DEALER_DIR is None else [Keys.opened(settings.DEALER_DIR).proof]
    except ValueError as error:
        raise WrongKey(f"DEALER_PROOF_KEY: {error}.") from error
    except CannotStart as error:
        raise WrongKey(f"The key of the dealer cannot be read: {error}.") from error
