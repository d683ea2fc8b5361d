"""Operators: requests to them over HTTP, their players' balances, and launches of our tables.

A response that is late, too long, a redirect or malformed counts as no answer. The client does not
connect to the house's own machines (`wallet.seamless_wallet.reach`).
"""

import hashlib
import http.client
import secrets
import ssl
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from http import HTTPStatus
from socket import SHUT_RDWR
from typing import Final, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from audit import log
from audit.models import Clock
from players.account import registration
from players.models import Jurisdiction, Player
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, OperatorLaunch, OperatorPlayer, Partner, PartnerKey
from wallet.seamless_wallet import messages, reach, signing

SECONDS_TO_ANSWER: Final = 5
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
# Statuses that say nothing about the transaction. The request is repeated.
SAYS_NOTHING: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
NOT_PROCESSED: Final = ("bad-signature", "outside-window")

Answer = TypeVar("Answer", messages.Done, messages.Balance)


class NoAnswer(Exception):
    """It is unknown whether the operator executed the request.

    The message is for staff and the log, in characters that can be stored: it may quote the answer.
    """

    def __init__(self, why: str) -> None:
        super().__init__("".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in why))


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


def send(
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
    return exchange((scheme, host, port), path, body, headers)


def exchange(to: tuple[str, str, int | None], path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Post to a scheme, host and port that `check_address` has returned; return status and body.

    Redirects are not followed, and networks of the house are not called. Raises NoAnswer.
    """
    scheme, host, port = to
    line = _Line(host, port, _trust() if scheme == "https" else None)
    try:
        line.connect()
        with _in_time(line):
            line.request("POST", path, body, dict(headers))
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


logger = structlog.get_logger(__name__)

# Maximum number of web threads that may wait for one operator, and for all of them. A request to an
# operator that hangs blocks a thread until the timeout. The other threads serve the rest of the
# site.
MOST_WAIT_FOR_ONE: Final = max(1, settings.WEB_THREADS // 4)
MOST_WAIT: Final = max(1, settings.WEB_THREADS // 2)
_waiting: Counter[int] = Counter()  # number of waiting threads by partner id
_counting: Final = threading.Lock()

UNIX_TIME: Final = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"


def ask(partner: Partner, message: messages.BalanceAsked | messages.Asked, answer: type[Answer]) -> Answer:
    """Send a message to an operator and return its response.

    Raises client.Refused, client.NoAnswer, and client.NotRecognised also if the operator has no
    active key.
    """
    try:
        key = signing.signing_key(partner)
    except PartnerKey.DoesNotExist as error:
        raise NotRecognised("the operator has no key") from error
    with connection.cursor() as cursor:
        cursor.execute(UNIX_TIME)
        (now,) = cursor.fetchone()
    operator = Operator(partner.address, key.name, signing.secret_of(key))
    return send(operator, message, answer, at=now)


class Busy(Exception):
    """Too many threads of this process already wait for this operator or for operators in total."""


@contextmanager
def waiting_for(partner: Partner) -> Iterator[None]:
    """Count a thread as waiting for an operator within the block.

    Raises Busy at once above the maximum.
    """
    with _counting:
        if _waiting[partner.pk] >= MOST_WAIT_FOR_ONE or _waiting.total() >= MOST_WAIT:
            raise Busy
        _waiting[partner.pk] += 1
    try:
        yield
    finally:
        with _counting:
            _waiting[partner.pk] -= 1


def note_balance(player: Player, said: messages.Done | messages.Balance) -> None:
    """Store the balance that the operator has just reported."""
    if said.currency == player.currency and said.balance is not None:
        OperatorPlayer.objects.filter(pk=player.pk).update(balance=said.balance, said_at=Clock())


def refresh_balance(player: Player, launch: OperatorLaunch) -> None:
    """Query the operator for the player's balance.

    Without an answer, the last reported balance stays.
    """
    operator_player = launch.operator_player
    asked = messages.BalanceAsked(player=operator_player.name, session=launch.token)
    try:
        with waiting_for(operator_player.partner):
            note_balance(player, ask(operator_player.partner, asked, messages.Balance))
    except (Refused, NoAnswer, Busy) as error:
        logger.info(
            "operator_balance_unknown", partner=operator_player.partner.code, said=str(error) or type(error).__name__
        )


def funds(player: Player, mode: Mode, kind: AccountKind = AccountKind.CASH) -> int:
    """Return the balance a player can play with, in minor units.

    For an operator's player, it is the balance that the operator reported last.
    """
    if player.uses_operator_wallet and mode is Mode.REAL and kind is AccountKind.CASH:
        return OperatorPlayer.objects.values_list("balance", flat=True).get(pk=player.pk)
    return accounts.balance(player.pk, mode, kind)


def forget(player: Player) -> None:
    """Erase the operator's id for a player and its session tokens.

    The database refuses if the account has not been closed long enough.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_forget_operator_player(%s)", [player.pk])


def launch_of(player: Player, session: UUID | None) -> OperatorLaunch | None:
    """Return the launch that started a login session.

    None if the session began otherwise, or if its operator is switched off or has no active key.
    """
    if session is None:
        return None
    asked = PartnerKey.objects.filter(partner=OuterRef("operator_player__partner"), partner__off_at=None, ended_at=None)
    found = OperatorLaunch.objects.filter(Exists(asked), operator_player=player.pk, session=session)
    return found.select_related("operator_player__partner").first()


LASTS: Final = timedelta(minutes=1)


class PlayerChanged(Exception):
    """Currency, jurisdiction or date of birth differ from those at the player's first launch."""


@dataclass(frozen=True)
class Visit:
    """An operator's launch request: player and table."""

    player: str  # the operator's id for the player
    session: str  # token of the operator's game session
    currency: str
    jurisdiction: str
    language: str
    birth_date: date
    game: str  # slug of a table


@dataclass(frozen=True)
class Announced:
    """The code that the operator sends to its player's browser, and when it expires."""

    code: str
    ends_at: datetime


@transaction.atomic
def announce(partner: Partner, visit: Visit) -> Announced:
    """Create a launch, and the player at their first launch.

    Raises PlayerChanged, services.TooYoung, services.CurrencyNotOffered, and
    Jurisdiction.DoesNotExist for a jurisdiction where no table is offered.
    """
    with connection.cursor() as cursor:  # the second of two concurrent first launches finds the first one's player
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"operator:{partner.pk}:{visit.player}"]
        )
    found = OperatorPlayer.objects.filter(partner=partner, name=visit.player).select_related("player").first()
    operator_player = found or _meet(partner, visit)
    known = operator_player.player
    if (known.currency, known.jurisdiction_id, known.birth_date) != (
        visit.currency,
        visit.jurisdiction,
        visit.birth_date,
    ):
        raise PlayerChanged
    registration.agree_through_operator(known)
    code = secrets.token_urlsafe(32)
    launch = OperatorLaunch.objects.create(
        operator_player=operator_player,
        token=visit.session,
        game=visit.game,
        language=visit.language,
        digest=_digest(code),
        ends_at=Clock() + LASTS,
    )
    launch.refresh_from_db(fields=["ends_at"])
    data: dict[str, log.Json] = {"operator": partner.code, "table": visit.game}
    log.record("operator_launch.announced", by=str(partner), on=str(known), data=data)
    return Announced(code, launch.ends_at)


def use(code: str) -> OperatorLaunch | None:
    """Use up a code and return its launch.

    None if the code is unknown, used or expired, or if the operator is switched off.
    """
    off = OperatorPlayer.objects.filter(partner__off_at__isnull=False)
    fresh = OperatorLaunch.objects.filter(digest=_digest(code), used_at=None, ends_at__gt=Clock()).exclude(
        operator_player__in=off
    )
    if not fresh.update(used_at=Clock()):
        return None
    return OperatorLaunch.objects.select_related("operator_player__player__user").get(digest=_digest(code))


def begin(launch: OperatorLaunch, session: UUID) -> None:
    """Store the login session that the launch started."""
    launch.session = session
    launch.save(update_fields=["session"])


def _meet(partner: Partner, visit: Visit) -> OperatorPlayer:
    player: Player = registration.register_operator_player(
        jurisdiction=Jurisdiction.objects.get(pk=visit.jurisdiction),
        currency=visit.currency,
        birth_date=visit.birth_date,
        language=visit.language,
        operator=partner.code,
    )
    accounts.open_accounts(player)
    return OperatorPlayer.objects.create(player=player, partner=partner, name=visit.player)


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
