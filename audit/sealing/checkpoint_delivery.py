"""Delivery of checkpoints to a file, a mailbox or an address of the operator's choice, where nobody
who holds the keys can change them. Only checkpoints kept outside can show that the log was not
rewritten.

``AUDIT_CHECKPOINTS_TO`` lists the destinations, one per line. Each attempt adds a row when it
begins, and another with the reason for the failure, empty on success.
"""

import logging
import os
import re
import secrets
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from smtplib import SMTPException
from typing import Final, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.validators import validate_email
from django.db import connection, transaction

from audit.models import Checkpoint, Clock, Delivery
from audit.sealing import checkpoints

logger = logging.getLogger(__name__)

T = TypeVar("T")

SECONDS: Final = 20  # total time limit of an HTTP or mail delivery
FIRST_PAUSE: Final = timedelta(minutes=1)  # before the first retry; doubles with each further failure
LONGEST_FAILURE: Final = 500  # characters of the reason that are stored
UNDER_WAY: Final = "under way"  # of an attempt that has begun
LOST: Final = "the worker that tried it reported no result"
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class NoDestination(Exception):
    """An entry of ``AUDIT_CHECKPOINTS_TO`` is not a valid destination; the message says why."""


class NotDelivered(Exception):
    """The destination has not accepted the checkpoint; the message says why."""


@dataclass(frozen=True)
class Record:
    """Delivery state of a destination: the last checkpoint delivered and when; the failures since,
    with the time and reason of the last one; and the start of an attempt in progress.
    """

    destination: str
    size: int | None
    at: datetime | None
    failures: int
    failed_at: datetime | None
    failure: str
    under_way_since: datetime | None


def destination_for(destination: str) -> Callable[[Checkpoint], None]:
    """Return a function that delivers a checkpoint to *destination*: ``file:/folder``,
    ``mailto:someone@example.com``, ``https://…`` (posted as text), or ``http://`` on this machine.
    The function raises NotDelivered. Raises NoDestination.
    """
    try:
        address = urlsplit(destination)
        _ = address.port
    except ValueError as error:
        raise NoDestination(f"{shown(destination)} is no address") from error
    if address.scheme == "file" and not address.netloc and address.path.startswith("/"):
        return lambda checkpoint: _write(Path(unquote(address.path)), checkpoint)
    if address.scheme == "mailto":
        try:
            validate_email(address.path)
        except ValidationError as error:
            raise NoDestination(f"{shown(destination)} is no mailbox") from error
        return lambda checkpoint: _mail(address.path, checkpoint)
    if address.hostname and (address.scheme == "https" or (address.scheme == "http" and address.hostname in LOOPBACK)):
        return lambda checkpoint: _post(address, checkpoint)
    raise NoDestination(f"{shown(destination)} is no place: it takes file:/folder, mailto:address or https://address")


def shown(destination: str) -> str:
    """Return a destination for display and storage, without user, password, query and fragment,
    which may be secret.
    """
    before, slashes, rest = re.split("[?#]", destination, maxsplit=1)[0].partition("//")
    host, slash, path = rest.partition("/")
    return f"{before}{slashes}{host.rpartition('@')[2]}{slash}{path}"


def due() -> list[str]:
    """Return the destinations that are due the last checkpoint: those that never got one, those
    whose last one is ``AUDIT_CHECKPOINT_SECONDS`` old, and those whose pause after a failure is
    over.
    """
    last = checkpoints.last()
    if last is None:
        return []
    now = Checkpoint.objects.values_list(Clock(), flat=True).get(pk=last.pk)
    return [
        destination
        for destination, found in ((destination, record(destination)) for destination in settings.AUDIT_CHECKPOINTS_TO)
        if found.size != last.pk and now >= _next(found, now)
    ]


def send(destination: str) -> Delivery | None:
    """Deliver the last checkpoint to *destination* and return the result; None where it is not due or
    another worker is delivering.

    No lock or transaction is held during delivery. A row marks the attempt as in progress and
    expires after `FIRST_PAUSE`.
    """
    claimed = _claim(destination)
    if claimed is None or claimed.failure == LOST:
        return claimed
    try:
        destination_for(destination)(claimed.checkpoint)
    except (NoDestination, NotDelivered) as error:
        failure = str(error)
    except Exception as error:
        logger.exception("no checkpoint for %s", shown(destination))
        failure = type(error).__name__  # its message may contain a secret of the destination
    else:
        failure = ""
    return _enter(claimed.checkpoint, destination, failure)


@transaction.atomic
def _claim(destination: str) -> Delivery | None:
    """Return a row that marks the attempt as in progress; None where none is due. If the last
    attempt never ended, return a row with `LOST` instead.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(1013, hashtext(%s))", [shown(destination)])
    checkpoint = checkpoints.last()
    if checkpoint is None or destination not in due():
        return None
    last = Delivery.objects.filter(to=shown(destination)).order_by("-pk").first()
    return _enter(checkpoint, destination, LOST if last and last.failure == UNDER_WAY else UNDER_WAY)


def _enter(checkpoint: Checkpoint, destination: str, failure: str) -> Delivery:
    said = "".join(each if each.isprintable() else " " for each in failure)[:LONGEST_FAILURE]
    return Delivery.objects.create(checkpoint=checkpoint, to=shown(destination), failure=said)


def record(destination: str) -> Record:
    """Return the delivery state of *destination*."""
    tries = Delivery.objects.filter(to=shown(destination)).order_by("-pk")
    arrived = tries.filter(failure="").first()
    since = tries.filter(pk__gt=arrived.pk if arrived else 0)
    failed = since.exclude(failure__in=("", UNDER_WAY))
    claimed, last = since.filter(failure=UNDER_WAY).first(), failed.first()
    return Record(
        shown(destination),
        arrived.checkpoint_id if arrived else None,
        arrived.at if arrived else None,
        failed.count(),
        last.at if last else None,
        last.failure if last else "",
        claimed.at if claimed and (last is None or last.pk < claimed.pk) else None,
    )


def _next(found: Record, now: datetime) -> datetime:
    """Return when to try a destination that lacks the last checkpoint."""
    every = timedelta(seconds=settings.AUDIT_CHECKPOINT_SECONDS)
    if found.under_way_since:
        return found.under_way_since + FIRST_PAUSE
    if found.failed_at:
        return found.failed_at + min(FIRST_PAUSE * 2 ** min(found.failures - 1, 20), every)
    return found.at + every if found.at else now


def _write(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the note to a new file; existing files are not overwritten. Raises NotDelivered."""
    path = folder / f"checkpoint-{checkpoint.size:012}.txt"
    draft = folder / f".{path.name}.{secrets.token_hex(8)}"
    try:
        with draft.open("x") as file:
            file.write(checkpoint.note)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError as error:
            if path.read_text() != checkpoint.note:
                raise NotDelivered(f"{path} is there and is another checkpoint") from error
    except OSError as error:
        raise NotDelivered(f"{folder}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _mail(address: str, checkpoint: Checkpoint) -> None:
    """Send the note as an e-mail, in the text and as an attachment. Raises NotDelivered."""
    origin, _, _ = checkpoint.note.partition("\n")
    line = get_connection()
    mail = EmailMessage(
        f"Checkpoint of {origin}: {checkpoint.size} events",
        f"Keep this: it shows later that the event log of {origin} was not rewritten.\n\n{checkpoint.note}",
        settings.DEFAULT_FROM_EMAIL,
        [address],
        connection=line,
    )
    mail.attach(f"checkpoint-{checkpoint.size:012}.txt", checkpoint.note, "text/plain")
    try:
        in_time(mail.send, lambda: getattr(getattr(line, "connection", None), "sock", None))
    except (OSError, SMTPException, ValueError) as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error


def _post(address: SplitResult, checkpoint: Checkpoint) -> None:
    """Post the note. Any status other than 2xx is a failure, including a redirect. Raises
    NotDelivered.

    Only the status line of the response is used.
    """
    line = open_line(address)
    try:
        answer = in_time(partial(_talk, line, address, checkpoint.note.encode()), lambda: line.sock)
    except (OSError, HTTPException, ValueError) as error:  # the message may contain a secret
        why = getattr(error, "strerror", None) or "nothing more is known"
        raise NotDelivered(f"{type(error).__name__}: {why}") from None
    if answer not in range(200, 300):
        raise NotDelivered(f"answered {answer}")


def in_time(talk: Callable[[], T], line: Callable[[], socket.socket | None]) -> T:
    """Return what *talk* returns and raise what it raises; NotDelivered where it takes longer than
    `SECONDS`.

    A socket timeout limits each single wait, so a server that answers one byte at a time would
    never run into it. Therefore a thread does the work and this one enforces the limit. *line*
    returns the socket in use, None before there is one.
    """
    said: Future[T] = Future()

    def answer() -> None:
        try:
            said.set_result(talk())
        except Exception as error:  # noqa: BLE001  (a thread has nobody to raise to)
            said.set_exception(error)

    threading.Thread(target=answer, daemon=True).start()
    try:
        return said.result(SECONDS)
    except TimeoutError as error:
        if said.done():
            raise
        if talking := line():
            with suppress(OSError):
                talking.shutdown(socket.SHUT_RDWR)
        raise NotDelivered(f"no answer within {SECONDS} seconds") from error


def open_line(address: SplitResult) -> HTTPConnection:
    """Return a connection that is not open yet. Proxies and passwords from the environment are not used."""
    host = str(address.hostname)
    if address.scheme == "http":
        return HTTPConnection(host, address.port, timeout=SECONDS)
    import requests  # imported here because it would make every command start a tenth slower

    trusted = ssl.create_default_context(cafile=requests.utils.DEFAULT_CA_BUNDLE_PATH)
    return HTTPSConnection(host, address.port, timeout=SECONDS, context=trusted)


def _talk(line: HTTPConnection, address: SplitResult, note: bytes) -> int:
    """Post the note and return the status. Raises OSError, HTTPException, ValueError."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
    if address.username is not None:
        secret = f"{unquote(address.username)}:{unquote(address.password or '')}"
        headers["Authorization"] = f"Basic {b64encode(secret.encode()).decode()}"
    target = f"{address.path or '/'}{'?' * bool(address.query)}{address.query}"
    try:
        line.request("POST", target, note, headers)
        return line.getresponse().status
    finally:
        line.close()
