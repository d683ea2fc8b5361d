"""Checkpoints leave the house: to a file, a mailbox or an address of the operator's choice, where nobody who holds the
keys can change them. Only what lies outside shows that the log was not written anew.

Each place has a line of its own in ``AUDIT_CHECKPOINTS_TO``, and each try a row that says when and why it failed.
"""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from smtplib import SMTPException
from typing import Final
from urllib.parse import unquote, urlsplit

import requests
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import connection, transaction

from audit.models import Checkpoint, Clock, Delivery

SECONDS: Final = 20  # that a place may take to answer
FIRST_PAUSE: Final = timedelta(minutes=1)  # before a place that failed is tried again; each one after is twice as long
LONGEST_FAILURE: Final = 500  # characters of the reason that are kept
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class NoPlace(Exception):
    """What is written in ``AUDIT_CHECKPOINTS_TO`` is nowhere that a checkpoint could go; the message says why."""


class NotDelivered(Exception):
    """The place has not taken the checkpoint; the message says why."""


@dataclass(frozen=True)
class Record:
    """How a place stands: the last checkpoint that it has and when it got it, and how often it has failed since, the
    last time when and why.
    """

    place: str
    size: int | None
    at: datetime | None
    failures: int
    failed_at: datetime | None
    failure: str


def place_of(place: str) -> Callable[[Checkpoint], None]:
    """Return what brings a checkpoint to *place*: ``file:/folder``, ``mailto:someone@example.com``, ``https://…``, to
    which it is posted as text, or ``http://`` on this machine. What is returned raises NotDelivered. Raises NoPlace.
    """
    address = urlsplit(place)
    if address.scheme == "file" and not address.netloc and address.path.startswith("/"):
        return lambda checkpoint: _write(Path(unquote(address.path)), checkpoint)
    if address.scheme == "mailto":
        try:
            validate_email(address.path)
        except ValidationError as error:
            raise NoPlace(f"{place} is no mailbox") from error
        return lambda checkpoint: _mail(address.path, checkpoint)
    if address.scheme == "https" and address.hostname:
        return lambda checkpoint: _post(place, checkpoint)
    if address.scheme == "http" and address.hostname in LOOPBACK:
        return lambda checkpoint: _post(place, checkpoint)
    raise NoPlace(f"{place} is no place: it takes file:/folder, mailto:address or https://address")


def due() -> list[str]:
    """Return the places that should get the last checkpoint now: those that never had one, those whose last one is
    ``AUDIT_CHECKPOINT_SECONDS`` old, and those that failed once their pause is over.
    """
    last = Checkpoint.objects.order_by("-size").annotate(now=Clock()).first()
    if last is None:
        return []
    found = (record(place) for place in settings.AUDIT_CHECKPOINTS_TO)
    return [each.place for each in found if each.size != last.pk and last.now >= _next(each, last.now)]


def send(place: str) -> Delivery | None:
    """Bring the last checkpoint to *place* and return how that went; None where it is not due or another worker is at
    it.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(1013, hashtext(%s))", [place])
            (is_free,) = cursor.fetchone()
        checkpoint = Checkpoint.objects.order_by("-size").first()
        if not is_free or checkpoint is None or place not in due():
            return None
        try:
            place_of(place)(checkpoint)
        except (NoPlace, NotDelivered) as error:
            return Delivery.objects.create(checkpoint=checkpoint, to=place, failure=str(error)[:LONGEST_FAILURE])
        return Delivery.objects.create(checkpoint=checkpoint, to=place)


def record(place: str) -> Record:
    """Return how *place* stands."""
    tries = Delivery.objects.filter(to=place).order_by("-pk")
    arrived = tries.filter(failure="").first()
    failed = tries.filter(pk__gt=arrived.pk if arrived else 0).exclude(failure="")
    last = failed.first()
    return Record(
        place,
        arrived.checkpoint_id if arrived else None,
        arrived.at if arrived else None,
        failed.count(),
        last.at if last else None,
        last.failure if last else "",
    )


def _next(found: Record, now: datetime) -> datetime:
    """Return when a place should be tried, once there is a checkpoint that it does not have."""
    every = timedelta(seconds=settings.AUDIT_CHECKPOINT_SECONDS)
    if found.failed_at:
        return found.failed_at + min(FIRST_PAUSE * 2 ** min(found.failures - 1, 20), every)
    return found.at + every if found.at else now


def _write(folder: Path, checkpoint: Checkpoint) -> None:
    """Put the note into a file of its own, which is never written over. Raises NotDelivered."""
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
        finally:
            draft.unlink()
    except OSError as error:
        raise NotDelivered(f"{folder}: {error.strerror}") from error


def _mail(address: str, checkpoint: Checkpoint) -> None:
    """Send the note as a mail, and attached to it, byte for byte. Raises NotDelivered."""
    origin, _, _ = checkpoint.note.partition("\n")
    mail = EmailMessage(
        f"Checkpoint of {origin}: {checkpoint.size} events",
        f"Keep this: it shows later that the event log of {origin} was not rewritten.\n\n{checkpoint.note}",
        settings.DEFAULT_FROM_EMAIL,
        [address],
    )
    mail.attach(f"checkpoint-{checkpoint.size:012}.txt", checkpoint.note, "text/plain")
    try:
        mail.send()
    except (OSError, SMTPException, ValueError) as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error


def _post(address: str, checkpoint: Checkpoint) -> None:
    """Post the note; anything but a success is a failure, to be sent elsewhere as well. Raises NotDelivered."""
    kind = {"Content-Type": "text/plain; charset=utf-8"}
    try:
        answer = requests.post(
            address, data=checkpoint.note.encode(), headers=kind, timeout=SECONDS, allow_redirects=False
        )
    except requests.RequestException as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error
    if answer.status_code not in range(200, 300):
        raise NotDelivered(f"answered {answer.status_code} {answer.reason}")
