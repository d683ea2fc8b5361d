"""A lower bet: what to offer where a balance no longer covers the bets on the table. Pure; amounts in minor units."""

from collections.abc import Mapping

from games.betting.limits import Limits


def lower_bet(stakes: Mapping[str, int], limits: Limits, funds: int) -> Mapping[str, int]:
    """Return the bets of *stakes* brought down, each in its proportion, to the most that *funds* cover; {} where they
    cover no bet.

    What the rounding to the table's step leaves over goes to the largest bet first; no bet grows, none stays under its
    minimum.
    """
    total = sum(stakes.values())
    if total <= funds:
        return dict(stakes)
    lowered = {bet: _allowed(bet, stake * funds // total, limits) for bet, stake in stakes.items()}
    for bet in sorted(stakes, key=lambda bet: -stakes[bet]):
        left = funds - sum(lowered.values())
        lowered[bet] = _allowed(bet, min(stakes[bet], lowered[bet] + left), limits)
    return {bet: stake for bet, stake in lowered.items() if stake}


def _allowed(bet: str, stake: int, limits: Limits) -> int:
    """Return the largest stake up to *stake* that the table takes on a bet, 0 where it takes none so small."""
    stake = min(stake - stake % limits.step, limits.bets[bet].maximum)
    return stake if stake >= limits.bets[bet].minimum else 0
