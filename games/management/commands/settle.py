"""`manage.py settle SLUG`: settlement calculator for disputes, JSON lines from standard input to
standard output.

A request is `{"cards": ["9H", "4D", …], "stakes": {"banker": 500}}`, with cards in dealing order
and stakes in minor units. Cards after the end of the coup are ignored. Exclusions and preconditions
of the game apply; table limits do not.
"""

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand

from games.engine.bets import SettlementError, Variant
from games.engine.cards import Card, CardError
from games.engine.coup import Coup, TooFewCards, deal
from games.engine.settle import settle
from games.variants import VARIANTS


class BadQuestion(ValueError):
    """The line is not a valid request."""


def answers(variant: Variant, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield one answer per line.

    An invalid line gives `{"error": …}` with the line number and the fault.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield _answer(variant, _question(line))
        except (BadQuestion, CardError, TooFewCards, SettlementError) as fault:
            yield {"error": f"line {number}: {fault}"}


def _answer(variant: Variant, question: dict[str, Any]) -> dict[str, Any]:
    coup = _coup(question["cards"])
    for card, copies in Counter(coup.cards).items():
        if copies > variant.decks:
            raise BadQuestion(f"{card} stands {copies} times, and a shoe of this game has {variant.decks}")
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
    """Parse one line. Raises BadQuestion."""
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
    """Refuse an object with a repeated key, because its meaning is ambiguous. Raises
    BadQuestion.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        raise BadQuestion("a key is there twice in one object")
    return members


class Command(BaseCommand):
    """Answer line by line. Exit status 1 if a line is invalid. Uses no database."""

    help = 'Settle lines of {"cards": [codes in dealing order], "stakes": {bet: minor units}} by the rules of a game.'
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", choices=sorted(VARIANTS))

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        status = 0
        for answer in answers(VARIANTS[slug], sys.stdin.buffer):
            self.stdout.write(json.dumps(answer))
            self.stdout.flush()
            status = 1 if "error" in answer else status
        sys.exit(status)
