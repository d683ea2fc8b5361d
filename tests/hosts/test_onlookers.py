"""The criteria for service and continued play, against servers that only seem to work."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.hosts.onlookers import Bettor, Unanswered, Viewer
from tests.start.support import wait_until

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
RETRY, BEAT = b"retry: 3000\n\n", b"event: beat\ndata: \n\n"
ROUNDS = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
TAKEN, REFUSED = '<div id="live-own"></div>', '<div id="live-own"><p class="call__notice--error">Too late.</p></div>'


def chunk(said: bytes) -> bytes:
    return f"{len(said):x}\r\n".encode() + said + b"\r\n"


def public(number: int, round_id: str) -> bytes:
    return f'event: public\nid: 7-{number}\ndata: <div id="live-public" data-round="{round_id}">\n\n'.encode()


class Streams:
    """Says the same to everybody who opens a stream, and keeps the line open."""

    def __init__(self, said: bytes) -> None:
        self._said = said
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.lines: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            line.recv(65536)
            line.sendall(self._said)
            self.lines.append(line)

    def close(self) -> None:
        self._listening.close()
        for line in self.lines:
            line.close()


@pytest.fixture
def watch() -> Iterator[Callable[[bytes], tuple[Viewer, Streams]]]:
    """Have somebody watch a stream that says this."""
    all_of_them: list[tuple[Viewer, Streams]] = []

    def begin(said: bytes) -> tuple[Viewer, Streams]:
        streams = Streams(said)
        viewer = Viewer(streams.url, lambda: "/live/")
        viewer.start()
        all_of_them.append((viewer, streams))
        wait_until(lambda: streams.lines and viewer.read == len(said), "nobody came")
        return viewer, streams

    yield begin
    for viewer, streams in all_of_them:
        viewer.go_home()
        streams.close()


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\n\r\n" + chunk(public(1, ROUNDS[0])),
        CHUNKED + chunk(RETRY),
        CHUNKED + chunk(RETRY) + chunk(BEAT) + chunk(BEAT),
    ],
    ids=["a refusal", "how soon to come back", "signs of life"],
)
def test_an_event_that_does_not_mention_the_table_is_ignored(watch, said):
    viewer, _ = watch(said)
    viewer.go_home()
    assert (viewer.heard, viewer.rounds, viewer.opened) == (0.0, {}, [])


def test_the_table_in_a_round_is_reported_once_and_another_round_once_more(watch):
    viewer, streams = watch(CHUNKED + chunk(RETRY) + chunk(public(1, ROUNDS[0])))
    wait_until(lambda: viewer.rounds, "the round is shown")
    heard = viewer.heard
    (line,) = streams.lines
    line.sendall(chunk(BEAT))
    line.sendall(chunk(public(2, ROUNDS[1])))
    wait_until(lambda: len(viewer.rounds) == 2, "the next one is shown")
    assert viewer.heard > heard
    assert len(viewer.opened) == 1


def test_a_stream_that_ends_is_opened_again(watch):
    viewer, streams = watch(CHUNKED + chunk(public(1, ROUNDS[0])))
    wait_until(lambda: viewer.opened, "the first is open")
    streams.lines[0].close()
    wait_until(lambda: len(viewer.opened) > 1, "another one is open")
    assert viewer.opened[1] > viewer.opened[0]


class Answers:
    """Gives prepared answers to clicks."""

    def __init__(self, *answers: tuple[int, str] | OSError) -> None:
        self._answers = [*answers]

    def post(self, _page: str, _form: dict[str, object]) -> tuple[int, str]:
        answer = self._answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer


def a_bettor(*answers: Any) -> Bettor:
    visitor: Any = Answers(*answers)
    return Bettor(1, visitor, "/bet/", {"chip": 100}, lambda: ROUNDS[0])


def test_a_refusal_is_an_answer_and_takes_nothing():
    bettor = a_bettor((200, REFUSED), (200, TAKEN))
    bettor.click()
    assert (bettor.taken.total(), bettor.doubtful.total(), bettor.refused) == (0, 0, 1)
    bettor.click()
    assert bettor.taken == {ROUNDS[0]: 1}


@pytest.mark.parametrize("answer", [(500, TAKEN), (200, "log in"), OSError("cut")])
def test_a_failed_answer_leaves_open_whether_the_chip_is_on_the_table(answer):
    bettor = a_bettor(answer)
    with pytest.raises((Unanswered, OSError)):
        bettor.click()
    assert (bettor.taken.total(), bettor.doubtful) == (0, {ROUNDS[0]: 1})
