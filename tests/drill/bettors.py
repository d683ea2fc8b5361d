"""Players who bet over HTTP while programs die, and remember what they were told.

A click that was answered is on the table, or was refused. Of one whose answer was lost nobody knows: from then on there
are two slips that may lie there, until the round's end shows which it was.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from random import Random
from uuid import UUID

from tests.harness.visitor import Visitor

PACE = 0.3  # seconds between two clicks of a player, about: a person's, so that nobody is told to slow down
PATIENCE = 1.0  # seconds until the next one, about, after a click that was not confirmed: most are too late
BETS = ("player", "banker", "tie")
OTHERS = ("undo", "clear")
REFUSED = "call__notice--error"

Stakes = frozenset[tuple[str, int]]  # (bet, minor units)


@dataclass(frozen=True)
class Slip:
    """What may lie on a round, and what lay there before, latest last."""

    stakes: Stakes = frozenset()
    earlier: tuple[Stakes, ...] = ()

    def after(self, action: str, chip: int) -> "Slip":
        """What lies there after a click."""
        if action == "undo":
            return Slip(self.earlier[-1], self.earlier[:-1]) if self.earlier else self
        if action == "clear":
            return Slip(frozenset(), (*self.earlier, self.stakes)) if self.stakes else self
        stakes, bet = dict(self.stakes), action.removeprefix("bet:")
        stakes[bet] = stakes.get(bet, 0) + chip
        return Slip(frozenset(stakes.items()), (*self.earlier, self.stakes))


@dataclass
class Told:
    """What a player was told of a round."""

    possible: set[Slip] = field(default_factory=lambda: {Slip()})
    confirmed: int = 0
    lost: int = 0

    def stakes(self) -> list[Mapping[str, int]]:
        """Everything that may lie there."""
        return [dict(slip.stakes) for slip in self.possible]


class Bettor(threading.Thread):
    """Clicks for as long as there is a round to bet on; then waits for the next."""

    def __init__(self, visitor: Visitor, player_id: int, address: str, chips: list[int], seed: str) -> None:
        super().__init__(daemon=True)
        self.player_id = player_id
        self.told: dict[UUID, Told] = {}
        self.answers: dict[str, int] = {}
        self._visitor, self._address, self._chips = visitor, address, chips
        self._chance = Random(seed)
        self._round: UUID | None = None
        self._changed = threading.Condition()
        self._is_clicking = False
        self._closed = False

    def bet_on(self, round_id: UUID | None) -> None:
        """Begin to bet on a round; with None, leave off once the last click is answered."""
        with self._changed:
            self._round = round_id
            self._changed.notify_all()
            if round_id is None:
                self._changed.wait_for(lambda: not self._is_clicking)

    def close(self) -> None:
        """Go home."""
        self.bet_on(None)
        self._closed = True

    def run(self) -> None:
        """Click until told to go home."""
        while not self._closed:
            with self._changed:
                round_id, self._is_clicking = self._round, self._round is not None
            pause = PACE if round_id and self._click(round_id) else PATIENCE
            with self._changed:
                self._is_clicking = False
                self._changed.notify_all()
                self._changed.wait_for(partial(self._has_left, round_id), pause * self._chance.uniform(0.5, 1.5))

    def _has_left(self, round_id: UUID | None) -> bool:
        return self._round != round_id

    def _click(self, round_id: UUID) -> bool:
        """Change the slip somehow; say whether that was confirmed."""
        told = self.told.setdefault(round_id, Told())
        is_chip = self._chance.random() < 0.85
        action = f"bet:{self._chance.choice(BETS)}" if is_chip else self._chance.choice(OTHERS)
        chip = self._chance.choice(self._chips)
        form: dict[str, object] = {"action": action, "chip": chip, "round_id": round_id, "table_version": 1}
        changed = {slip.after(action, chip) for slip in told.possible}
        answer = self._answer(form)
        self.answers[answer] = self.answers.get(answer, 0) + 1
        if answer == "confirmed":
            told.possible = changed
            told.confirmed += 1
        elif answer != "refused":
            told.possible |= changed
            told.lost += 1
        return answer == "confirmed"

    def _answer(self, form: dict[str, object]) -> str:
        """Say how a click was answered: anything but "confirmed" and "refused" leaves open what became of it."""
        try:
            status, text = self._visitor.post(self._address, form)
        except (OSError, HTTPException) as error:
            return type(error).__name__
        if status != HTTPStatus.OK or 'id="live-own"' not in text:
            return str(status)
        return "refused" if REFUSED in text else "confirmed"
