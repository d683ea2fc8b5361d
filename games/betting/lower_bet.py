"""Lower bets: what to offer if a balance no longer covers the bets on the table. Pure; amounts in
minor units.
"""

from collections.abc import Mapping

from games.betting.limits import Limits


def lower_bet(stakes: Mapping[str, int], limits: Limits, funds: int) -> Mapping[str, int]:
    """Return *stakes* lowered in proportion to the most that *funds* cover; {} if they cover no
    bet.

    The remainder after rounding to the table's step goes to the largest bet first. No bet grows,
    and none stays under its minimum.
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
    """Return the largest allowed stake up to *stake*, or 0 if *stake* is under the minimum."""
    stake = min(stake - stake % limits.step, limits.bets[bet].maximum)
    return stake if stake >= limits.bets[bet].minimum else 0
