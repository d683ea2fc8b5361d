"""HTTP client for operators' wallets.

A response that is late, too long, a redirect or malformed counts as no answer. The client does not
connect to the house's own machines (`wallet.seamless_wallet.reach`).
"""

import http.client
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from socket import SHUT_RDWR
from typing import Final, TypeVar
from urllib.parse import urlsplit

from django.conf import settings

from wallet.seamless_wallet import messages, reach, signing

SECONDS_TO_ANSWER: Final = 5
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
# Statuses that say nothing about the transaction. The request is repeated.
SAYS_NOTHING: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
NOT_PROCESSED: Final = ("bad-signature", "outside-window")

Answer = TypeVar("Answer", messages.Done, messages.Balance)


class NoAnswer(Exception):
    """It is unknown whether the operator executed the request.

    The message is for staff and the log.
    """


class NotRecognised(NoAnswer):
    """The operator rejected the house's key or clock without reading the request. Staff must act."""


class Refused(Exception):
    """The operator refused and did nothing. *code* is the reason."""

    def __init__(self, refusal: messages.Refusal) -> None:
        super().__init__(f"{refusal.status} {refusal.code}")
        self.code = refusal.code


@dataclass(frozen=True)
class Operator:
    """Address and key for requests to an operator."""

    address: str  # ends with a slash
    key: str
    secret: str


def ask(
    operator: Operator, message: messages.BalanceAsked | messages.Asked, answer: type[Answer], *, at: int
) -> Answer:
    """Send *message*, signed for the Unix second *at*, and return the operator's response.

    Raises Refused, NoAnswer, or NotRecognised, a subclass of NoAnswer.
    """
    status, body = _post(operator, f"{message.operation}/", message.body(), at)
    try:
        if status == HTTPStatus.OK:
            return messages.read(answer, body)
        if not HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR or status in SAYS_NOTHING:
            raise NoAnswer(f"HTTP {status}")
        refusal = messages.read_refusal(status, body)
    except messages.Malformed as error:
        raise NoAnswer(f"HTTP {status} that cannot be read: {error}"[:200]) from error
    if refusal.code in NOT_PROCESSED:
        raise NotRecognised(refusal.code)
    raise Refused(refusal)


def check_address(address: str) -> tuple[str, str, int | None, str]:
    """Return scheme, host, port and path of an operator's address. The path ends with a slash.

    Raises NoAnswer unless it is https, or, in a demo house, http to the local machine.
    """
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError as error:
        raise NoAnswer("the address cannot be read") from error
    is_here = settings.DEMO and scheme == "http" and host in LOOPBACK
    if not host or parts.username is not None or parts.query or parts.fragment or not (scheme == "https" or is_here):
        raise NoAnswer("the address is not of HTTPS")
    return scheme, host, port, parts.path.rstrip("/") + "/"


def _post(operator: Operator, place: str, body: bytes, at: int) -> tuple[int, bytes]:
    """Send a signed request and return status and body. Redirects are not followed."""
    scheme, host, port, base = check_address(operator.address)
    path = base + place
    headers = {"Content-Type": "application/json", "Accept": "application/json, application/problem+json"}
    headers |= signing.headers(operator.key, operator.secret, at=at, method="POST", path=path, body=body)
    line = _Line(host, port, _trust() if scheme == "https" else None)
    try:
        line.connect()
        with _in_time(line):
            line.request("POST", path, body, headers)
            answer = line.getresponse()
            said = answer.read(messages.LONGEST_BODY + 1)
            return answer.status, said
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: closed by the timer during a read
        raise NoAnswer(f"{type(error).__name__}: {error}"[:200]) from error
    finally:
        line.close()


class _Line(http.client.HTTPConnection):
    """A connection to an address that `reach` has checked. HTTPS if *trust* is given.

    The library would resolve the name again.
    """

    def __init__(self, host: str, port: int | None, trust: ssl.SSLContext | None) -> None:
        self.default_port = http.client.HTTPS_PORT if trust else http.client.HTTP_PORT
        super().__init__(host, port or self.default_port, timeout=SECONDS_TO_ANSWER)
        self._trusted = trust

    def connect(self) -> None:
        """Open the connection. Raises OSError."""
        found = reach.socket_addresses(self.host, self.port, SECONDS_TO_ANSWER)
        self.sock = reach.line_to(found, SECONDS_TO_ANSWER)
        if self._trusted:
            self.sock = self._trusted.wrap_socket(self.sock, server_hostname=self.host)


@contextmanager
def _in_time(line: http.client.HTTPConnection) -> Iterator[None]:
    """Close the connection when the time is up.

    A socket timeout does not catch a slow trickle of bytes.
    """

    socket = line.sock  # the response may take it over

    def cut() -> None:
        with suppress(OSError):  # it was just closed
            socket.shutdown(SHUT_RDWR)

    clock = threading.Timer(SECONDS_TO_ANSWER, cut)
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
