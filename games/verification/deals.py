"""Verifies every deal in the event log, without the tables of the rounds.

It finds a round whose commitment is not in the log before it, a deal that no trusted dealer has
signed, a card that its shoe was not committed to, a shoe that was not dealt in order, and deals of a
dealer that are missing: each epoch numbers its deals of solo rounds without gaps, so a number that
is in no event was dealt and not stored.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from audit.models import Event
from games.engine import card_tree
from games.engine.commitments import entropy_of
from games.engine.shoe import shuffle
from games.rounds.dealt import (
    COMMITTED,
    OPENED,
    SETTLED,
    binding_of_shoe,
    signature_of,
    signature_of_cards,
    signature_of_shoe,
)
from games.rounds.redeal import VALID

CUT, PUBLISHED = "shoe.committed", "shoe.published"
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
    """Number of rounds, of shoes and of epochs that were verified."""

    rounds: int = 0
    shoes: int = 0
    epochs: dict[str, _Epoch] = field(default_factory=dict)


def findings(verified: Verified) -> Iterator[str]:
    """Read the log from its beginning and yield each finding as a sentence; count in *verified*."""
    committed: dict[str, str] = {}  # commitment by round, of rounds that were not played yet
    shoes: dict[str, dict[str, Any]] = {}  # by id, those in play: how each began, and its cards in "gone"
    events = Event.objects.filter(kind__in=[SETTLED, COMMITTED, CUT, OPENED, PUBLISHED]).order_by("pk")
    for row in events.values_list("kind", "on", "body").iterator(chunk_size=1000):
        kind, on, body = row
        round_id, data = on.removeprefix("round:"), json.loads(bytes(body))["data"]
        if kind == COMMITTED:
            committed.pop(data["spent"], None)
            committed[round_id] = data["commitment"]
        elif kind == OPENED:
            verified.shoes += 1
            shoes[on.removeprefix("shoe:")] = data | {"gone": data["burned"]}
            if (signature := signature_of_shoe(on.removeprefix("shoe:"), data)) != VALID:
                yield f"{on}: signature of the dealer: {signature}."
            if entropy_of(data["chances"]) != data["entropy"]:
                yield f"{on}: what players have added is not what the shoe was shuffled with."
            if committed.pop(on, data["commitment"]) != data["commitment"]:
                yield f"{on}: the commitment in the log before it was cut is another one."
        elif kind == CUT:
            committed[on] = data["commitment"]
        elif kind == PUBLISHED:
            yield from _published(on.removeprefix("shoe:"), data, shoes.pop(on.removeprefix("shoe:"), None))
        elif "shoe" in data:
            verified.rounds += 1
            yield from _from_shoe(round_id, data, shoes.get(data["shoe"]))
        elif "dealer" in data:
            yield from _settled(round_id, data, committed, verified)
    for epoch, numbers in verified.epochs.items():
        missing = numbers.missing()
        for first, last in missing[:RANGES]:
            which = f"deal {first} was" if first == last else f"deals {first} to {last} were"
            yield f"epoch {epoch}: {which} dealt and not stored."
        if len(missing) > RANGES:
            yield f"epoch {epoch}: deals of {len(missing) - RANGES} more ranges were dealt and not stored."


def _from_shoe(round_id: str, data: dict[str, Any], shoe: dict[str, Any] | None) -> Iterator[str]:
    """Verify a round from a shoe, and count its cards."""
    if shoe is None:
        yield f"round {round_id}: no commitment to its shoe is in the log before it."
        return
    if data["commitment"] != shoe["commitment"]:
        yield f"round {round_id}: the commitment in the log before it is another one."
    if (signature := signature_of_cards(data["shoe"], shoe, data | {"round": round_id})) != VALID:
        yield f"round {round_id}: signature of the dealer: {signature}."
    if data["first_card"] != shoe["gone"]:
        yield f"round {round_id}: begins with card {data['first_card']} of its shoe, and not {shoe['gone']}."
    shoe["gone"] = data["first_card"] + len(data["cards"].split())
    shoe.setdefault("dealt", []).extend(data.get("dealt", ()))


def _published(shoe_id: str, data: dict[str, Any], shoe: dict[str, Any] | None) -> Iterator[str]:
    """Deal a shoe again from its seed, and compare the commitment, the root and every card that was dealt."""
    if shoe is None:
        yield f"shoe {shoe_id}: its seed is in the log twice, or without a commitment before it."
        return
    seed, binding = bytes.fromhex(data["seed"]), binding_of_shoe(shoe_id, shoe)
    if binding.commitment(seed) != shoe["commitment"]:
        yield f"shoe {shoe_id}: its seed is not the one committed to."
        return
    cards = shuffle(seed, shoe["decks"], shoe["entropy"])
    salted = card_tree.salts(seed, len(cards), shoe["entropy"])
    if card_tree.root(card_tree.leaves(cards, salted)).hex() != shoe["root"]:
        yield f"shoe {shoe_id}: its seed does not give the cards that it was committed to."
    for dealt in shoe.get("dealt", ()):
        first, count = dealt["first_card"], len(dealt["cards"].split())
        if " ".join(card.code for card in cards[first : first + count]) != dealt["cards"]:
            yield f"shoe {shoe_id}: its seed gives other cards from card {first} on."


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
