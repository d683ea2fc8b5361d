"""Reads request bodies completely before a worker thread is used, within limits.

A thread that waits for a slow client serves nobody else, and an incomplete form must not be
processed. A client cannot make this process hold much: a large body needs a logged-in session, and
bytes, incomplete requests and time are limited. A refused body is read to its end and discarded,
because a browser shows no answer before it has sent everything.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

SMALL: Final = 65_536  # bytes; more needs a session. The largest form of a visitor has some hundred fields
SECONDS_FOR_A_BODY: Final = 20.0


@dataclass(frozen=True)
class Allowance:
    """Limits of a request: at most *largest* bytes of body within *seconds*. With *instead*, the
    sender of a larger one is redirected there.
    """

    largest: int
    seconds: float = SECONDS_FOR_A_BODY
    instead: str = ""


@dataclass(frozen=True)
class Limits:
    """Limits of all incomplete and waiting bodies of a process."""

    small: int = SMALL
    of_all: int = 128_000_000  # bytes in memory: five times the largest upload
    incomplete: int = 256  # requests; one more ends the one that has been incomplete longest
    large_of_one: int = 2  # large bodies per session at a time
    grace: float = 10.0  # seconds until a body must have arrived,
    pace: int = 16_000  # plus one second for each of so many bytes


class Refused(Exception):
    """The body is not accepted. *instead* is a URL to redirect to."""

    def __init__(self, status: HTTPStatus, instead: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.instead = instead


class Gone(Exception):
    """The client disconnected before the end of the body."""


@dataclass(eq=False)
class Body:
    """One body: its parts, removed when they are read, and its share of the limits."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    held: int = 0  # bytes counted in Bodies.held
    sender: str = ""  # session of a large body
    deadline: asyncio.Timeout | None = None
    is_evicted: bool = False


class Bodies:
    """All bodies of a process. *session_of* returns the logged-in session of a request, "" if there
    is none; it is asked about each large body before the body is read.
    """

    def __init__(
        self,
        session_of: Callable[[Message], Awaitable[str]],
        *,
        ordinary: Allowance,
        at: Mapping[str, Allowance] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.held = 0  # bytes
        self._session_of = session_of
        self._ordinary = ordinary
        self._at = at or {}
        self._incomplete: OrderedDict[Body, None] = OrderedDict()
        self._large: Counter[str] = Counter()

    async def read(self, scope: Message, receive: Receive) -> Body:
        """Return the complete body; `release` must be called when it is no longer used.

        Raises Refused, Gone.
        """
        message = await receive()
        part = message.get("body", b"")
        if message["type"] == "http.request" and not message.get("more_body") and len(part) <= self.limits.small:
            return Body([part] if part else [], len(part))
        body = Body()
        try:
            await self._read_slowly(scope, receive, message, body)
        except BaseException:
            self.release(body)
            raise
        return body

    def release(self, body: Body) -> None:
        """Stop counting a body."""
        self.held -= body.held
        body.held = 0
        if body.sender:
            self._large[body.sender] -= 1
            if not self._large[body.sender]:
                del self._large[body.sender]
            body.sender = ""

    async def _read_slowly(self, scope: Message, receive: Receive, message: Message, body: Body) -> None:
        """Read a body that is large or did not arrive with its head."""
        allowed = self._at.get(scope.get("path", ""), self._ordinary)
        refused: Refused | None = None
        self._admit(body)
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(min(self.limits.grace, allowed.seconds)) as body.deadline:
                while True:
                    refused = refused or await self._take(scope, message, body, allowed)
                    if message["type"] == "http.disconnect":
                        raise Gone
                    if not message.get("more_body"):
                        break
                    earned = self.limits.grace + body.size / self.limits.pace
                    if not body.is_evicted:
                        body.deadline.reschedule(began + min(allowed.seconds, earned))
                    message = await receive()
        except TimeoutError as late:
            status = HTTPStatus.TOO_MANY_REQUESTS if body.is_evicted else HTTPStatus.REQUEST_TIMEOUT
            raise refused or Refused(status) from late
        finally:
            self._incomplete.pop(body, None)
        if refused:
            raise refused

    def _admit(self, body: Body) -> None:
        """Count an incomplete body; if there are too many, end the one that is incomplete longest."""
        self._incomplete[body] = None
        if len(self._incomplete) > self.limits.incomplete:
            oldest, _ = self._incomplete.popitem(last=False)
            oldest.is_evicted = True
            if oldest.deadline is not None:
                oldest.deadline.reschedule(asyncio.get_running_loop().time())

    async def _take(self, scope: Message, message: Message, body: Body, allowed: Allowance) -> Refused | None:
        """Keep a part; return why the body is refused, if it is, without keeping any of it."""
        part = message.get("body", b"")
        body.size += len(part)
        refused = None
        if body.size > allowed.largest:
            refused = Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, allowed.instead)
        elif not body.sender and max(body.size, _declared(scope)) > self.limits.small:
            refused = await self._admit_large(scope, body)
        if refused is None and self.held + len(part) > self.limits.of_all:
            refused = Refused(HTTPStatus.TOO_MANY_REQUESTS)
        if refused:
            body.parts.clear()
            self.release(body)
        elif part:
            body.parts.append(part)
            body.held += len(part)
            self.held += len(part)
        return refused

    async def _admit_large(self, scope: Message, body: Body) -> Refused | None:
        session = await self._session_of(scope)
        if not session:
            return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if self._large[session] >= self.limits.large_of_one:
            return Refused(HTTPStatus.TOO_MANY_REQUESTS)
        self._large[session] += 1
        body.sender = session
        return None


def _declared(scope: Message) -> int:
    """Return the value of Content-Length, which the server has checked; 0 for a chunked body."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)
