"""The shipped tables. Limits and chips are whole units here, minor units in the database."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from games.betting.limits import StoredCurrency, StoredLimits
from games.models import Shape, Table
from games.tables.checks import TableClock, TableLimits
from games.tables.chemin_rules import CheminClock, CheminRules, StoredCheminLimits
from games.tables.clock import Clock
from games.tables.status import open_table
from games.tables.versions import follow_rules, make_table
from players.protection import national_rules

MINOR = 100

# currency: chips, then (minimum, maximum) on Player and Banker, and on Tie.
BACCARAT = {
    "SEK": ((10, 50, 100, 500, 1000, 5000), (10, 20_000), (10, 2_500)),
    "DKK": ((10, 50, 100, 500, 1000, 5000), (10, 15_000), (10, 2_000)),
    "RON": ((5, 25, 50, 100, 500, 1000), (5, 10_000), (5, 1_250)),
    "EUR": ((1, 5, 10, 25, 100, 500), (1, 2_000), (1, 250)),
    "GBP": ((1, 5, 10, 25, 100, 500), (1, 2_000), (1, 250)),
}

# Its bets stay from round to round, so chips come in finer steps and the maximum is lower.
GOLDEN = {
    "SEK": ((10, 20, 50, 100, 500, 1000), (10, 10_000), (10, 1_200)),
    "DKK": ((10, 20, 50, 100, 500, 1000), (10, 8_000), (10, 1_000)),
    "RON": ((5, 10, 20, 50, 100, 500), (5, 5_000), (5, 600)),
    "EUR": ((1, 2, 5, 10, 50, 100), (1, 1_000), (1, 120)),
    "GBP": ((1, 2, 5, 10, 50, 100), (1, 1_000), (1, 120)),
}

Range = tuple[int, int]
ByCurrency = Mapping[str, tuple[tuple[int, ...], Range, Range]]


class Shared(NamedTuple):
    """A shared table in one currency. Bets that pay more have lower maximums, so that every maximum
    wins about as much.
    """

    tray: tuple[int, ...]
    more: tuple[int, ...]  # further chips that a player may choose for the tray
    main: Range
    tie: Range
    sides: Mapping[str, Range]
    liability: int  # for all players of a round together: five times what the largest bet on Player wins


def _nc_sides(even: Range, pair: Range, bonus: Range, perfect: Range) -> Mapping[str, Range]:
    return {
        "super_6": pair,
        "player_pair": pair,
        "banker_pair": pair,
        "either_pair": even,
        "perfect_pair": perfect,
        "player_bonus": bonus,
        "banker_bonus": bonus,
    }


def _pairs(pair: Range) -> Mapping[str, Range]:
    return {"player_pair": pair, "banker_pair": pair}


NO_COMMISSION = {
    "SEK": Shared(
        (10, 50, 250, 1000, 10_000, 50_000),
        (100, 5000),
        (50, 200_000),
        (20, 20_000),
        _nc_sides((20, 20_000), (20, 10_000), (10, 5_000), (10, 1_000)),
        1_000_000,
    ),
    "DKK": Shared(
        (10, 50, 250, 1000, 5000, 25_000),
        (100, 500),
        (40, 150_000),
        (20, 15_000),
        _nc_sides((20, 15_000), (20, 7_500), (10, 3_750), (10, 750)),
        750_000,
    ),
    "RON": Shared(
        (5, 20, 100, 500, 5000, 25_000),
        (50, 1000),
        (20, 100_000),
        (10, 10_000),
        _nc_sides((10, 10_000), (10, 5_000), (5, 2_500), (5, 500)),
        500_000,
    ),
    "EUR": Shared(
        (1, 5, 25, 100, 1000, 5000),
        (10, 500),
        (5, 20_000),
        (2, 2_000),
        _nc_sides((2, 2_000), (2, 1_000), (1, 500), (1, 100)),
        100_000,
    ),
    "GBP": Shared(
        (1, 5, 25, 100, 1000, 5000),
        (10, 500),
        (5, 20_000),
        (2, 2_000),
        _nc_sides((2, 2_000), (2, 1_000), (1, 500), (1, 100)),
        100_000,
    ),
}

PAIRS = {
    "SEK": Shared(
        (10, 50, 100, 500, 1000, 5000), (20, 10_000), (20, 50_000), (10, 5_000), _pairs((10, 5_000)), 250_000
    ),
    "DKK": Shared(
        (10, 50, 100, 500, 1000, 5000), (20, 10_000), (20, 40_000), (10, 4_000), _pairs((10, 4_000)), 200_000
    ),
    "RON": Shared((5, 25, 50, 100, 500, 2500), (10, 1000), (10, 25_000), (5, 2_500), _pairs((5, 2_500)), 125_000),
    "EUR": Shared((1, 5, 10, 25, 100, 500), (2, 1000), (2, 5_000), (1, 500), _pairs((1, 500)), 25_000),
    "GBP": Shared((1, 5, 10, 25, 100, 500), (2, 1000), (2, 5_000), (1, 500), _pairs((1, 500)), 25_000),
}

# One table and one practice table per currency: their names, then the smallest and the largest bank.
CHEMIN_DE_FER = {
    "SEK": ("Stockholm", "Göteborg", (100, 50_000)),
    "DKK": ("København", "Aarhus", (100, 40_000)),
    "RON": ("București", "Cluj", (50, 25_000)),
    "EUR": ("Baden-Baden", "Wiesbaden", (10, 5_000)),
    "GBP": ("London", "Brighton", (10, 5_000)),
}

# Twenty seconds for bets, two for the call, one for each card, six to look at the result.
PACE = Clock(betting=20_000, call=2_000, card=1_000, pause=6_000)

# Twenty seconds for decisions, twelve to draw the cards. A player who misses two turns is away, and loses the
# seat after five minutes.
CHEMIN_PACE = CheminClock(
    ask=20_000,
    decide=20_000,
    deal=12_000,
    choice=15_000,
    pause=6_000,
    house_player=2_500,
    missed=2,
    removal=300_000,
)


def baccarat_limits() -> StoredLimits:
    """Limits of the shipped `baccarat` table in every currency, as a table version stores them."""
    return _solo(BACCARAT)


def golden_limits() -> StoredLimits:
    """Limits of the shipped `golden` table in every currency, as a table version stores them."""
    return _solo(GOLDEN)


def no_commission_limits() -> StoredLimits:
    """Limits of the shipped `no_commission` table in every currency, as a table version stores them."""
    return _shared(NO_COMMISSION)


def pairs_limits() -> StoredLimits:
    """Limits of the shipped `pairs` table in every currency, as a table version stores them."""
    return _shared(PAIRS)


def chemin_limits(currency: str) -> StoredCheminLimits:
    """Limits of the shipped `chemin_de_fer` table in a currency, as a table version stores them."""
    return _chemin_limits(currency, seat_count=9)


def practice_limits(currency: str) -> StoredCheminLimits:
    """Limits of the shipped practice table of `chemin_de_fer` in a currency, as a table version stores them."""
    return _chemin_limits(currency, seat_count=5, house_players=3)


class Shipped(NamedTuple):
    """A shipped table."""

    slug: str
    name: str
    variant: str
    limits: TableLimits
    shape: Shape = Shape.SOLO
    clock: TableClock | None = None


def shipped() -> Iterator[Shipped]:
    """Yield the tables in the order in which lobbies list them."""
    yield Shipped("baccarat", "Baccarat", "baccarat", baccarat_limits())
    yield Shipped("golden", "Golden Baccarat", "golden", golden_limits())
    nc_limits = no_commission_limits()
    yield Shipped("live-baccarat-2-nc", "Live Baccarat 2 NC", "no_commission", nc_limits, Shape.SHARED, PACE)
    yield Shipped("pairs", "Baccarat with Pairs", "pairs", pairs_limits(), Shape.SHARED, PACE)
    for currency, (name, practice_name, _bank) in CHEMIN_DE_FER.items():
        for slug, city, limits in (
            (f"chemin-de-fer-{currency.lower()}", name, chemin_limits(currency)),
            (f"chemin-de-fer-practice-{currency.lower()}", practice_name, practice_limits(currency)),
        ):
            yield Shipped(slug, f"Chemin de Fer {city}", "chemin_de_fer", limits, Shape.CHEMIN, CHEMIN_PACE)


def load_tables() -> None:
    """Create and open missing shipped tables; put the release's rules in force at existing ones, and record its
    national rules.
    """
    national_rules.record_shipped()
    follow_rules(by="system")
    for each in shipped():
        if not Table.objects.filter(slug=each.slug).exists():
            table = make_table(**each._asdict(), by="system")
            open_table(table_id=table.pk, reason="Initial tables.", by="system")


def _solo(limits: ByCurrency) -> StoredLimits:
    return {
        currency: _stored(chips, {"player": main, "banker": main, "tie": tie})
        for currency, (chips, main, tie) in limits.items()
    }


def _shared(limits: Mapping[str, Shared]) -> StoredLimits:
    return {
        currency: {
            **_stored(
                sorted(each.tray + each.more),
                {"player": each.main, "banker": each.main, "tie": each.tie, **each.sides},
            ),
            "tray": [chip * MINOR for chip in each.tray],
            "liability": each.liability * MINOR,
        }
        for currency, each in limits.items()
    }


def _chemin_limits(currency: str, *, seat_count: int, house_players: int = 0) -> StoredCheminLimits:
    _, _, (low, high) = CHEMIN_DE_FER[currency]
    return CheminRules(currency, seat_count, low * MINOR, high * MINOR, house_players).stored()


def _stored(chips: Iterable[int], bets: Mapping[str, Range]) -> StoredCurrency:
    all_chips = [chip * MINOR for chip in chips]
    return {
        "step": all_chips[0],
        "chips": all_chips,
        "bets": {bet: [low * MINOR, high * MINOR] for bet, (low, high) in bets.items()},
    }
