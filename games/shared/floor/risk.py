"""What a round at a shared table may cost the house, beside what its version allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from games.betting.limits import Limits
from games.engine.liability import largest_loss, largest_win
from games.models import OPEN_PHASES, LiveRound, Phase, Shape
from games.variants import VARIANTS


@dataclass(frozen=True)
class Risk:
    """What is at stake for the house in one currency, in minor units of it."""

    currency: str
    staked: int
    worst: int | None
    """What it loses on the outcome that is worst for it; None where this program plays other rules than the round."""
    limit: int | None
    """What that may come to under the version of the round."""

    @property
    def percent(self) -> int:
        """How much of the limit is taken, rounded up, so that nothing reads as 0 but nothing."""
        return min(100, -(-100 * self.worst // self.limit)) if self.worst and self.limit else 0


def risks_of(live_round: LiveRound | None, totals: Mapping[str, Mapping[str, int]]) -> Sequence[Risk]:
    """Return the risk of a round in progress in each currency that lies on it. *totals*: currency, bet, minor units of
    all players together.

    While bets are open, what loses may still be taken back, and is not counted against what wins; that is also how
    bets are held to the limit. It is the same from the deal on whatever cards are drawn: they are not looked at.
    """
    if live_round is None or live_round.phase not in OPEN_PHASES:
        return ()
    table = live_round.live_table.table
    if table.shape != Shape.SHARED:
        return ()
    variant, version = VARIANTS[table.variant], live_round.version
    is_known = version.rules_digest == variant.digest
    worst = largest_win if live_round.phase == Phase.BETTING else largest_loss
    return tuple(
        Risk(
            currency=currency,
            staked=sum(stakes.values()),
            worst=worst(variant, stakes) if is_known else None,
            limit=Limits.of(version.limits, currency).liability,
        )
        for currency, stakes in totals.items()
    )
