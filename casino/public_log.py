"""The public event log under ``/log/``, a C2SP tlog-tiles log that anybody reads without a token.

Its files never change once they are there, except the checkpoint, so caches may keep them: full
tiles for ever, tiles that still grow for a day. The entries hold no personal values.
"""

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from audit.verification.public_files import NotThere, Tile, checkpoint, content
from casino.middleware import keep_for_everybody
from players.access import made_by_the_page
from players.rates import at_the_pace_of_mirrors

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
