"""A player with a browser at a shared table: `python -m bench.betting_player PERSON PORT`, where PERSON is JSON of
`bench.people`.

Logs in and clicks as htmx does: a chip, and then Undo, so that the table never fills up. Either is a bet confirmed by
the server, with money held or given back, and a fragment of the page as the answer.
"""

import json
import sys
from itertools import cycle

from bench.playing import play_when_told
from bench.visitor import Refused, Visitor

TABLE = "/en/table/live-baccarat-2-nc/real/"
CLICK = TABLE + "bet/"
CHIP = 5000


class BettingPlayer(Visitor):
    """Someone who bets on a round whose betting goes on and on."""

    def __init__(self, port: int, email: str, password: str) -> None:
        super().__init__(port, email, password)
        self.ask("GET", TABLE)
        self._next = cycle((("bet:player", "spot__stake"), ("undo", "")))

    def bet(self) -> None:
        """One click. Raises Refused where the answer is not the bet as it was confirmed."""
        action, shown = next(self._next)
        answer = self.ask("POST", CLICK, {"action": action, "chip": str(CHIP)}, htmx=True)
        if "call__notice--error" in answer or shown not in answer:
            raise Refused(f"{action} was not confirmed: {answer[:2000]}")


def main() -> None:
    """Log in, sit down and bet."""
    person = json.loads(sys.argv[1])
    player = BettingPlayer(int(sys.argv[2]), person["email"], person["password"])
    play_when_told(player.bet, player.sit_down)


if __name__ == "__main__":
    main()
