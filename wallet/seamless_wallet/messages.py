"""Messages of the seamless wallet: strict parsing and serialisation for both sides.

Source: docs/seamless.md. Anything outside the format is refused: unknown and missing fields,
duplicate keys, numbers as text, `true` for a number, fractions, and characters that a name may not
have. `Malformed` names the JSON pointer of each error.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from http import HTTPStatus
from typing import Any, ClassVar, Final, TypeVar

from django.utils.translation import gettext_lazy as _

from players.api.problems import register

LONGEST_BODY: Final = 16 * 1024  # bytes
MOST: Final = 10**12  # minor units
NAME = re.compile(r"[!-~]{1,64}", re.ASCII)
SECRET_NAME = re.compile(r"[!-~]{1,128}", re.ASCII)
CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)

Json = str | int | bool | float | list[Any] | dict[str, Any] | None


class Malformed(Exception):
    """The message does not match the format.

    *errors* maps JSON pointers to English messages. "" is the whole body.
    """

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{where or 'body'}: {what}" for where, what in errors.items()))
        self.errors = errors


# Fields ------------------------------------------------------------------------------------------------------------


def _name(value: Json) -> str | None:
    fits = isinstance(value, str) and NAME.fullmatch(value)
    return None if fits else "is 1 to 64 visible ASCII characters"


def _session(value: Json) -> str | None:
    fits = isinstance(value, str) and SECRET_NAME.fullmatch(value)
    return None if fits else "is 1 to 128 visible ASCII characters"


def _session_or_none(value: Json) -> str | None:
    return None if value is None else _session(value)


def _name_or_none(value: Json) -> str | None:
    return None if value is None else _name(value)


def _balance_or_none(value: Json) -> str | None:
    return None if value is None else CHECKS["balance"](value)


def _currency(value: Json) -> str | None:
    fits = isinstance(value, str) and CURRENCY.fullmatch(value)
    return None if fits else "is three capital letters"


def _whole(least: int, most: int = MOST) -> Callable[[Json], str | None]:
    def check(value: Json) -> str | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if fits else f"is a whole number of minor units from {least} to {most}"

    return check


CHECKS: Final[Mapping[str, Callable[[Json], str | None]]] = {
    "player": _name,
    "session": _session,
    "game": _name,
    "round": _name,
    "transaction": _name,
    "takes_back": _name,
    "reference": _name_or_none,
    "currency": _currency,
    "balance": _whole(0, 2**63 - 1),
    "bet": _whole(1),
    "win": _whole(0),
}


# Requests
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Message:
    """Base class of messages. The fields are those of the JSON object.

    `optional` fields are None if left out. `checks` override the default checks of fields with the
    same name.
    """

    optional: ClassVar[frozenset[str]] = frozenset()
    checks: ClassVar[Mapping[str, Callable[[Json], str | None]]] = {}

    def body(self) -> bytes:
        """Return the message as JSON bytes."""
        said = {name: value for name, value in asdict(self).items() if value is not None or name not in self.optional}
        return json.dumps(said, separators=(",", ":")).encode()


@dataclass(frozen=True)
class BalanceAsked(Message):
    """Request for the balance of the player in this session."""

    operation: ClassVar[str] = "balance"

    player: str
    session: str


@dataclass(frozen=True)
class Asked(Message):
    """Base class of requests that may move money. Each transaction is executed once."""

    operation: ClassVar[str]

    player: str
    game: str
    round: str
    transaction: str
    currency: str


@dataclass(frozen=True)
class Bet(Asked):
    """Take *amount* minor units from the player for a round. The bet opens the round or adds to it."""

    operation: ClassVar[str] = "bet"
    checks: ClassVar = {"amount": _whole(1)}

    amount: int
    session: str


@dataclass(frozen=True)
class Win(Asked):
    """Pay the player *amount* minor units for a round with a bet.

    0 means that the round is over and lost.
    """

    operation: ClassVar[str] = "win"
    optional: ClassVar = frozenset({"session"})
    checks: ClassVar = {"amount": _whole(0), "session": _session_or_none}

    amount: int
    session: str | None = None


@dataclass(frozen=True)
class Rollback(Asked):
    """Reverse a transaction, or prevent it if it has not arrived yet."""

    operation: ClassVar[str] = "rollback"
    optional: ClassVar = frozenset({"session"})
    checks: ClassVar = {"session": _session_or_none}

    takes_back: str
    session: str | None = None


@dataclass(frozen=True)
class BetAndWin(Asked):
    """A complete round: take *bet* and pay *win*, both or neither."""

    operation: ClassVar[str] = "bet-and-win"

    bet: int
    win: int
    session: str


OPERATIONS: Final = {kind.operation: kind for kind in (BalanceAsked, Bet, Win, Rollback, BetAndWin)}


# Responses
# -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Balance(Message):
    """Response with the player's available balance, in minor units."""

    player: str
    balance: int
    currency: str


@dataclass(frozen=True)
class Done(Message):
    """Response to an executed transaction.

    *reference* is its id in the host's ledger, null if nothing moved. *balance* is the player's
    available balance right after it, null if the host does not know which balance it concerns.
    """

    checks: ClassVar = {"balance": _balance_or_none}

    transaction: str
    reference: str | None
    balance: int | None
    currency: str


@dataclass(frozen=True)
class Refusal:
    """A refusal as a problem (RFC 9457) with HTTP status and stable code.

    Nothing moved. *detail* is for people.
    """

    status: int
    code: str
    detail: str


# Parsing
# -------------------------------------------------------------------------------------------------------------

Read = TypeVar("Read", bound=Message)


def read(kind: type[Read], body: bytes) -> Read:
    """Parse *body* as a message of class *kind*. Raises Malformed."""
    said = read_object(body)
    errors = {}
    names = [each.name for each in fields(kind)]
    for name in names:
        if name not in said:
            if name not in kind.optional:
                errors[f"/{name}"] = "is missing"
        elif wrong := (kind.checks.get(name) or CHECKS[name])(said[name]):
            errors[f"/{name}"] = wrong
    errors |= {_pointer(name): "is not known here" for name in said.keys() - set(names)}
    if errors:
        raise Malformed(errors)
    return kind(**said)


def read_refusal(status: int, body: bytes) -> Refusal:
    """Parse a problem that came with *status*. Other members are ignored. Raises Malformed."""
    said = read_object(body)
    code, detail = said.get("code"), said.get("detail", "")
    if not isinstance(code, str) or not NAME.fullmatch(code):
        raise Malformed({"/code": "is 1 to 64 visible ASCII characters"})
    return Refusal(status, code, detail if isinstance(detail, str) else "")


def read_object(body: bytes) -> dict[str, Json]:
    """Parse *body* as a JSON object. Raises Malformed."""
    if len(body) > LONGEST_BODY:
        raise Malformed({"": f"is longer than {LONGEST_BODY} bytes"})
    try:
        said = json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise Malformed({"": "is not UTF-8"}) from error
    except RecursionError as error:
        raise Malformed({"": "is nested too deeply"}) from error
    except ValueError as error:
        raise Malformed({"": "is not JSON"}) from error
    if not isinstance(said, dict):
        raise Malformed({"": "is not an object"})
    return said


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    said: dict[str, Json] = {}
    for name, value in pairs:
        if name in said:
            raise Malformed({_pointer(name): "is said twice"})
        said[name] = value
    return said


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)


def _pointer(name: str) -> str:
    known = name.encode(errors="replace").decode()  # a lone surrogate cannot be encoded
    return "/" + known.replace("~", "~0").replace("/", "~1")


UNAUTHORIZED, FORBIDDEN, CONFLICT = HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT

BAD_SIGNATURE: Final = register(
    "bad-signature", UNAUTHORIZED, _("The request has no signature, or its signature is invalid")
)
OUTSIDE_WINDOW: Final = register(
    "outside-window", UNAUTHORIZED, _("The timestamp of the request is outside the allowed window")
)
CODES: Final = (
    register("partner-off", FORBIDDEN, _("This partnership has ended")),
    register("not-eligible", FORBIDDEN, _("You are not eligible to play")),
    register("limit-reached", FORBIDDEN, _("This would exceed one of your limits")),
    register("unknown-player", HTTPStatus.NOT_FOUND, _("There is no such player here")),
    register("session-over", CONFLICT, _("The game session has ended")),
    register("table-waits", CONFLICT, _("You are playing at another table")),
    register("round-elsewhere", CONFLICT, _("Your round at another table is in progress")),
    register("too-soon", CONFLICT, _("Your last game has only just started")),
    register("house-stopped", CONFLICT, _("All play is stopped")),
    register("insufficient-funds", CONFLICT, _("The balance does not cover this transaction")),
    register("wrong-currency", CONFLICT, _("The balance is in another currency")),
    register("transaction-conflict", CONFLICT, _("This transaction ID was already used for a different transaction")),
    register("already-rolled-back", CONFLICT, _("This transaction was rolled back")),
    register("no-bet", CONFLICT, _("There is no open bet in this round")),
    register("round-conflict", CONFLICT, _("The round was started with a different kind of money")),
    register("round-won", CONFLICT, _("The round has been won: roll back the win first")),
    register("cannot-take-back", CONFLICT, _("This transaction cannot be rolled back like this")),
)
"""Refusals of `host`."""
