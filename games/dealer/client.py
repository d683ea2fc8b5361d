"""Client of the dealer. It does not use Django.

Each thread keeps one connection. If it breaks, the request is sent once more on a new one: the
dealer answers a repeated request with the same deal.
"""

import json
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from audit.key_folder import short
from games.dealer import REFUSALS, DealtOtherwise, Expired, Foreign, Refusal
from games.dealer.protocol import LONGEST, Json, written
from games.engine.commitments import Binding

SECONDS: Final = 2.0  # timeout of a connection and of an answer
TRIES: Final = 2
R = TypeVar("R", "CutShoe", "CardsDealt")


class DealerAway(Exception):
    """The dealer does not answer. The request can be repeated later."""


class InvalidAnswer(Exception):
    """The dealer refuses the request as invalid, or its answer cannot be read."""


@dataclass(frozen=True)
class Answer:
    """A deal of the dealer, with its signature, the proof for the database, and the next commitment."""

    key: str
    epoch: str
    deal: int
    cards: str  # in dealing order: "9H 4D KS 2C"
    outcome: str
    seed: bytes
    signature: bytes
    proof: bytes
    next_commitment: str
    next_sealed: bytes

    @classmethod
    def of(cls, said: Json) -> Self:
        """Parse an answer. Raises KeyError, ValueError, TypeError."""
        following = said["next"] or {"commitment": "", "sealed": ""}
        return cls(
            key=said["key"],
            epoch=said["epoch"],
            deal=said["deal"],
            cards=said["cards"],
            outcome=said["outcome"],
            seed=bytes.fromhex(said["seed"]),
            signature=bytes.fromhex(said["signature"]),
            proof=bytes.fromhex(said["proof"]),
            next_commitment=following["commitment"],
            next_sealed=bytes.fromhex(following["sealed"]),
        )


@dataclass(frozen=True)
class CutShoe:
    """A new shoe, with the leaves of its cards, the dealer's signature and the proof for the database."""

    key: str
    commitment: str
    root: str
    leaves: bytes
    burn_card: str
    burn_salt: bytes
    burned: int
    cut: int
    signature: bytes
    proof: bytes


@dataclass(frozen=True)
class CardsDealt:
    """Cards that left a shoe, with their salts, the dealer's signature and the proof for the database."""

    key: str
    cards: str
    salts: bytes
    signature: bytes
    proof: bytes


@dataclass(frozen=True)
class Status:
    """The epoch of the dealer, its public key, the number of solo rounds dealt, and the proof of `epoch_text`."""

    epoch: str
    key: str
    deals: int
    proof: bytes


def status(at: str) -> Status:
    """Return the state of the dealer. Raises DealerAway, InvalidAnswer."""
    said = _ask(at, {"do": "status"})
    return Status(said["epoch"], said["key"], said["deals"], bytes.fromhex(said["proof"]))


def commit(at: str, binding: Binding) -> tuple[str, bytes]:
    """Have the dealer commit to a round; return the commitment and the sealed seed.

    Raises DealerAway, InvalidAnswer.
    """
    said = _ask(at, {"do": "commit", "binding": written(binding)})
    return said["commitment"], bytes.fromhex(said["sealed"])


def deal(
    at: str,
    binding: Binding,
    *,
    commitment: str,
    sealed: bytes,
    player_value: str,
    stakes: str,
    following: Binding | None,
) -> Answer:
    """Have the dealer deal a round, and commit to the *following* one.

    *stakes*: their digest. Raises DealerAway, Expired, DealtOtherwise, Foreign, InvalidAnswer.
    """
    said = _ask(
        at,
        {
            "do": "deal",
            "binding": written(binding),
            "commitment": commitment,
            "sealed": sealed.hex(),
            "player_value": player_value,
            "stakes": stakes,
            "next": None if following is None else written(following),
        },
    )
    try:
        return Answer.of(said)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidAnswer(f"the dealer answers {str(said)[:80]}") from error


def open_shoe(at: str, binding: Binding) -> str:
    """Have the dealer commit to a shoe; return the commitment. Raises DealerAway, InvalidAnswer, Foreign."""
    return str(_ask(at, {"do": "open_shoe", "binding": written(binding)})["commitment"])


def cut_shoe(at: str, binding: Binding, value: str) -> CutShoe:
    """Have the dealer shuffle a shoe. Raises DealerAway, InvalidAnswer, Refusal."""
    return _read(CutShoe, _ask(at, {"do": "cut_shoe", "binding": written(binding), "value": value}))


def deal_cards(
    at: str, binding: Binding, *, round_id: str, first: int, count: int, stakes: str, ticket: bytes
) -> CardsDealt:
    """Have cards leave a shoe; *count* is 0 for those of a whole round. Raises DealerAway, InvalidAnswer, Refusal."""
    asked = {"do": "deal_cards", "binding": written(binding), "round": round_id, "first": first, "count": count}
    return _read(CardsDealt, _ask(at, asked | {"stakes": stakes, "ticket": ticket.hex()}))


def prove_coup(at: str, binding: Binding, round_id: str) -> tuple[str, bytes]:
    """Return the cards that were dealt for a coup, with a proof for the database.

    Raises DealerAway, InvalidAnswer, Refusal.
    """
    said = _ask(at, {"do": "prove_coup", "binding": written(binding), "round": round_id})
    return said["cards"], bytes.fromhex(said["proof"])


def end_shoe(at: str, binding: Binding, ticket: bytes) -> bytes:
    """End a shoe and return its seed. Raises DealerAway, InvalidAnswer, Refusal."""
    return bytes.fromhex(_ask(at, {"do": "end_shoe", "binding": written(binding), "ticket": ticket.hex()})["seed"])


def cards_gone(at: str, binding: Binding) -> int | None:
    """Return how many cards have left a shoe; None if the dealer deals nothing more from it.

    Raises DealerAway, InvalidAnswer, Refusal.
    """
    said = _ask(at, {"do": "look_at_shoe", "binding": written(binding)})
    return None if said["is_ended"] else said["gone"]


def sign_receipt(at: str, said: str, ticket: bytes) -> tuple[str, bytes]:
    """Have the dealer sign a receipt; return its public key in hex, and the signature.

    Raises DealerAway, InvalidAnswer, Foreign.
    """
    answered = _ask(at, {"do": "sign_receipt", "said": said, "ticket": ticket.hex()})
    return answered["key"], bytes.fromhex(answered["signature"])


def tcp_address(at: str) -> tuple[str, int] | None:
    """Return host and port of ``host:port``; None for the path of a Unix socket."""
    host, colon, port = at.rpartition(":")
    return (host.strip("[]"), int(port)) if colon and "/" not in at and port.isdecimal() else None


class _Lines(threading.local):
    """The connections of a thread, by address. A forked process does not use those of its parent."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.by_address: dict[str, socket.socket] = {}


_lines = _Lines()


def _read(kind: type[R], said: Json) -> R:
    """Parse an answer. Raises InvalidAnswer."""
    try:
        values: Json = {
            each.name: bytes.fromhex(said[each.name]) if each.type is bytes else said[each.name]
            for each in fields(kind)
        }
        return kind(**values)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidAnswer(f"the dealer answers {str(said)[:80]}") from error


def _ask(at: str, question: Json) -> Json:
    """Send a request and return the answer. Raises DealerAway, Refusal, InvalidAnswer."""
    sent = json.dumps(question, separators=(",", ":")).encode() + b"\n"
    if _lines.process != os.getpid():
        _lines.process, _lines.by_address = os.getpid(), {}
    for remaining in reversed(range(TRIES)):
        try:
            received = _exchange(at, sent)
        except OSError as error:
            if (line := _lines.by_address.pop(at, None)) is not None:
                line.close()
            if not remaining:
                raise DealerAway(f"the dealer does not answer at {at}: {error}") from error
        else:
            return _parsed(received)
    raise AssertionError  # pragma: no cover


def _exchange(at: str, sent: bytes) -> bytes:
    """Send on the connection of this thread and receive a line. Raises OSError."""
    line = _lines.by_address.get(at)
    if line is None:
        line = _lines.by_address[at] = _connected(at)
    line.sendall(sent)
    received = b""
    while not received.endswith(b"\n"):
        more = line.recv(LONGEST)
        if not more:
            raise ConnectionResetError("the connection has ended")
        received += more
    return received


def _connected(at: str) -> socket.socket:
    """Connect. Raises OSError."""
    if place := tcp_address(at):
        line = socket.create_connection(place, timeout=SECONDS)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(SECONDS)
    try:
        with short(Path(at)) as name:
            line.connect(name)
    except OSError:
        line.close()
        raise
    return line


def _parsed(received: bytes) -> Json:
    said: Any = None
    with suppress(ValueError):
        said = json.loads(received)
    if not isinstance(said, dict):
        raise InvalidAnswer(f"the dealer answers {received[:80]!r}")
    if "refused" in said:
        kind = REFUSALS.get(said["refused"])
        if kind is None:
            raise InvalidAnswer(str(said.get("why")))
        refusal = kind(said.get("why"))
        refusal.proof = bytes.fromhex(said["proof"])
        raise refusal
    return said


__all__ = [
    "Answer",
    "CardsDealt",
    "CutShoe",
    "DealerAway",
    "DealtOtherwise",
    "Expired",
    "Foreign",
    "InvalidAnswer",
    "Refusal",
    "Status",
    "cards_gone",
    "commit",
    "cut_shoe",
    "deal",
    "deal_cards",
    "end_shoe",
    "open_shoe",
    "prove_coup",
    "sign_receipt",
    "status",
    "tcp_address",
]
