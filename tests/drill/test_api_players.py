"""API clients without an answer send the same call again under the same key, and record the final answer."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.drill import simulated_players
from tests.drill.api_players import ApiPlayer
from tests.drill.bettors import Slip
from tests.drill.records import Record
from tests.drill.simulated_players import Unserved


class Answers(ThreadingHTTPServer):
    """Answers with the given statuses; 0 closes the connection without an answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses: list[int] = []
        self.told: dict[str, Any] = {}
        self.keys: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Answers

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.keys.append(self.headers["Idempotency-Key"])
        status = self.server.statuses.pop(0)
        if not status:
            self.close_connection = True
            return
        body = json.dumps(self.server.told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if len(self.server.keys) > 1:
            self.send_header("Idempotency-Replayed", "true")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Answers]:
    server = Answers()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def program(server) -> ApiPlayer:
    return ApiPlayer(Record("Ada", 0), "any", f"http://127.0.0.1:{server.server_port}", "sabot_any")


@pytest.mark.sweep
def test_a_call_is_sent_under_its_key_until_it_is_answered(program, server):
    server.statuses, server.told = [0, 500, 429, 200], {"taken": 1}
    assert program.write("rounds/", {"bets": {}}) == {"taken": 1}
    assert len(server.keys) == 4
    assert len(set(server.keys)) == 1
    assert (program.done["taken"], program.done["was done, and the answer lost"]) == (1, 1)
    assert len(program.served) == 1


def test_a_refusal_is_an_answer_and_the_next_call_has_a_key_of_its_own(program, server):
    server.statuses, server.told = [409, 409], {"code": "too-late"}
    assert [program.write("bets/", {}) for _ in range(2)] == [None, None]
    assert len(set(server.keys)) == 2
    assert program.done["too-late"] == 2


@pytest.mark.sweep
def test_who_is_not_answered_for_too_long_says_so(program, server, monkeypatch):
    monkeypatch.setattr(simulated_players, "PATIENCE", 0.0)
    server.statuses = [500]
    with pytest.raises(Unserved, match="rounds/: 500"):
        program.write("rounds/", {})


@pytest.mark.sweep
def test_what_goes_wrong_for_somebody_is_a_fault_of_the_drill(program, server, monkeypatch):
    def play() -> None:
        raise KeyError("what nobody foresaw")

    monkeypatch.setattr(program, "play", play)
    program.run()
    assert len(program.faults) == 1
    assert "what nobody foresaw" in program.faults[0]


def test_a_slip_is_what_was_clicked_with_what_was_taken_back():
    slip = Slip().after("bet:player", 100).after("bet:player", 50).after("bet:tie", 10)
    assert dict(slip.stakes) == {"player": 150, "tie": 10}
    assert dict(slip.after("undo", 0).after("undo", 0).stakes) == {"player": 100}
    assert dict(slip.after("clear", 0).after("undo", 0).stakes) == {"player": 150, "tie": 10}
