"""Status page of the event log: the tree, the checkpoints, the keys, and events not yet sealed."""

import base64
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from audit.models import Checkpoint, Pending
from audit.sealing import alarms, checkpoint_delivery, checkpoints, keys, lag, sealer
from audit.verification.verify import Unproven

SHOWN: Final = 20  # checkpoints on the page


@dataclass(frozen=True)
class Signed:
    """A checkpoint as a line of the page."""

    size: int
    root: str  # in base64, as in the note
    at: datetime
    note: str

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "Signed":
        """Return the line for a checkpoint."""
        root = base64.b64encode(bytes(checkpoint.root)).decode()
        return cls(checkpoint.size, root, checkpoint.at, checkpoint.note)


@dataclass(frozen=True)
class Refusal:
    """Refusal by the signer: since when, why, and the size of the tree it refused."""

    since: datetime
    reason: str
    size: int
    signed: int


@require_safe
def log_state(request: HttpRequest) -> HttpResponse:
    """Show the status of the log. The calling view checks permissions."""
    signed = [Signed.of(each) for each in checkpoints.latest(SHOWN)]
    leaves = sealer.leaves()
    waiting = Pending.objects.count()
    found = lag.lag()
    vkeys, fault = _keys()
    refusal = _refusal()
    places = [checkpoint_delivery.record(place) for place in settings.AUDIT_CHECKPOINTS_TO]
    is_unsigned = bool(refusal or fault or found.is_long)
    context = {
        "is_signed": bool(signed) and not is_unsigned,
        "is_wrong": is_unsigned or not places or any(place.failures for place in places),
        "signed": signed,
        "last": signed[0] if signed else None,
        "age": in_words(timezone.now() - signed[0].at) if signed else "",
        "leaves": leaves,
        "uncovered": leaves - (signed[0].size if signed else 0),
        "waiting": waiting,
        "lag": found,
        "lags_for": in_words(timedelta(seconds=found.seconds)),
        "longest_lag": settings.AUDIT_LAG_SECONDS,
        "refusal": refusal,
        "keys": vkeys,
        "fault": fault,
        "places": places,
    }
    return render(request, "audit/log.html", context)


def in_words(time: timedelta) -> str:
    """Return a time span in words. Longer spans use larger units."""
    seconds = max(int(time.total_seconds()), 0)
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def _keys() -> tuple[str, str]:
    """Return the keys that the house trusts, one per line, and the error found in them."""
    try:
        return "\n".join(key.vkey for key in keys.known()), ""
    except Unproven as error:
        return "", str(error)


def _refusal() -> Refusal | None:
    event = alarms.begun(alarms.REFUSED)
    if event is None:
        return None
    said = json.loads(bytes(event.body))["data"]
    return Refusal(event.at, said["reason"], said["size"], said["signed"])
