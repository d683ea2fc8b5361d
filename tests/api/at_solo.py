"""An API client at a solo table, for tests."""

from typing import Any

from games.models import Table
from tests.api.client import ApiClient

Answer = dict[str, Any]


class AtTable:
    """An API client at a solo table, and the last state of its seat that it received."""

    def __init__(self, api_client: ApiClient, table: Table, mode: str = "real") -> None:
        self.api_client, self.base = api_client, f"tables/{table.slug}/{mode}/"
        self.solo_seat: Answer = {}

    def open(self) -> Any:
        """Open the place."""
        return self._kept(self.api_client.post(self.base + "solo-seat/"))

    def chip(self, bet: str = "player", chip: int = 5000, **more: Any) -> Any:
        """Put a chip on a bet."""
        return self._kept(self.send("solo-seat/chips/", {"bet": bet, "chip": chip} | more))

    def change(self, change: str, **more: Any) -> Any:
        """Change the slip."""
        return self._kept(self.send("solo-seat/changes/", {"change": change} | more))

    def deal(self, *, key: str | None = None, **more: Any) -> Any:
        """Deal the last slip that it received."""
        said = {name: self.solo_seat.get(name) for name in ("round_id", "slip_version")} | more
        return self._kept(self.send("solo-seat/deal/", said, key=key))

    def play(self, bets: dict[str, int], *, key: str | None = None, **more: Any) -> Any:
        """Play a whole round."""
        return self._kept(
            self.send("rounds/", {"round_id": self.solo_seat.get("round_id"), "bets": bets} | more, key=key)
        )

    def send(self, rest: str, body: Answer, *, key: str | None = None) -> Any:
        """Send a request to the table, with the last table version received unless *body* has another one."""
        version = {"table_version": self.solo_seat.get("table_version", 1)}
        return self.api_client.post(self.base + rest, version | body, key=key)

    def _kept(self, answer: Any) -> Any:
        if answer.status_code == 200:
            answered = answer.json()
            self.solo_seat = answered.get("solo_seat", answered)
        return answer


def answered(answer: Any) -> Any:
    """Return the body of a successful answer."""
    assert answer.status_code == 200, answer.content
    return answer.json()


def refused(answer: Any, status: int, code: str) -> Answer:
    """Return the problem of an answer."""
    problem = answer.json()
    assert (answer.status_code, problem.get("code")) == (status, code), problem
    assert answer["Content-Type"] == "application/problem+json"
    assert problem["status"] == status
    return dict(problem)
