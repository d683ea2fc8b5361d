"""A program that plays through the API: `python -m bench.api_player PERSON PORT`, where PERSON is JSON of
`bench.people`. It plays a whole round in each call, as the last answer said it comes next.
"""

import json
import sys
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any
from uuid import uuid4

from bench.playing import play_when_told
from bench.visitor import ADDRESS, PATIENCE, Refused

TABLE = "/api/v1/tables/baccarat/real/"
BETS = {"player": 1000}


class ApiPlayer:
    """Somebody's program at the table, which plays the same bet again and again."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = HTTPConnection(ADDRESS, port, timeout=PATIENCE)
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "X-Forwarded-Proto": "https",  # as the proxy in front of a production house says
        }
        self._place = self._ask("place/", {})
        self.play()

    def sit_down(self) -> None:
        """Connect anew, once for a whole run: the server has closed a connection that was idle for seconds."""
        self._connection.close()
        self._connection.connect()

    def play(self) -> None:
        """One round. Raises Refused where the answer is not a round freshly dealt."""
        told = {name: self._place[name] for name in ("round_id", "table_version")}
        played = self._ask("rounds/", told | {"bets": BETS})
        if played["repeated"]:
            raise Refused("nothing was dealt")
        self._place = played["place"]

    def _ask(self, path: str, body: Any) -> Any:
        headers = self._headers | {"Idempotency-Key": str(uuid4())}
        self._connection.request("POST", TABLE + path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != HTTPStatus.OK:
            raise Refused(f"{path} was answered {answer.status}: {text[:2000]!r}")
        return json.loads(text)


def main() -> None:
    """Sit down and play."""
    person = json.loads(sys.argv[1])
    player = ApiPlayer(int(sys.argv[2]), person["token"])
    play_when_told(player.play, player.sit_down)


if __name__ == "__main__":
    main()
