"""The tables a house starts with. Limits and chips are whole units here, minor units in the database."""

from collections.abc import Mapping

from games.limits import StoredLimits
from games.models import Table
from games.tables import follow_rules, make_table, set_open

MINOR = 100

# currency: chips, then (minimum, maximum) on Player and Banker, and on Tie.
BACCARAT = {
    "SEK": ((10, 50, 100, 500, 1000, 5000), (10, 20_000), (10, 2_500)),
    "DKK": ((10, 50, 100, 500, 1000, 5000), (10, 15_000), (10, 2_000)),
    "RON": ((5, 25, 50, 100, 500, 1000), (5, 10_000), (5, 1_250)),
    "EUR": ((1, 5, 10, 25, 100, 500), (1, 2_000), (1, 250)),
    "GBP": ((1, 5, 10, 25, 100, 500), (1, 2_000), (1, 250)),
}

# Its bets stand from round to round, so chips come in finer steps and the ceiling lies lower.
GOLDEN = {
    "SEK": ((10, 20, 50, 100, 500, 1000), (10, 10_000), (10, 1_200)),
    "DKK": ((10, 20, 50, 100, 500, 1000), (10, 8_000), (10, 1_000)),
    "RON": ((5, 10, 20, 50, 100, 500), (5, 5_000), (5, 600)),
    "EUR": ((1, 2, 5, 10, 50, 100), (1, 1_000), (1, 120)),
    "GBP": ((1, 2, 5, 10, 50, 100), (1, 1_000), (1, 120)),
}

SHIPPED = (("baccarat", "Baccarat", BACCARAT), ("golden", "Golden Baccarat", GOLDEN))

ByCurrency = Mapping[str, tuple[tuple[int, ...], tuple[int, int], tuple[int, int]]]


def baccarat_limits() -> StoredLimits:
    """Limits of the shipped `baccarat` table in every currency, as a table version stores them."""
    return _stored(BACCARAT)


def golden_limits() -> StoredLimits:
    """Limits of the shipped `golden` table in every currency, as a table version stores them."""
    return _stored(GOLDEN)


def load_tables() -> None:
    """Make and open the shipped tables that are not there yet; those that are follow the rules of the program."""
    follow_rules(by="system")
    for slug, name, limits in SHIPPED:
        if not Table.objects.filter(slug=slug).exists():
            table = make_table(slug=slug, name=name, variant=slug, limits=_stored(limits), by="system")
            set_open(table_id=table.pk, is_open=True, reason="The house opens.", by="system")


def _stored(limits: ByCurrency) -> StoredLimits:
    return {
        currency: {
            "step": chips[0] * MINOR,
            "chips": [chip * MINOR for chip in chips],
            "bets": {
                "player": [each * MINOR for each in main],
                "banker": [each * MINOR for each in main],
                "tie": [each * MINOR for each in tie],
            },
        }
        for currency, (chips, main, tie) in limits.items()
    }
