"""Hours that are summed up, put down as they are for tests of what is made of them."""

from datetime import UTC, datetime
from decimal import Decimal

from games.models import BetHourlyTotal, Evidence, Table

HOUR = datetime(2026, 3, 1, 12, tzinfo=UTC)
ENDINGS = {"19:20": 4_600, "0:1": 940, "lost": 4_460}
ROUNDS, STAKE = 10_000, 5_000


def summed_up(
    table: Table,
    hour: datetime = HOUR,
    *,
    mode: str = "R",
    currency: str = "SEK",
    rounds: int = ROUNDS,
    paid: int = 0,
    other: int = 0,
) -> BetHourlyTotal:
    """Store totals of Banker bets of *rounds* rounds of one hour, fifty each, and their payouts; *other* of them have
    an impossible payout.
    """
    assert table.version
    Evidence.objects.bulk_create(
        Evidence(hour=hour, version=table.version, mode=mode, bet="banker", gain=gain, rounds=count)
        for gain, count in (
            {gain: most * rounds // ROUNDS for gain, most in ENDINGS.items()} | {"other": other}
        ).items()
        if count
    )
    return BetHourlyTotal.objects.create(
        hour=hour,
        version=table.version,
        mode=mode,
        currency=currency,
        bet="banker",
        rounds=rounds,
        wagers=rounds,
        staked=rounds * STAKE,
        paid=paid or rounds * STAKE,
        commission=0,
        squares=Decimal(rounds * STAKE**2),
    )
