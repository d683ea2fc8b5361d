"""Verifies the deals in the event log, without the tables of the rounds (`games.verification.house`).

It finds a round whose commitment is not in the log before it, a deal that no trusted dealer has
signed, a card that its shoe was not committed to, a shoe that was not dealt in order, and deals of a
dealer that are missing: each epoch numbers its deals of solo rounds without gaps, so a number that
is in no event was dealt and not stored.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from games import beacon
from games.engine import card_tree
from games.engine.bets import SettlementError, Variant
from games.engine.commitments import Binding, Purpose, entropy_of
from games.engine.coup import deal
from games.engine.settle import settle
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
from games.variants import VARIANTS

CUT, PUBLISHED = "shoe.committed", "shoe.published"
RANGES = 20  # missing ranges of an epoch that are named


@dataclass
class _Epoch:
    """The numbers of the deals of an epoch that were seen: all up to *whole*, and those in *later*."""

    whole: int = 0
    later: set[int] = field(default_factory=set)
    highest: int = 0  # of those whose predecessors are all in the log, unless they were not stored

    def add(self, number: int, *, is_late: bool) -> bool:
        """Add a number; return False if it was seen before. *is_late*: no earlier deal is still to come."""
        if is_late:
            self.highest = max(self.highest, number)
        if number <= self.whole or number in self.later:
            return False
        self.later.add(number)
        while self.whole + 1 in self.later:
            self.whole += 1
            self.later.remove(self.whole)
        return True

    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges of numbers below the highest late one that were not seen."""
        ranges, before = [], self.whole
        for number in sorted(self.later):
            if number > before + 1 and number <= self.highest:
                ranges.append((before + 1, number - 1))
            before = number
        return ranges


LATE = timedelta(minutes=10)  # longer than a transaction lasts: a deal that is stored in one is in the log by then
LEAVES = """
    SELECT event.id, event.at, event.kind, event."on", event.body
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id AND event.kind = ANY (%s)
    WHERE leaf.leaf >= %s AND leaf.leaf < %s ORDER BY leaf.leaf
"""
BEFORE = """
    SELECT event.kind, event."on", event.body FROM audit_event AS event
    WHERE event."on" = ANY (%s) AND event.kind = ANY (%s) AND event.id < %s ORDER BY event.id
"""
OF_SHOES = "SELECT shoe_id, id FROM games_liveround WHERE shoe_id = ANY (%s)"


@dataclass(frozen=True)
class Finding:
    """Fault of a deal: the subject as in the event log, and a sentence."""

    on: str
    text: str


class Deals:
    """Reads the deals of the log in ranges of leaves, in order, and remembers what later ones need. What came
    before the first range is looked up.
    """

    def __init__(self) -> None:
        self._committed: dict[str, str] = {}  # commitment by round, of rounds that were not played yet
        self._chosen: dict[str, dict[str, Any]] = {}  # by shoe, the round of a beacon that was chosen before
        self._shoes: dict[str, dict[str, Any]] = {}  # by id, those in play: how each began, and its cards in "gone"
        self._epochs: dict[str, _Epoch] = {}
        self._settled_until = datetime.now(UTC) - LATE

    def findings(self, first: int, end: int) -> Iterator[Finding]:
        """Verify the deals of a range of leaves and yield each finding."""
        with connection.cursor() as cursor:
            cursor.execute(LEAVES, [[SETTLED, COMMITTED, CUT, OPENED, PUBLISHED], first, end])
            rows = [
                _Event(number, at, kind, on.partition(":")[2], json.loads(bytes(body))["data"])
                for number, at, kind, on, body in cursor.fetchall()
            ]
        self._look_up(rows)
        for row in rows:
            yield from (Finding(f"{row.subject}:{row.of}", text) for text in self._finding(row))

    def missing(self) -> Iterator[Finding]:
        """Yield the deals that are in no event of the ranges read so far: they were dealt and not stored."""
        for epoch, numbers in self._epochs.items():
            missing = numbers.missing()
            for first, last in missing[:RANGES]:
                text = (
                    f"epoch {epoch}: deal {first} was dealt but not stored."
                    if first == last
                    else f"epoch {epoch}: deals {first} to {last} were dealt but not stored."
                )
                yield Finding(f"dealer:{epoch}", text)
            if len(missing) > RANGES:
                text = f"epoch {epoch}: deals of {len(missing) - RANGES} more ranges were dealt but not stored."
                yield Finding(f"dealer:{epoch}", text)

    def _look_up(self, rows: Sequence["_Event"]) -> None:
        """Read from the log what these events need and no earlier range had."""
        if not rows:
            return
        own = {row.of for row in rows if row.kind == COMMITTED}
        own |= {row.data["next"]["round"] for row in rows if row.kind == SETTLED and "next" in row.data}
        solo = [row for row in rows if row.kind == SETTLED and "dealer" in row.data and row.of not in self._committed]
        lacking = [row for row in solo if row.of not in own]
        wanted = {f"round:{each}" for row in lacking for each in (row.of, row.data.get("follows")) if each}
        for kind, on, data in _before(wanted, [SETTLED, COMMITTED], rows[0].number):
            if kind == COMMITTED:
                self._committed.pop(data["spent"], None)
                self._committed[on] = data["commitment"]
            elif following := data.get("next"):
                self._committed[following["round"]] = following["commitment"]
        shoes = {row.data["shoe"] for row in rows if row.kind == SETTLED and "shoe" in row.data}
        shoes |= {row.of for row in rows if row.kind == PUBLISHED}
        self._look_up_shoes({each for each in shoes if each not in self._shoes}, rows[0].number)
        cut = {f"shoe:{row.of}" for row in rows if row.kind == OPENED}
        for _kind, on, data in _before(cut, [CUT], rows[0].number):
            self._committed.setdefault(f"shoe:{on}", data["commitment"])
            if data["beacon"] is not None:
                self._chosen.setdefault(on, data["beacon"])

    def _look_up_shoes(self, shoes: set[str], number: int) -> None:
        """Read how these shoes began, and which cards they have given."""
        for kind, on, data in _before({f"shoe:{each}" for each in shoes}, [OPENED, PUBLISHED], number):
            if kind == OPENED:
                self._shoes[on] = data | {"gone": data["burned"]}
            else:
                self._shoes.pop(on, None)
        with connection.cursor() as cursor:
            cursor.execute(OF_SHOES, [[UUID(each) for each in shoes]])
            rounds = {f"round:{round_id}" for _shoe, round_id in cursor.fetchall()}
        for _kind, _on, data in _before(rounds, [SETTLED], number):
            if shoe := self._shoes.get(data["shoe"]):
                _take(shoe, data)

    def _finding(self, row: "_Event") -> Iterator[str]:
        data = row.data
        if row.kind == COMMITTED:
            self._committed.pop(data["spent"], None)
            self._committed[row.of] = data["commitment"]
        elif row.kind == OPENED:
            self._shoes[row.of] = data | {"gone": data["burned"]}
            if (signature := signature_of_shoe(row.of, data)) != VALID:
                yield f"shoe:{row.of}: signature of the dealer: {signature}."
            if entropy_of(data["chances"]) != data["entropy"]:
                yield f"shoe:{row.of}: the shoe was not shuffled with the values that players added."
            yield from _of_beacon(f"shoe:{row.of}", data, self._chosen.pop(row.of, None))
            if self._committed.pop(f"shoe:{row.of}", data["commitment"]) != data["commitment"]:
                yield f"shoe:{row.of}: the log has a different commitment before the cut."
        elif row.kind == CUT:
            self._committed[f"shoe:{row.of}"] = data["commitment"]
            if data["beacon"] is not None:
                self._chosen[row.of] = data["beacon"]
                if beacon.known().comes_at(data["beacon"]["round"]) <= row.at:
                    number = data["beacon"]["round"]
                    yield f"shoe:{row.of}: round {number} of the beacon already existed when it was chosen."
        elif row.kind == PUBLISHED:
            yield from _published(row.of, data, self._shoes.pop(row.of, None))
        elif "shoe" in data:
            yield from _from_shoe(row.of, data, self._shoes.get(data["shoe"]))
        elif "dealer" in data:
            yield from self._settled(row)

    def _settled(self, row: "_Event") -> Iterator[str]:
        """Verify a solo round: its commitment, the signature of its deal, the deal itself and its wagers."""
        round_id, data = row.of, row.data
        before = self._committed.pop(round_id, None)
        if before is None:
            yield f"round {round_id}: the log has no commitment before it."
        elif before != data["commitment"]:
            yield f"round {round_id}: the log has a different commitment before it."
        if (signature := signature_of(round_id, data["decks"], data)) != VALID:
            yield f"round {round_id}: signature of the dealer: {signature}."
        said = data["dealer"]
        epoch = self._epochs.setdefault(said["epoch"], _Epoch())
        if not epoch.add(said["deal"], is_late=row.at < self._settled_until):
            yield f"round {round_id}: deal {said['deal']} of epoch {said['epoch']} is in the log twice."
        self._committed[data["next"]["round"]] = data["next"]["commitment"]
        yield from _redealt(round_id, data)


@dataclass(frozen=True)
class _Event:
    """An event about a deal, on the round or shoe with the id *of*."""

    number: int
    at: datetime
    kind: str
    of: str
    data: dict[str, Any]

    @property
    def subject(self) -> str:
        return "round" if self.kind in (SETTLED, COMMITTED) else "shoe"


def _before(subjects: set[str], kinds: Sequence[str], number: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield kind, id and data of events on these subjects with a number below *number*, in order."""
    if not subjects:
        return
    with connection.cursor() as cursor:
        cursor.execute(BEFORE, [list(subjects), list(kinds), number])
        rows = cursor.fetchall()
    for kind, on, body in rows:
        yield kind, on.partition(":")[2], json.loads(bytes(body))["data"]


def _redealt(round_id: str, data: dict[str, Any]) -> Iterator[str]:
    """Deal a solo round again from the seed in its event and settle its stakes by the rules that are installed."""
    seed = bytes.fromhex(data["seed"])
    binding = Binding(Purpose.SOLO, round_id, data["table"], data["decks"], data["rules"])
    if binding.commitment(seed) != data["commitment"]:
        yield f"round {round_id}: its seed is not the one committed to."
        return
    coup = deal(shuffle(seed, data["decks"], data["player_value"]))
    cards = " ".join(card.code for card in coup.cards)
    if (cards, str(coup.outcome)) != (data["cards"], data["outcome"]):
        said = f"the log says {data['cards']}, {data['outcome']}"
        yield f"round {round_id}: its seed deals {cards}, {coup.outcome}; {said}."
        return
    game = games_by_digest().get(data["rules"])
    if game is None:
        return
    try:
        settlement = settle(game, coup, {each["bet"]: each["stake"] for each in data["wagers"]})
    except SettlementError as error:
        yield f"round {round_id}: the rules do not allow its bets: {type(error).__name__}."
        return
    due = {line.bet: (line.payout, line.commission, str(line.result)) for line in settlement.lines}
    for each in data["wagers"]:
        settled = (each["payout"], each["commission"], each["result"])
        if settled != due[each["bet"]]:
            yield f"round {round_id}: bet {each['bet']}: the log says {settled}, the rules give {due[each['bet']]}."


def games_by_digest() -> Mapping[str, Variant]:
    """Return the games that are installed, by the digest of their rules."""
    return {game.digest: game for game in VARIANTS.values()}


def _of_beacon(on: str, data: dict[str, Any], chosen: dict[str, Any] | None) -> Iterator[str]:
    """Verify the round of a beacon that went into a shoe. *chosen*: the one that was in the log before it was cut."""
    said, lines = data["beacon"], [line for line in data["chances"] if beacon.is_beacon(line)]
    if {name: said[name] for name in ("chain", "round")} != chosen if said else chosen is not None:
        yield f"{on}: the round of the beacon is not the one that was chosen before."
    if said is None or not said["signature"]:
        if lines:
            yield f"{on}: the shuffle used a beacon that was not chosen or did not arrive."
        return
    used = beacon.known()
    if used.chain != said["chain"]:
        yield f"{on}: its beacon is not verified: BEACON_CHAIN names a different one."
    elif not used.verifies(said["round"], said["signature"]):
        yield f"{on}: round {said['round']} of the beacon has a different signature."
    elif lines != [used.line(said["round"], said["signature"])]:
        yield f"{on}: the shuffle did not use this round of the beacon."


def _from_shoe(round_id: str, data: dict[str, Any], shoe: dict[str, Any] | None) -> Iterator[str]:
    """Verify a round from a shoe, and count its cards."""
    if shoe is None:
        yield f"round {round_id}: the log has no commitment to its shoe before it."
        return
    if data["commitment"] != shoe["commitment"]:
        yield f"round {round_id}: the log has a different commitment before it."
    if (signature := signature_of_cards(data["shoe"], shoe, data | {"round": round_id})) != VALID:
        yield f"round {round_id}: signature of the dealer: {signature}."
    if data["first_card"] != shoe["gone"]:
        yield f"round {round_id}: begins with card {data['first_card']} of its shoe, not {shoe['gone']}."
    _take(shoe, data)


def _take(shoe: dict[str, Any], data: dict[str, Any]) -> None:
    """Count the cards of a round as gone from its shoe."""
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
            yield f"shoe {shoe_id}: its seed gives different cards from card {first} on."
