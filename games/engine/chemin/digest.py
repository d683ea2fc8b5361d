"""A fingerprint of the rules: another one whenever anything that decides about money becomes another."""

from __future__ import annotations

import hashlib
import json

from games.engine.cards import Rank
from games.engine.chemin import machine, rules
from games.engine.tableau import NATURALS

_BANKS = (100, 101)
"""An even and an odd one, which show who gets the odd minor unit of a half."""


def rules_digest(version: str) -> str:
    """SHA-256, in hex, of all figures that decide about money, and of the version of the rules.

    Tables and calls enter as what they do in every case, not only by name. How a coup runs is code, of which the
    version stands here.
    """
    thirds = (None, *range(10))
    figures = {
        "version": version,
        "decks": rules.DECKS,
        "cut card": rules.CUT_CARD,
        "points": {rank.letter: rank.points for rank in Rank},
        "naturals": sorted(NATURALS),
        "tax": str(rules.TAX),
        "tax on 0 to 100": [rules.tax_on(won) for won in range(101)],
        "places": [rules.FEWEST_PLACES, rules.MOST_PLACES],
        "fewest guests": rules.FEWEST_GUESTS,
        "punter": [rules.punter_rule(total).value for total in range(8)],
        "banker": [[rules.banker_rule(total, third).value for third in thirds] for total in range(8)],
        "free choices of the croupier": {side.value: said.value for side, said in machine.AT_A_FREE_CHOICE.items()},
        "outcomes": [[rules.outcome_of(punter, banker).value for banker in range(10)] for punter in range(10)],
        "stakes returned": {outcome.value: times for outcome, times in rules.STAKES_RETURNED.items()},
        "calls": {
            call.value: [[call.smallest_stake(bank), call.share_for_others(bank)] for bank in _BANKS]
            for call in rules.Call
        },
    }
    canonical = json.dumps(figures, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
