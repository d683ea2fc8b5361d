"""Rounds whose result the player has not been shown yet, for example after a lost connection.

A response that shows a round sets a cookie with the round's id. When the cookie comes back, the
page has arrived. Until then the seat keeps the round as unseen, and the next page shows a notice
about it. In doubt, for example in another browser, the notice is shown once more.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from audit.raw_rows import columns, fetch_all, instance
from games.betting.error_messages import examined, finished_unseen
from games.models import SoloSeat
from games.rounds.verification_queue import is_readable
from games.solo.page import participation
from games.tables.presentation import Notice
from players.models import Player

COOKIE = "sabot_shown"
UNSEEN = f"""
SELECT {columns(SoloSeat, "solo_seat")} FROM games_soloseat AS solo_seat
WHERE player_id = %s AND unseen IS NOT NULL ORDER BY id
"""  # noqa: S608  (nothing but names of our own columns)
MOST = 8  # rounds that the cookie names: enough for that many tables at once


def known(request: HttpRequest) -> tuple[UUID, ...]:
    """Return the rounds that this browser has proved to have shown, latest first."""
    return _ids(request.COOKIES.get(COOKIE, ""))


def remember(response: HttpResponse, request: HttpRequest, rounds: Iterable[UUID]) -> None:
    """Set the cookie that proves with the next request that the browser got *response* with these rounds."""
    shown = known(request)
    new = [each for each in rounds if each not in shown]
    if new:
        value = ".".join(str(each) for each in [*new, *shown][:MOST])
        response.set_cookie(COOKIE, value, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE)


def result_notices(seats: Iterable[SoloSeat], request: HttpRequest, language: str) -> dict[UUID, Notice]:
    """Return a notice for every unseen round at *seats*; clear the rounds that were shown."""
    shown, found = known(request), {}
    for seat in seats:
        if seat.unseen in shown:
            SoloSeat.objects.filter(pk=seat.pk, unseen=seat.unseen).update(unseen=None)
        elif seat.unseen and (notice := _notice(seat.unseen, seat.player_id, language)):
            found[seat.unseen] = notice
    return found


def unseen_by(player: Player) -> Iterable[SoloSeat]:
    """Return the player's seats with a round that may not have been shown."""
    return [instance(SoloSeat, row) for row in fetch_all(UNSEEN, [player.pk])]


def _notice(round_id: UUID, player_id: int, language: str) -> Notice | None:
    """Return the notice for a round. A voided round has its own notice elsewhere."""
    part = participation(round_id, player_id)
    if part is None or hasattr(part.round, "void"):
        return None
    return finished_unseen(part, language) if is_readable(part) else examined(part)


_parsed = lru_cache(maxsize=4096)(UUID)  # all but one were in the cookie before


@lru_cache(maxsize=64)
def _ids(text: str) -> tuple[UUID, ...]:
    """Return the ids in a cookie, which is read several times for a request."""
    ids: list[UUID] = []
    with suppress(ValueError):
        for word in text.split(".")[:MOST]:
            ids.append(_parsed(word))  # noqa: PERF401  (ids before an invalid one count)
    return tuple(ids)
