"""Where a guest's game lives: in the session, which stays on the server; the browser holds nothing but its key.

A seed that is still to be played lies there as ciphertext, as a player's does. Two clicks of one browser come one after
the other: a change holds the session's row, and reads it anew.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction

from games.betting.rules import Slip
from games.demo.play import GuestPlace, GuestRound
from games.engine.settle import Line, Result
from games.seeds import SealedSeed, resealed
from games.tables.presentation import Notice
from players.login.session_store import row_key

KEY = "guest"  # of the session


class NoGuest(Exception):
    """This session has confirmed no age, or is no more."""


@dataclass
class Notes:
    """All that is known of a guest, who has confirmed their age: a place per table, and the round last watched."""

    places: dict[str, GuestPlace] = field(default_factory=dict)  # table's slug -> place
    watched: dict[str, GuestRound] = field(default_factory=dict)  # table's slug -> round
    notice: Notice | None = None  # waits for the page after a redirect


def read(session: SessionBase) -> Notes | None:
    """Return what the session knows, None where its visitor is no guest yet. Of what another release of the program has
    written there in its own way, only the confirmed age is left.
    """
    stored = session.get(KEY)
    if stored is None:
        return None
    try:
        return _notes(stored)
    except (AttributeError, KeyError, TypeError, ValueError):
        return Notes()


def begin(session: SessionBase) -> None:
    """Make a guest of a visitor who has confirmed their age; of a guest, nothing new."""
    if KEY not in session:
        session[KEY] = _stored(Notes())
        session.save()  # so that there is a row to hold


def forget(session: SessionBase) -> None:
    """End the guest's game: whoever logs in is no guest."""
    session.pop(KEY, None)


@contextmanager
def changing(session: SessionBase) -> Iterator[Notes]:
    """Give a guest's notes to change; they are kept where nothing is raised. Raises NoGuest."""
    with transaction.atomic():
        Session.objects.select_for_update().filter(pk=row_key(session.session_key or "")).first()
        now = type(session)(session.session_key)
        notes = read(now)
        if notes is None:
            raise NoGuest
        yield notes
        now[KEY] = _stored(notes)
        now.save()
    if session.modified:
        session[KEY] = now[KEY]  # the middleware writes this one too, for its cookie


def reseal(known: dict[str, Any]) -> bool:
    """Bring the seeds in what a session knows under the first key; say whether there was one to bring. Raises
    cryptography's InvalidTag.
    """
    stored, changed = known.get(KEY) or {}, False
    for place in stored.get("places", {}).values():
        coming = place.get("next", {})
        if {"round_id", "sealed"} <= coming.keys():
            new = resealed(UUID(coming["round_id"]), bytes.fromhex(coming["sealed"]))
            if new is not None:
                coming["sealed"], changed = new.hex(), True
    return changed


def _stored(notes: Notes) -> dict[str, Any]:
    return {
        "places": {slug: _stored_place(place) for slug, place in notes.places.items()},
        "watched": {slug: _stored_round(watched) for slug, watched in notes.watched.items()},
        "notice": asdict(notes.notice) if notes.notice else None,
    }


def _notes(stored: dict[str, Any]) -> Notes:
    return Notes(
        places={slug: _place(place) for slug, place in stored["places"].items()},
        watched={slug: _round(watched) for slug, watched in stored["watched"].items()},
        notice=Notice(**stored["notice"]) if stored["notice"] else None,
    )


def _stored_place(place: GuestPlace) -> dict[str, Any]:
    return vars(place) | {
        "next": {
            "round_id": str(place.next.round_id),
            "commitment": place.next.commitment,
            "sealed": place.next.sealed.hex(),
        },
        "slip": {"stakes": dict(place.slip.stakes), "earlier": [dict(stakes) for stakes in place.slip.earlier]},
        "last_stakes": dict(place.last_stakes),
        "last": _stored_round(place.last) if place.last else None,
    }


def _place(stored: dict[str, Any]) -> GuestPlace:
    coming, slip, last = stored["next"], stored["slip"], stored["last"]
    return GuestPlace(
        **stored
        | {
            "next": SealedSeed(UUID(coming["round_id"]), coming["commitment"], bytes.fromhex(coming["sealed"])),
            "slip": Slip(slip["stakes"], tuple(slip["earlier"])),
            "last": _round(last) if last else None,
        }
    )


def _stored_round(played: GuestRound) -> dict[str, Any]:
    return vars(played) | {"id": str(played.id), "lines": [list(line) for line in played.lines]}


def _round(stored: dict[str, Any]) -> GuestRound:
    lines = tuple(
        Line(bet, stake, payout, commission, Result(result))
        for bet, stake, payout, commission, result in stored["lines"]
    )
    return GuestRound(**stored | {"id": UUID(stored["id"]), "lines": lines})
