"""Stores a visitor's demo game in the session on the server.

Seeds of future rounds are encrypted by the dealer, as for players. A change locks the session row and
reads it again, so two clicks of one browser run one after the other.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction

from games.betting.rules import Slip
from games.deals import Commitment
from games.demo.play import DemoRound, DemoSeat
from games.engine.settle import Line, Result
from games.tables.presentation import Notice
from players.login.sessions import row_key
from players.models import BrowserSession

KEY = "demo_game"  # key in the session


class NoDemo(Exception):
    """The visitor has not confirmed their age in this session, or the session has ended."""


@dataclass
class Notes:
    """The demo game of a visitor who has confirmed their age: seats, and the last round watched."""

    demo_seats: dict[str, DemoSeat] = field(default_factory=dict)  # by table slug
    watched: dict[str, DemoRound] = field(default_factory=dict)  # by table slug
    notice: Notice | None = None  # shown by the next page after a redirect


def read(session: SessionBase) -> Notes | None:
    """Return the demo game of the session; None if the visitor has not confirmed their age.

    If another release wrote the data in a different format, only the age confirmation is kept.
    """
    stored = session.get(KEY)
    if stored is None:
        return None
    try:
        return _notes(stored)
    except (AttributeError, KeyError, TypeError, ValueError):
        return Notes()


def begin(session: SessionBase) -> None:
    """Start a demo game for a visitor who has confirmed their age. An existing game stays."""
    if KEY not in session:
        session[KEY] = _stored(Notes())
        session.save()  # creates the row that is locked later


def forget(session: SessionBase) -> None:
    """Delete the demo game, because a logged-in player has none."""
    session.pop(KEY, None)


@contextmanager
def changing(session: SessionBase) -> Iterator[Notes]:
    """Context manager for changing the demo game; saves it unless an error is raised.

    Raises NoDemo.
    """
    with transaction.atomic():
        BrowserSession.objects.select_for_update().filter(pk=row_key(session.session_key or "")).first()
        now = type(session)(session.session_key)
        notes = read(now)
        if notes is None:
            raise NoDemo
        yield notes
        now[KEY] = _stored(notes)
        now.save()
    if session.modified:
        session[KEY] = now[KEY]  # the middleware saves this session too, for its cookie


def _stored(notes: Notes) -> dict[str, Any]:
    return {
        "demo_seats": {slug: _stored_demo_seat(demo_seat) for slug, demo_seat in notes.demo_seats.items()},
        "watched": {slug: _stored_round(watched) for slug, watched in notes.watched.items()},
        "notice": asdict(notes.notice) if notes.notice else None,
    }


def _notes(stored: dict[str, Any]) -> Notes:
    return Notes(
        demo_seats={slug: _demo_seat(demo_seat) for slug, demo_seat in stored["demo_seats"].items()},
        watched={slug: _round(watched) for slug, watched in stored["watched"].items()},
        notice=Notice(**stored["notice"]) if stored["notice"] else None,
    )


def _stored_demo_seat(demo_seat: DemoSeat) -> dict[str, Any]:
    return vars(demo_seat) | {
        "next": {
            "round_id": str(demo_seat.next.round_id),
            "commitment": demo_seat.next.commitment,
            "sealed": demo_seat.next.sealed.hex(),
            "rules": demo_seat.next.rules,
        },
        "slip": {"stakes": dict(demo_seat.slip.stakes), "earlier": [dict(stakes) for stakes in demo_seat.slip.earlier]},
        "last_stakes": dict(demo_seat.last_stakes),
        "last": _stored_round(demo_seat.last) if demo_seat.last else None,
    }


def _demo_seat(stored: dict[str, Any]) -> DemoSeat:
    coming, slip, last = stored["next"], stored["slip"], stored["last"]
    return DemoSeat(
        **stored
        | {
            "next": Commitment(
                UUID(coming["round_id"]), coming["commitment"], bytes.fromhex(coming["sealed"]), coming["rules"]
            ),
            "slip": Slip(slip["stakes"], tuple(slip["earlier"])),
            "last": _round(last) if last else None,
        }
    )


def _stored_round(played: DemoRound) -> dict[str, Any]:
    return vars(played) | {"id": str(played.id), "lines": [list(line) for line in played.lines]}


def _round(stored: dict[str, Any]) -> DemoRound:
    lines = tuple(
        Line(bet, stake, payout, commission, Result(result))
        for bet, stake, payout, commission, result in stored["lines"]
    )
    return DemoRound(**stored | {"id": UUID(stored["id"]), "lines": lines})
