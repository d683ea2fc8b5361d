"""The settlement desk: what any cards pay on any stakes, one line of JSON in, one out. For disputes.

A question is `{"cards": ["9H", "4D", …], "stakes": {"banker": 500}}`, cards in dealing order, stakes in minor units.
Cards beyond the coup are not looked at. Exclusions and preconditions of the game apply, table limits do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, TooFewCards, deal
from games.engine.refusals import SettlementError
from games.engine.settle import settle


class BadQuestion(ValueError):
    """A line that does not ask anything the desk can answer."""


def answers(variant: Variant, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Answer every line in turn. What cannot be answered becomes `{"error": …}`, naming the line and the fault."""
    for number, line in enumerate(lines, start=1):
        try:
            yield _answer(variant, _question(line))
        except (BadQuestion, CardError, TooFewCards, SettlementError) as fault:
            yield {"error": f"line {number}: {fault}"}


def _answer(variant: Variant, question: dict[str, Any]) -> dict[str, Any]:
    coup = _coup(question["cards"])
    settlement = settle(variant, coup, question["stakes"])
    return {
        "outcome": coup.outcome.value,
        "player_total": coup.player_total,
        "banker_total": coup.banker_total,
        "cards_used": len(coup.cards),
        "payouts": {line.bet: line.payout for line in settlement.lines},
    }


def _coup(codes: list[Any]) -> Coup:
    return deal(Card.parse(code) for code in codes)


def _question(line: bytes) -> dict[str, Any]:
    """Read one line. Raises BadQuestion."""
    try:
        question = json.loads(line, object_pairs_hook=_once_each)
    except BadQuestion:
        raise
    except (ValueError, RecursionError) as fault:
        raise BadQuestion(f"not a line of JSON: {fault}") from None
    if not isinstance(question, dict):
        raise BadQuestion("not a JSON object")
    for key, kind, wanted in (("cards", list, "a list of card codes"), ("stakes", dict, "an object of bets")):
        if not isinstance(question.get(key), kind):
            raise BadQuestion(f'"{key}" must be {wanted}')
    return question


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which a key stands twice says two things at once: money is not settled on a guess."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise BadQuestion("a key stands twice in one object")
    return members
