"""Players who bet over HTTP on the page of a shared table during the drill, and record the answers.

A click that was answered is on the table or was refused. If the answer was lost, both slips are
possible from then on.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException

from tests.drill.records import Record
from tests.drill.simulated_players import SimulatedPlayer
from tests.harness.visitor import Visitor

PACE = 0.5  # seconds between two clicks of a player, about: slow enough for the rate limits
PATIENCE = 0.7  # seconds until the next one, about, after a click that was not confirmed: most are too late
BETS = ("player", "banker", "tie")
OTHERS = ("undo", "clear")
REFUSED = re.compile(r"call__notice--error[^>]*><p>([^<]*)")
ROUND = re.compile(r'name="round_id" value="([0-9a-f-]{36})"')

Stakes = frozenset[tuple[str, int]]  # (bet, minor units)


@dataclass(frozen=True)
class Slip:
    """The possible stakes on a round, and the earlier ones, latest last."""

    stakes: Stakes = frozenset()
    earlier: tuple[Stakes, ...] = ()

    def after(self, action: str, chip: int) -> "Slip":
        """Return the slip after a click."""
        if action == "undo":
            return Slip(self.earlier[-1], self.earlier[:-1]) if self.earlier else self
        if action == "clear":
            return Slip(frozenset(), (*self.earlier, self.stakes)) if self.stakes else self
        stakes, bet = dict(self.stakes), action.removeprefix("bet:")
        stakes[bet] = stakes.get(bet, 0) + chip
        return Slip(frozenset(stakes.items()), (*self.earlier, self.stakes))


class Bettor(SimulatedPlayer):
    """Clicks on the round that the page shows, and on the next one once an answer shows that."""

    CONFIRMED = "confirmed"

    def __init__(self, record: Record, seed: str, visitor: Visitor, page: str, chips: list[int]) -> None:
        super().__init__(record, seed)
        self._visitor, self._page, self._chips = visitor, page, chips
        self._round = self._why = ""  # the round that is clicked on; in what words the last click was refused
        self._possible: dict[str, set[Slip]] = {}

    def play(self) -> None:
        """Click."""
        self.pause(PACE if self._click() else PATIENCE)

    def _click(self) -> bool:
        """Change the slip at random; return whether that was confirmed."""
        if not self._round:
            self._read(lambda: self._visitor.get(self._page))
            return False
        round_id = self._round
        is_chip = self.chance.random() < 0.85
        action = f"bet:{self.chance.choice(BETS)}" if is_chip else self.chance.choice(OTHERS)
        chip = self.chance.choice(self._chips)
        form: dict[str, object] = {"action": action, "chip": chip, "round_id": round_id, "table_version": 1}
        possible = self._possible.setdefault(round_id, {Slip()})
        changed = {slip.after(action, chip) for slip in possible}
        # Recorded before it is sent: a reader of the record must in the meantime find both slips.
        self._remember(round_id, possible | changed)
        answer = self._read(lambda: self._visitor.post(f"{self._page}bet/", form))
        self.done[self._why or answer] += 1
        if answer == "confirmed":
            self._remember(round_id, changed)
        elif answer == "refused":
            self._remember(round_id, possible)
        return answer == "confirmed"

    def _remember(self, round_id: str, slips: set[Slip]) -> None:
        self._possible[round_id] = slips
        self.record.bets[round_id] = tuple(dict(slip.stakes) for slip in slips)

    def _read(self, asked: Callable[[], tuple[int, str]]) -> str:
        """Return the kind of the answer: with anything but "confirmed" and "refused" the result is unknown."""
        self._why = ""
        try:
            status, text = asked()
        except (OSError, HTTPException) as error:
            return type(error).__name__
        if status != HTTPStatus.OK or 'id="live-own"' not in text:
            return str(status)
        if found := ROUND.search(text):
            self._round = found[1]
        refused = REFUSED.search(text)
        self._why = f"refused: {refused[1]}" if refused else ""
        return "refused" if refused else "confirmed"
