"""A player with a browser: `python -m bench.http_player PERSON PORT`, where PERSON is JSON of `bench.people`.

Logs in and clicks REBET & DEAL as htmx does, with a fragment of the page as the answer, from which comes what the next
click sends.
"""

import json
import sys

from bench.playing import play_when_told
from bench.visitor import Refused, Visitor

TABLE = "/en/table/baccarat/real/"
PLAY = TABLE + "play/"
BET, CHIP = "player", 1000


class HttpPlayer(Visitor):
    """Someone at the table who deals the same bet again and again."""

    def __init__(self, port: int, email: str, password: str) -> None:
        super().__init__(port, email, password)
        self.ask("GET", TABLE)
        self._click(f"bet:{BET}")
        self._click("deal")

    def play(self) -> None:
        """One round. Raises Refused where the answer is not a round freshly dealt."""
        if "game--fresh" not in self._click("rebet_deal"):
            raise Refused("nothing was dealt")

    def _click(self, action: str) -> str:
        return self.ask("POST", PLAY, {"action": action, "chip": str(CHIP)}, htmx=True)


def main() -> None:
    """Log in, sit down and play."""
    person = json.loads(sys.argv[1])
    player = HttpPlayer(int(sys.argv[2]), person["email"], person["password"])
    play_when_told(player.play, player.sit_down)


if __name__ == "__main__":
    main()
