"""Request buffering: only complete requests get a thread, and only the proxy may set proxy
headers.
"""

import asyncio
import socket
from http.client import HTTPConnection
from typing import Any

import pytest

from ops.http.request_buffer import Allowance, Door
from tests.harness.apart import run_apart
from wallet.provider_statements.parser import MOST_BYTES

LARGEST = 1000
FORM = b"key=1&amount=5000"
WIDE = "/en/wide/"  # larger requests are allowed here
TOLD = "/told/"  # refusals have a reason below this path


def ask(
    *messages: dict[str, Any],
    headers: list[tuple[bytes, bytes]] | None = None,
    seconds: float = 5.0,
    path: str = "/",
    said: list[Any] | None = None,
):
    """Send a request in parts.

    Return what passed, and the status of a refusal.

    Nothing is sent after the last part.
    """
    inside: list[tuple[dict[str, Any], bytes]] = []
    refusals: list[int] = []
    said = [] if said is None else said
    parts = list(messages)

    async def receive():
        if not parts:
            await asyncio.Event().wait()
        return parts.pop(0)

    async def send(message):
        if message["type"] == "http.response.start":
            refusals.append(message["status"])
            said.append(dict(message["headers"]).get(b"content-type"))
        else:
            said.append(message["body"])

    async def application(scope, receive, send):
        inside.append((scope, (await receive())["body"]))

    wide = Allowance(10 * LARGEST, seconds=5.0, instead=f"{WIDE}?too-much=1")
    told = Allowance(LARGEST, seconds, words=lambda scope, status: ("text/why", f"{status.value}".encode()))
    door = Door(application, ordinary=Allowance(LARGEST, seconds), at={WIDE: wide}, below={TOLD: told})
    run_apart(door({"type": "http", "path": path, "headers": headers or []}, receive, send))
    return inside, refusals


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


GONE = {"type": "http.disconnect"}


def test_a_form_in_parts_comes_in_whole():
    inside, refusals = ask(part(FORM[:5], more=True), part(FORM[5:9], more=True), part(FORM[9:]))
    assert ([body for _, body in inside], refusals) == ([FORM], [])


def test_half_a_form_is_no_form():
    inside, refusals = ask(part(FORM[:-1], more=True), GONE)
    assert (inside, refusals) == ([], [])


@pytest.mark.parametrize("sizes", [[LARGEST + 1], [LARGEST, 1]])
def test_more_than_any_form_has_is_not_read_to_its_end(sizes):
    inside, refusals = ask(*(part(b"x" * size, more=True) for size in sizes))
    assert (inside, refusals) == ([], [413])


def test_a_sender_who_never_ends_is_sent_away():
    inside, refusals = ask(part(FORM, more=True), seconds=0.01)
    assert (inside, refusals) == ([], [408])


def test_more_may_be_sent_where_files_are():
    inside, refusals = ask(*(part(b"x" * LARGEST, more=left > 0) for left in range(9, -1, -1)), path=WIDE)
    assert ([len(body) for _, body in inside], refusals) == ([10 * LARGEST], [])
    assert ask(part(b"x" * (LARGEST + 1)), path=f"{WIDE}else/")[1] == [413]


def test_who_sends_too_much_there_is_heard_to_the_end_and_led_on():
    inside, refusals = ask(*(part(b"x" * LARGEST, more=left > 0) for left in range(20, -1, -1)), path=WIDE)
    assert (inside, refusals) == ([], [303])
    assert ask(*(part(b"x" * LARGEST, more=True) for _ in range(11)), GONE, path=WIDE) == ([], [])


def test_a_program_that_sends_too_much_is_heard_to_the_end_and_told_why():
    said: list[Any] = []
    parts = [part(b"x" * LARGEST, more=left > 0) for left in range(3, -1, -1)]
    assert ask(*parts, path=f"{TOLD}x/", said=said) == ([], [413])
    assert said == [b"text/why", b"413"]


def test_a_program_that_never_ends_is_told_why():
    said: list[Any] = []
    assert ask(part(FORM, more=True), seconds=0.01, path=f"{TOLD}x/", said=said) == ([], [408])
    assert said == [b"text/why", b"408"]


def test_what_came_in_pieces_is_as_long_as_it_is():
    inside, _ = ask(part(FORM[:5], more=True), part(FORM[5:]))
    assert inside[0][0]["headers"] == [(b"content-length", str(len(FORM)).encode())]
    assert ask(part(b""))[0][0][0]["headers"] == []


def test_nobody_but_the_proxy_speaks_for_the_proxy():
    real = (b"x-forwarded-for", b"198.51.100.7")
    inside, _ = ask(part(b""), headers=[real, (b"x_forwarded_for", b"203.0.113.9"), (b"x_forwarded_proto", b"https")])
    assert inside[0][0]["headers"] == [real]


def test_a_statement_of_a_provider_gets_in_up_to_the_size_that_its_page_says(start_server):
    server = start_server()
    answers = {}
    for size in (MOST_BYTES, MOST_BYTES + 200_000):
        sender = HTTPConnection("127.0.0.1", server.port, timeout=60)
        sender.request("POST", "/staff/statements/upload/", b"x" * size, {"Content-Type": "text/plain"})
        answer = sender.getresponse()
        answers[size] = answer.status, answer.getheader("Location")
        sender.close()
    (inside, led), outside = answers.values()
    assert (inside, (led or "").partition("?")[0]) == (302, "/en/account/login/")
    assert outside == (303, "/staff/statements/?too-much=1")


def test_slow_senders_keep_nobody_else_waiting(start_server):
    server = start_server(environment={"WEB_THREADS": "2"})
    begun = (
        b"POST /en/account/login/ HTTP/1.1\r\nHost: localhost\r\nCookie: csrftoken=" + b"a" * 32 + b"\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\na"
    )
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(4)]
    try:
        for sender in slow:
            sender.sendall(begun)
        quick = HTTPConnection("127.0.0.1", server.port, timeout=10)
        quick.request("GET", "/healthz")
        assert quick.getresponse().status == 200
        quick.close()
    finally:
        for sender in slow:
            sender.close()
