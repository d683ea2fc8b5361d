"""The public event log under ``/log/``, a C2SP tlog-tiles log that anybody reads without a token, and the
page about it.

Its files never change once they are there, except the checkpoint, so caches may keep them: full
tiles for ever, tiles that still grow for a day. The entries hold no personal values.
"""

from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from audit.sealing import alarms, witnesses
from audit.verification.public_files import NotThere, Tile, checkpoint, content
from casino.middleware import keep_for_everybody
from players.access import made_by_the_page
from players.rates import at_the_pace_of_mirrors

COMMAND: Final = "python3 mirror_log.py {0} FOLDER --keys KEYS"
NOTE: Final = "text/plain; charset=utf-8"
DATA: Final = "application/octet-stream"
FULL: Final = "public, max-age=31536000, immutable"
PARTIAL: Final = "public, max-age=86400, immutable"
CHECKPOINT: Final = "public, max-age=5"  # a new one comes every five seconds


@made_by_the_page
@require_safe
@at_the_pace_of_mirrors
def log_checkpoint(request: HttpRequest) -> HttpResponse:
    """Send the last checkpoint, with the signatures of the log and of its witnesses."""
    try:
        note = checkpoint()
    except NotThere as error:
        raise Http404 from error
    return keep_for_everybody(HttpResponse(note, content_type=NOTE), CHECKPOINT)


@made_by_the_page
@require_safe
@at_the_pace_of_mirrors
def log_tile(request: HttpRequest, level: str, tile: str) -> HttpResponse:
    """Send a tile of hashes, or the entries below one, no wider than the last checkpoint allows."""
    try:
        asked = Tile.of(tile)
        found = content(level, asked)
    except NotThere as error:
        raise Http404 from error
    return keep_for_everybody(HttpResponse(found, content_type=DATA), FULL if asked.is_full else PARTIAL)


@require_safe
def public_log(request: HttpRequest) -> HttpResponse:
    """Show the last checkpoint and its witnesses, and how to keep a copy of the log."""
    signed, note = witnesses.published() or (None, "")
    house = request.build_absolute_uri("/").rstrip("/")
    origin, _size, root = note.split("\n")[:3] if note else ("", "", "")
    context = {
        "signed": signed,
        "note": note,
        "origin": origin,
        "root": root,
        "witnesses": witnesses.records(),
        "quorum": settings.AUDIT_WITNESS_QUORUM,
        "is_unwitnessed": alarms.begun(alarms.UNWITNESSED) is not None,
        "command": COMMAND.format(house),
        "address": house + reverse("log_checkpoint").removesuffix("checkpoint"),
    }
    return render(request, "log.html", context)
