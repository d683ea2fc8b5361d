"""A player with a browser: `python -m bench.http_player PERSON PORT`, where PERSON is JSON of `bench.people`.

Logs in, keeps the connection open, and clicks REBET & DEAL as htmx does: the session's cookie, the token against forged
requests, and a fragment of the page as the answer, from which comes what the next click sends.
"""

import json
import re
import sys
from http import HTTPStatus
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from bench.playing import play_when_told

ADDRESS = "127.0.0.1"
PATIENCE = 60.0
LOG_IN = "/en/account/login/"
TABLE = "/en/table/baccarat/real/"
PLAY = TABLE + "play/"
BET, CHIP = "player", 1000

_FIELD = re.compile(r'name="(csrfmiddlewaretoken|round_id|slip_version|table_version)" value="([^"]*)"')


class Refused(Exception):
    """The house did not answer as it does to a player."""


class HttpPlayer:
    """Someone at the table who deals the same bet again and again."""

    def __init__(self, port: int, email: str, password: str) -> None:
        self._connection = HTTPConnection(ADDRESS, port, timeout=PATIENCE)
        self._cookies: dict[str, str] = {}
        self._fields: dict[str, str] = {}
        # The proxy in front of a production house says that the visitor came by HTTPS.
        self._headers = {"X-Forwarded-Proto": "https", "Origin": f"https://{ADDRESS}:{port}"}
        self._ask("GET", LOG_IN)
        self._ask("POST", LOG_IN, {"login": email, "password": password}, expected=HTTPStatus.FOUND)
        self._ask("GET", TABLE)
        self._click(f"bet:{BET}")
        self._click("deal")

    def sit_down(self) -> None:
        """Connect anew, once for a whole run: the server has closed a connection that was idle for seconds."""
        self._connection.close()
        self._connection.connect()

    def play(self) -> None:
        """One round. Raises Refused where the answer is not a round freshly dealt."""
        if "game--fresh" not in self._click("rebet_deal"):
            raise Refused("nothing was dealt")

    def _click(self, action: str) -> str:
        return self._ask("POST", PLAY, {"action": action, "chip": str(CHIP)}, htmx=True)

    def _ask(
        self,
        method: str,
        path: str,
        form: dict[str, str] | None = None,
        *,
        htmx: bool = False,
        expected: HTTPStatus = HTTPStatus.OK,
    ) -> str:
        headers = self._headers | {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(self._fields | form)
        if htmx:
            headers["HX-Request"] = "true"
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status != expected:
            raise Refused(f"{method} {path} was answered {answer.status}: {text[:2000]}")
        for cookie in answer.headers.get_all("Set-Cookie", ()):
            self._cookies.update({name: morsel.value for name, morsel in SimpleCookie(cookie).items()})
        self._fields |= dict(_FIELD.findall(text))
        return text


def main() -> None:
    """Log in, sit down and play."""
    person = json.loads(sys.argv[1])
    player = HttpPlayer(int(sys.argv[2]), person["email"], person["password"])
    play_when_told(player.play, player.sit_down)


if __name__ == "__main__":
    main()
