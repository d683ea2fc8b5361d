"""Witnesses: other parties that cosign checkpoints of the log, over HTTP (C2SP tlog-witness, tlog-cosignature).

A witness cosigns a tree only if it goes on from the last one that it cosigned. So a checkpoint with
cosignatures of enough witnesses is the same one that everybody else was shown. All witnesses are
asked for the same checkpoint, the last one; each answer is a row.
"""

import logging
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.db.models import Count, Max

from audit import tree
from audit.models import Checkpoint, Clock, Cosignature
from audit.sealing import alarms, checkpoints
from audit.sealing.checkpoint_delivery import LOOPBACK, NotDelivered, in_time, open_line
from audit.verification.checking import StoredTiles, is_signed
from audit.verification.verify import LONGEST_NUMBER, TIME, Key, Unproven, signers_of
from audit.verification.verify import Checkpoint as Signed

logger = logging.getLogger(__name__)

LONGEST: Final = 16 * 1024  # bytes of an answer
LONGEST_FAILURE: Final = 500  # characters
SIZE: Final = re.compile(r"(0|[1-9][0-9]*)\n", re.ASCII)
WHY: Final = {
    HTTPStatus.NOT_FOUND: "it does not know this log",
    HTTPStatus.FORBIDDEN: "it does not trust the keys that have signed the checkpoint",
    HTTPStatus.UNPROCESSABLE_ENTITY: "the log does not go on from what it cosigned: it has seen another history",
}


class InvalidWitness(Exception):
    """An entry of ``AUDIT_WITNESSES`` is not valid; the message says why."""


class NotCosigned(Exception):
    """The witness has not cosigned; the message says why."""


@dataclass(frozen=True)
class Witness:
    """A witness: its public key, and the address that ``add-checkpoint`` is appended to."""

    key: Key
    address: SplitResult

    @classmethod
    def of(cls, text: str) -> "Witness":
        """Parse a key and an address with a space between them. Raises InvalidWitness."""
        vkey, _, address = text.strip().partition(" ")
        try:
            key, found = Key.of(vkey), urlsplit(address.strip())
            _ = found.port
        except (Unproven, ValueError) as error:
            raise InvalidWitness(f"{text[:80]!r} is no public key and address: {error}") from error
        if key.kind != TIME:
            raise InvalidWitness(f"the key of {key.name} is not one for cosignatures")
        if not found.hostname or not (
            found.scheme == "https" or (found.scheme == "http" and found.hostname in LOOPBACK)
        ):
            raise InvalidWitness(f"the address of {key.name} does not begin with https://")
        return cls(key, found)

    @property
    def name(self) -> str:
        """Name and hash of its key."""
        return f"{self.key.name}+{self.key.hash.hex()}"


def configured() -> list[Witness]:
    """Return the witnesses of ``AUDIT_WITNESSES``. Raises InvalidWitness."""
    found = [Witness.of(each) for each in settings.AUDIT_WITNESSES]
    if len({witness.name for witness in found}) < len(found):
        raise InvalidWitness("a witness is named twice")
    return found


def due() -> tuple[int, list[str]]:
    """Return the size of the last checkpoint, and the names of the witnesses that have not cosigned it."""
    checkpoint = checkpoints.last()
    if checkpoint is None:
        return 0, []
    have = {name for name, _line in _lines(checkpoint)}
    return checkpoint.size, [witness.name for witness in configured() if witness.name not in have]


def ask(name: str, size: int) -> Cosignature | None:
    """Ask a witness to cosign the checkpoint of *size* leaves, and store what it answers; None where
    there is no such witness or checkpoint any more.
    """
    witness = next((each for each in configured() if each.name == name), None)
    checkpoint = next(iter(checkpoints.latest(1, below=size + 1)), None)
    if witness is None or checkpoint is None or checkpoint.size != size:
        return None
    line, failure = "", ""
    try:
        line = _cosign(witness, checkpoint)
    except (NotCosigned, NotDelivered, Unproven) as error:
        failure = str(error)
    except (OSError, HTTPException, ValueError) as error:
        failure = f"{type(error).__name__}: {getattr(error, 'strerror', None) or 'nothing more is known'}"
    if failure:
        logger.warning("no cosignature of %s: %s", name, failure)
        failure = "".join(each if each.isprintable() else " " for each in failure)[:LONGEST_FAILURE]
    return Cosignature.objects.create(checkpoint=checkpoint, witness=name, line=line, failure=failure)


def _cosign(witness: Witness, checkpoint: Checkpoint) -> str:
    """Return the signature line of a witness. Raises NotCosigned, NotDelivered, Unproven, OSError,
    HTTPException, ValueError.
    """
    mine = Cosignature.objects.filter(witness=witness.name, checkpoint__lte=checkpoint.size).exclude(line="")
    old: int = mine.aggregate(last=Max("checkpoint"))["last"] or 0
    status, answer = _post(witness, checkpoint, old)
    if status == HTTPStatus.CONFLICT:  # it says which tree it cosigned last
        said = SIZE.fullmatch(answer)
        if said is None or len(said[1]) > LONGEST_NUMBER:
            raise NotCosigned("it answered 409 without a size")
        old = int(said[1])
        if old > checkpoint.size:
            raise NotCosigned(f"it has cosigned a tree of {old} leaves, and this one has {checkpoint.size}")
        status, answer = _post(witness, checkpoint, old)
    if status != HTTPStatus.OK:
        raise NotCosigned({int(each): why for each, why in WHY.items()}.get(status, f"it answered {status}"))
    for line in answer.splitlines(keepends=True):
        if _is_cosigned(witness.key, checkpoint.note, line):
            return line
    raise NotCosigned("its answer has no signature of its key")


def _is_cosigned(key: Key, note: str, line: str) -> bool:
    """Return whether a line is the signature of a note by this key. Raises Unproven where it claims to
    be and is wrong.
    """
    try:
        if (key.name, key.hash) not in signers_of(f"x\n\n{line}"):
            return False
    except Unproven:
        return False
    Signed.of(note + line, [*checkpoints.house_keys(), key], is_signed)
    return True


def _post(witness: Witness, checkpoint: Checkpoint, old: int) -> tuple[int, str]:
    proof = tree.consistency_proof(StoredTiles(), old, checkpoint.size)
    question = "".join([f"old {old}\n", *(f"{b64encode(step).decode()}\n" for step in proof), "\n", checkpoint.note])
    line = open_line(witness.address)
    return in_time(partial(_talk, line, witness.address, question.encode()), lambda: line.sock)


def _talk(line: HTTPConnection, address: SplitResult, question: bytes) -> tuple[int, str]:
    """Send the request and return status and text of the answer. Raises OSError, HTTPException, ValueError."""
    try:
        headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
        line.request("POST", f"{address.path.rstrip('/')}/add-checkpoint", question, headers)
        answer = line.getresponse()
        return answer.status, answer.read(LONGEST).decode()
    finally:
        line.close()


def _lines(checkpoint: Checkpoint) -> Iterator[tuple[str, str]]:
    """Yield the configured witnesses that have cosigned a checkpoint, by name, each with its line.

    Rows with another line are ignored, because anyone who can write to the table could have added
    them.
    """
    try:
        keys = {witness.name: witness.key for witness in configured()}
    except InvalidWitness:
        return
    rows = (
        Cosignature.objects.filter(checkpoint=checkpoint, witness__in=keys).exclude(line="").order_by("witness", "pk")
    )
    done = set()
    for name, line in rows.values_list("witness", "line"):
        try:
            if name not in done and _is_cosigned(keys[name], checkpoint.note, line):
                done.add(name)
                yield name, line
        except Unproven:
            continue


def witnessed() -> Checkpoint | None:
    """Return the largest checkpoint that enough witnesses have cosigned; None without one."""
    quorum = settings.AUDIT_WITNESS_QUORUM
    if not quorum:
        return None
    enough = Cosignature.objects.exclude(line="").values("checkpoint").annotate(n=Count("witness", distinct=True))
    for size in enough.filter(n__gte=quorum).order_by("-checkpoint").values_list("checkpoint", flat=True)[:10]:
        for checkpoint in checkpoints.latest(1, below=size + 1):
            if checkpoint.size == size and len(list(_lines(checkpoint))) >= quorum:
                return checkpoint
    return None


@dataclass(frozen=True)
class Lag:
    """Time of the oldest checkpoint that is larger than every cosigned one (None without any), and its
    age in seconds by the database's clock.
    """

    since: datetime | None
    seconds: int

    @property
    def is_long(self) -> bool:
        """True if the lag is longer than ``AUDIT_WITNESS_SECONDS``."""
        return self.seconds > settings.AUDIT_WITNESS_SECONDS


def lag(cosigned: Checkpoint | None) -> Lag:
    """Return how long checkpoints larger than *cosigned* lack cosignatures; none where no witness is needed."""
    if not settings.AUDIT_WITNESS_QUORUM:
        return Lag(None, 0)
    larger = Checkpoint.objects.filter(size__gt=cosigned.size if cosigned else 0).order_by("size")
    found = larger.annotate(now=Clock()).values_list("at", "now").first()
    return Lag(found[0], max(int((found[1] - found[0]).total_seconds()), 0)) if found else Lag(None, 0)


def check() -> None:
    """Raise the alarm when too few witnesses cosign for long, and end it when enough do (`alarms.UNWITNESSED`)."""
    cosigned = witnessed()
    found, size = lag(cosigned), cosigned.size if cosigned else 0
    if found.is_long and found.since:
        data = {"needed": settings.AUDIT_WITNESS_QUORUM, "seconds": found.seconds, "since": found.since.isoformat()}
        alarms.begin(alarms.UNWITNESSED, data | {"size": size})
    elif not found.is_long:
        alarms.end(alarms.UNWITNESSED, {"size": size})


def published() -> tuple[Checkpoint, str] | None:
    """Return the checkpoint that the public log shows, and its note with the cosignatures that it has.

    It is the largest one that enough witnesses have cosigned, or that is ``AUDIT_WITNESS_SECONDS`` old:
    so the log goes on without its witnesses, and never shows a smaller tree than before. Where no
    witness is needed, it is the last one. None where nothing is signed.
    """
    if settings.AUDIT_WITNESS_QUORUM:
        waited = Clock() - timedelta(seconds=settings.AUDIT_WITNESS_SECONDS)
        old = next(checkpoints.counting(Checkpoint.objects.filter(at__lt=waited).order_by("-size")[:1]), None)
        chosen = max(filter(None, (witnessed(), old)), key=lambda each: each.size, default=None)
    else:
        chosen = checkpoints.last()
    return (chosen, chosen.note + "".join(line for _name, line in _lines(chosen))) if chosen else None


@dataclass(frozen=True)
class Record:
    """State of a witness: the last tree that it cosigned and when, and why it has not cosigned since."""

    name: str
    vkey: str
    size: int | None
    at: datetime | None
    failed_at: datetime | None
    failure: str


def records() -> list[Record]:
    """Return the state of each witness, none where the setting is invalid."""
    try:
        return [_record(witness) for witness in configured()]
    except InvalidWitness:
        return []


def _record(witness: Witness) -> Record:
    answers = Cosignature.objects.filter(witness=witness.name).order_by("-pk")
    last, newest = answers.exclude(line="").first(), answers.first()
    failed = newest if newest and newest.failure else None
    return Record(
        witness.key.name,
        witness.key.vkey,
        last.checkpoint_id if last else None,
        last.at if last else None,
        failed.at if failed else None,
        failed.failure if failed else "",
    )
