"""Verifies every deal of a solo round in the event log, without the tables of the rounds.

It finds a round whose commitment is not in the log before it, a deal that no trusted dealer has
signed, and deals of a dealer that are missing: each epoch numbers its deals without gaps, so a
number that is in no event was dealt and not stored.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from audit.models import Event
from games.rounds.dealt import COMMITTED, SETTLED, signature_of
from games.rounds.redeal import VALID

RANGES = 20  # missing ranges of an epoch that are named


@dataclass
class _Epoch:
    """The numbers of the deals of an epoch that were seen: all up to *whole*, and those in *later*."""

    whole: int = 0
    later: set[int] = field(default_factory=set)

    def add(self, number: int) -> bool:
        """Add a number; return False if it was seen before."""
        if number <= self.whole or number in self.later:
            return False
        self.later.add(number)
        while self.whole + 1 in self.later:
            self.whole += 1
            self.later.remove(self.whole)
        return True

    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges of numbers below the highest one that were not seen."""
        ranges, before = [], self.whole
        for number in sorted(self.later):
            if number > before + 1:
                ranges.append((before + 1, number - 1))
            before = number
        return ranges


@dataclass
class Verified:
    """Number of rounds and of epochs that were verified."""

    rounds: int = 0
    epochs: dict[str, _Epoch] = field(default_factory=dict)


def findings(verified: Verified) -> Iterator[str]:
    """Read the log from its beginning and yield each finding as a sentence; count in *verified*."""
    committed: dict[str, str] = {}  # commitment by round, of rounds that were not played yet
    events = Event.objects.filter(kind__in=[SETTLED, COMMITTED]).order_by("pk")
    for row in events.values_list("kind", "on", "body").iterator(chunk_size=1000):
        kind, on, body = row
        round_id, data = on.removeprefix("round:"), json.loads(bytes(body))["data"]
        if kind == COMMITTED:
            committed.pop(data["spent"], None)
            committed[round_id] = data["commitment"]
        elif "dealer" in data:
            yield from _settled(round_id, data, committed, verified)
    for epoch, numbers in verified.epochs.items():
        missing = numbers.missing()
        for first, last in missing[:RANGES]:
            which = f"deal {first} was" if first == last else f"deals {first} to {last} were"
            yield f"epoch {epoch}: {which} dealt and not stored."
        if len(missing) > RANGES:
            yield f"epoch {epoch}: deals of {len(missing) - RANGES} more ranges were dealt and not stored."


def _settled(round_id: str, data: dict[str, Any], committed: dict[str, str], verified: Verified) -> Iterator[str]:
    verified.rounds += 1
    before = committed.pop(round_id, None)
    if before is None:
        yield f"round {round_id}: no commitment is in the log before it."
    elif before != data["commitment"]:
        yield f"round {round_id}: the commitment in the log before it is another one."
    if (signature := signature_of(round_id, data["decks"], data)) != VALID:
        yield f"round {round_id}: signature of the dealer: {signature}."
    said = data["dealer"]
    if not verified.epochs.setdefault(said["epoch"], _Epoch()).add(said["deal"]):
        yield f"round {round_id}: deal {said['deal']} of epoch {said['epoch']} is in the log twice."
    committed[data["next"]["round"]] = data["next"]["commitment"]
