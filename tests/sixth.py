"""Adds the variant of `tests/variants/sixth` to the house of this process, as one more folder of `games/variants`."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from games import variants
from games.betting.limits import StoredLimits
from games.engine.bets import Variant
from games.tables.default_tables import baccarat_limits

FOLDER: Final = str(Path(__file__).parent / "variants")
SLUG: Final = "sixth"


def add() -> Variant:
    """Have the house of this process find the folder, as if it had been there when it began."""
    variants.__path__.append(FOLDER)
    added = variants.discover()[SLUG]
    assert isinstance(added, Variant)
    for games in (variants.GAMES, variants.VARIANTS):
        _behind(games)[SLUG] = added
    return added


def remove() -> None:
    """Have it forget the variant again."""
    for games in (variants.GAMES, variants.VARIANTS):
        del _behind(games)[SLUG]
    variants.__path__.remove(FOLDER)


@contextmanager
def one_more() -> Iterator[Variant]:
    """Register the sixth variant in this process inside the block."""
    added = add()
    try:
        yield added
    finally:
        remove()


def _behind(games: object) -> dict[str, object]:
    """Return what a read-only view shows: the modules that have imported the view see the addition too."""
    (found,) = gc.get_referents(games)
    assert isinstance(found, dict)
    return found


def sixth_limits(*, is_shared: bool) -> StoredLimits:
    """Limits of a table of the sixth variant in every currency."""
    limits = baccarat_limits()
    own = [bet.code for bet in variants.VARIANTS[SLUG].bets if bet.needs]
    for each in limits.values():
        each["bets"] |= {code: list(each["bets"]["tie"]) for code in own}
        if is_shared:
            each["liability"] = 500 * each["bets"]["player"][1]
            each["tray"] = each["chips"][:6]
    return limits
