"""Request bodies: only complete ones get a thread, and nobody can make the process hold much."""

import asyncio
import re
import socket
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import psutil
import pytest
from django.conf import settings

from ops.http.bodies import Allowance, Bodies, Limits, Refused
from ops.http.pages import Pages
from tests.builders import a_player
from tests.harness.apart import run_apart
from tests.harness.visitor import Visitor
from tests.people import a_member_of_staff
from wallet import exchange_rates
from wallet.provider_statements.parser import MOST_BYTES

LARGEST = 1000
SMALL = 100
FORM = b"key=1&amount=5000"
WIDE = "/en/wide/"  # larger requests are allowed here
ADA = b"ada"  # somebody who has logged in
GONE = {"type": "http.disconnect"}
MEGABYTE = 1_000_000


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


async def sender_of(scope: Any) -> str:
    """The cookie is the session."""
    return dict(scope["headers"]).get(b"cookie", b"").decode()


class Door:
    """Pages behind limits, and what came of each request."""

    def __init__(self, **limits: Any) -> None:
        self.bodies = Bodies(
            sender_of,
            ordinary=Allowance(LARGEST),
            at={WIDE: Allowance(10 * LARGEST, instead=f"{WIDE}?too-much=1")},
            limits=Limits(**{"small": SMALL, **limits}),
        )
        self.inside: list[tuple[dict[str, Any], bytes]] = []

    async def ask(self, *messages: dict[str, Any], path: str = "/", **headers: bytes) -> int:
        """Send a request in parts, and nothing after the last; return the status, 0 if there was no answer."""
        parts, statuses = list(messages), [0]

        async def receive() -> Any:
            if not parts:
                await asyncio.Event().wait()
            return parts.pop(0)

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        named = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
        named += [(b"x_forwarded_for", b"203.0.113.9"), (b"x_forwarded_proto", b"https")]  # from anybody
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "http_version": "1.1",
            "headers": named,
        }
        pages = Pages(
            self._page, threads=Direct(), bodies=self.bodies, refusal=lambda scope, status: ([], status.phrase.encode())
        )
        await pages(scope, receive, send)
        return statuses[-1]

    def _page(self, environ: Any, start_response: Any) -> list[bytes]:
        self.inside.append((environ, environ["wsgi.input"].read()))
        start_response("200 OK", [])
        return [b"ok"]


class Direct(Executor):
    """An executor that runs the work in the calling thread."""

    def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Any:
        work(*arguments, **named)


def ask(*messages: dict[str, Any], limits: dict[str, Any] | None = None, path: str = "/", **headers: bytes):
    """Send one request; return the bodies that came in, and the status."""
    door = Door(**(limits or {}))
    status = run_apart(door.ask(*messages, path=path, **headers))
    assert (door.bodies.held, len(door.bodies._incomplete), len(door.bodies._large)) == (0, 0, 0)
    return [body for _, body in door.inside], status


def test_a_form_in_parts_comes_in_whole():
    assert ask(part(FORM[:5], more=True), part(FORM[5:9], more=True), part(FORM[9:])) == ([FORM], 200)


def test_half_a_form_is_no_form():
    assert ask(part(FORM[:-1], more=True), GONE) == ([], 0)


@pytest.mark.parametrize("sizes", [[LARGEST + 1], [LARGEST, 1]])
def test_more_than_any_form_has_is_refused_when_its_sender_is_ready_to_hear(sizes):
    parts = [part(b"x" * size, more=True) for size in sizes]
    assert ask(*parts, part(b""), cookie=ADA) == ([], 413)


def test_who_has_not_logged_in_may_send_no_more_than_a_form():
    assert ask(part(b"x" * SMALL)) == ([b"x" * SMALL], 200)
    assert ask(part(b"x" * SMALL, more=True), part(b"x")) == ([], 413)
    assert ask(part(b"x" * (SMALL + 1))) == ([], 413)
    assert ask(part(b"x" * (SMALL + 1)), cookie=ADA) == ([b"x" * (SMALL + 1)], 200)


def test_what_is_announced_as_large_is_not_kept_while_it_comes():
    door = Door()

    async def work() -> int:
        waiting = asyncio.create_task(door.ask(part(b"x", more=True), part(b"x", more=True), content_length=b"101"))
        await asyncio.sleep(0.01)
        held = door.bodies.held
        waiting.cancel()
        return held

    assert run_apart(work()) == 0


def test_a_sender_who_never_ends_is_sent_away():
    assert ask(part(FORM, more=True), limits={"grace": 0.01}) == ([], 408)


def test_a_sender_who_trickles_is_sent_away_and_one_who_is_on_the_way_is_not():
    """One byte at a time is too slow; time comes with what has come."""
    assert ask(*[part(b"x", more=True)] * 50, limits={"grace": 0.02}) == ([], 408)
    whole = [part(b"x" * 500, more=True)] * 5

    async def slowly() -> tuple[int, int]:
        return await drip(Door(grace=0.05, pace=1_000)), await drip(Door(grace=0.05, pace=1_000_000))

    async def drip(door: Door) -> int:
        messages = [*whole, part(b"x" * 500)]

        async def receive() -> Any:
            await asyncio.sleep(0.02)
            return messages.pop(0)

        scope = {"path": WIDE, "headers": [(b"cookie", ADA)]}
        try:
            return (await door.bodies.read(scope, receive)).size
        except Exception:  # noqa: BLE001
            return -1

    assert run_apart(slowly()) == (3000, -1)


def test_more_may_be_sent_where_files_are():
    parts = [part(b"x" * LARGEST, more=left > 0) for left in range(9, -1, -1)]
    assert ask(*parts, path=WIDE, cookie=ADA) == ([b"x" * 10 * LARGEST], 200)
    assert ask(part(b"x" * (LARGEST + 1)), path=f"{WIDE}else/", cookie=ADA) == ([], 413)


def test_who_sends_too_much_there_is_heard_to_the_end_and_led_on():
    parts = [part(b"x" * LARGEST, more=left > 0) for left in range(20, -1, -1)]
    assert ask(*parts, path=WIDE, cookie=ADA) == ([], 303)
    assert ask(*(part(b"x" * LARGEST, more=True) for _ in range(11)), GONE, path=WIDE, cookie=ADA) == ([], 0)


def waiting(door: Door, *cookies: bytes) -> list[int]:
    """Begin large bodies that never end; return the statuses of those that are refused."""

    async def work() -> list[int]:
        begun = [
            asyncio.create_task(door.ask(part(b"x" * 500, more=True), path=WIDE, cookie=cookie)) for cookie in cookies
        ]
        await asyncio.sleep(0.02)
        held = door.bodies.held
        done = [each.result() for each in begun if each.done()]
        for each in begun:
            each.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        assert door.bodies.held == 0
        return [held, *done]

    return run_apart(work())


def test_all_bodies_together_are_limited():
    assert waiting(Door(of_all=1200), b"ada", b"bo", b"cy") == [1000]
    assert both_parts(Door(of_all=1200), b"ada", b"bo", b"cy") == [200, 200, 429]


def both_parts(door: Door, *cookies: bytes) -> list[int]:
    """Send bodies of two parts at the same time."""

    async def work() -> list[int]:
        ends = asyncio.Event()

        async def one(cookie: bytes) -> int:
            messages = [part(b"x" * 500, more=True), part(b"x" * 10)]

            async def receive() -> Any:
                if len(messages) == 1:
                    await ends.wait()
                return messages.pop(0)

            return await answer(door, receive, cookie)

        begun = [asyncio.create_task(one(cookie)) for cookie in cookies]
        await asyncio.sleep(0.02)
        ends.set()
        return await asyncio.gather(*begun)

    return run_apart(work())


async def answer(door: Door, receive: Any, cookie: bytes) -> int:
    """Read a body where files are; return the status that it is answered with."""
    try:
        body = await door.bodies.read({"path": WIDE, "headers": [(b"cookie", cookie)]}, receive)
    except Refused as refused:
        return int(refused.status)
    door.bodies.release(body)
    return 200


def test_one_session_sends_two_large_bodies_at_a_time():
    assert both_parts(Door(), b"ada", b"ada", b"ada", b"bo") == [200, 200, 429, 200]


def test_of_too_many_incomplete_requests_the_oldest_ends():
    async def work() -> list[int]:
        door = Door(incomplete=3)
        begun = [asyncio.create_task(door.ask(part(FORM, more=True))) for _ in range(4)]
        await asyncio.sleep(0.02)
        done = [each.result() for each in begun if each.done()]
        quick = await door.ask(part(FORM))
        for each in begun:
            each.cancel()
        return [*done, quick]

    assert run_apart(work()) == [429, 200]


def test_what_came_in_pieces_is_as_long_as_it_is():
    door = Door()
    run_apart(door.ask(part(FORM[:5], more=True), part(FORM[5:])))
    run_apart(door.ask(part(b"")))
    assert [environ.get("CONTENT_LENGTH") for environ, _ in door.inside] == [str(len(FORM)), None]


def test_nobody_but_the_proxy_speaks_for_the_proxy():
    door = Door()
    run_apart(door.ask(part(b""), x_forwarded_for=b"198.51.100.7"))
    run_apart(door.ask(part(b"")))
    assert [environ.get("HTTP_X_FORWARDED_FOR") for environ, _ in door.inside] == ["198.51.100.7", None]


# --- The real server ---


@contextmanager
def sockets(port: int, number: int) -> Iterator[list[socket.socket]]:
    """Open this many connections."""
    opened = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(number)]
    try:
        yield opened
    finally:
        for each in opened:
            each.close()


def head(length: int, path: str = "/en/account/identity/", *more: str) -> bytes:
    """Return the head of a form of this many bytes."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *more]
    return "\r\n".join([*lines, "Content-Type: application/octet-stream", "", ""]).encode()


def test_forty_unfinished_bodies_of_strangers_cost_no_memory(start_server):
    """They announce whole uploads and send three megabytes each."""
    server = start_server()
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    with sockets(server.port, 40) as senders:
        for sender in senders:
            sender.sendall(head(25 * MEGABYTE))
            for _ in range(3):
                sender.sendall(b"x" * MEGABYTE)
        quick = HTTPConnection("127.0.0.1", server.port, timeout=30)
        quick.request("GET", "/healthz")
        assert quick.getresponse().status == 200
        quick.close()
        assert process.memory_info().rss - before < 30 * MEGABYTE


def test_a_stranger_who_sends_a_file_gets_the_reason_in_the_language_of_the_page(start_server):
    server = start_server()
    shown = {}
    for language in ("en", "sv", "da", "ro", "de"):
        sender = HTTPConnection("127.0.0.1", server.port, timeout=60)
        sender.request("POST", f"/{language}/account/identity/", b"x" * MEGABYTE, {"Content-Type": "text/plain"})
        answer = sender.getresponse()
        shown[language] = re.findall(r"<h1>(.*?)</h1>", answer.read().decode())
        assert (answer.status, answer.getheader("Connection")) == (413, "close")
        assert "nonce-" in str(answer.getheader("Content-Security-Policy"))
        sender.close()
    assert shown["en"] == ["This was too large to accept"]
    assert len({*map(tuple, shown.values())}) == 5


def test_who_has_logged_in_sends_files_up_to_the_size_that_the_page_says(start_server):
    server = start_server()
    player, staff = Visitor(server.url, a_player().user), Visitor(server.url, a_member_of_staff().user)
    player.get("/en/cashier/")
    staff.get("/staff/")
    positions = {
        ("/en/account/identity/", player.session, settings.LARGEST_UPLOAD): 403,  # without the token of a form
        ("/en/account/identity/", player.session, settings.LARGEST_UPLOAD + 1): 303,
        ("/staff/statements/upload/", staff.session, MOST_BYTES): 403,
        ("/staff/statements/upload/", staff.session, MOST_BYTES + 200_000): 303,
        ("/staff/exchange-rates/", staff.session, exchange_rates.MOST_BYTES + 50_000): 403,  # with the form around it
        ("/staff/exchange-rates/", staff.session, exchange_rates.MOST_BYTES + 200_000): 303,
    }
    answers = {}
    for path, session, size in positions:
        sender = HTTPConnection("127.0.0.1", server.port, timeout=60)
        cookie = f"{settings.SESSION_COOKIE_NAME}={session}"
        sender.request("POST", path, b"x" * size, {"Content-Type": "text/plain", "Cookie": cookie})
        answer = sender.getresponse()
        answers[path, session, size] = answer.status
        assert answer.status != 303 or str(answer.getheader("Location")).endswith("/?too-much=1")
        sender.close()
    assert answers == positions


def test_slow_senders_keep_nobody_else_waiting(start_server):
    server = start_server(environment={"WEB_THREADS": "2"})
    begun = head(100, "/en/account/login/", "Cookie: csrftoken=" + "a" * 32) + b"a"
    with sockets(server.port, 4) as slow:
        for sender in slow:
            sender.sendall(begun)
        quick = HTTPConnection("127.0.0.1", server.port, timeout=10)
        quick.request("GET", "/healthz")
        assert quick.getresponse().status == 200
        quick.close()
