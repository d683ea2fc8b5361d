"""The house's risk in a round at a shared table, and the limit that the version sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from games.betting.limits import Limits
from games.engine.settle import largest_loss, largest_win
from games.models import OPEN_PHASES, LiveRound, Phase, Shape
from games.variants import VARIANTS


@dataclass(frozen=True)
class Risk:
    """The house's risk in one currency, in its minor units."""

    currency: str
    staked: int
    worst: int | None
    """The loss on the worst outcome for the house; None where this version of the code has other rules."""
    limit: int | None
    """The limit of that loss under the version of the round."""

    @property
    def percent(self) -> int:
        """Percent of the limit in use, rounded up, so that only no risk reads as 0."""
        return min(100, -(-100 * self.worst // self.limit)) if self.worst and self.limit else 0


def risks_of(live_round: LiveRound | None, totals: Mapping[str, Mapping[str, int]]) -> Sequence[Risk]:
    """Return the risk of a round in progress in each currency of its bets.

    *totals*: currency, bet, minor units over all players. While bets are open, losing bets may
    still be taken off, so they do not offset winning ones; the limit is applied to bets in the same
    way. From the deal on they do offset. The drawn cards are never read, so the risk does not
    depend on them.
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
