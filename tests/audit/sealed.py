"""A log of some hundreds of events with its tree and signed checkpoints, made once for all who tamper with a copy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
from django.db import connections
from django.test import override_settings

from audit import log, sealing, tree
from audit.models import Checkpoint, Leaf
from audit.tree.tiles import StoredTiles
from tests import old_months
from tests.audit.signing import Pens
from tests.harness.databases import Database

SIZES = (10, 256, 300, 600)  # of the signed trees; the events after the last one wait
WAITING = 5
SEPTEMBER, OCTOBER = old_months.beginning(2025, 9), old_months.beginning(2025, 10)
EACH = 300  # events of a month: of September leaves 0 to 299, of October 300 to 599, and as many of this month
CUT = 512  # the beginning of the tile in which those of this month begin


def fill(database: Database, pens: Pens) -> None:
    """Write events, seal them and sign the tree now and then."""
    before = 0
    for size in SIZES:
        for number in range(before, size):
            an_event(number)
        sign(pens)
        before = size
    for number in range(before, before + WAITING):
        an_event(number)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("SELECT audit_erase('player:13')")
    an_event(13)
    connections.close_all()  # so that the database can be copied


@contextmanager
def months_ago(database: Database) -> Iterator[psycopg.Connection]:
    """Have the house begin in September 2025, with no event yet; give the owner's connection."""
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("TRUNCATE audit_event, audit_pending, audit_personal")
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        old_months.make(owner, SEPTEMBER)
        yield owner


def fill_months(owner: psycopg.Connection, pens: Pens, *months: datetime | None) -> None:
    """Write `EACH` events for each of the months, or for that which it is where it is None, and sign the tree."""
    for month in months:
        if month:
            old_months.go_to(owner, month)
        else:
            owner.execute("SELECT audit_keep_months('audit_event', 0)")
        for number in range(EACH):
            an_event(number)
        sign(pens)


def leave_months(owner: psycopg.Connection, pens: Pens) -> None:
    """Have September and October go to archives."""
    with override_settings(AUDIT_KEYS=pens.keys.replace("\n", ",")):
        old_months.leave_events(owner, OCTOBER)
    sign(pens)


def an_event(number: int) -> int:
    """Write one of several kinds and return its id."""
    if number % 20 == 13:
        return log.record(
            "login.done", by="player:13", on="player:13", data={}, personal={"ip": "192.0.2.7", "agent": 'Ö "x"\n'}
        )
    if number % 20 == 7:
        return log.record("login.done", by="player:7", on="player:7", data={"n": number}, personal={"ip": "192.0.2.8"})
    return log.record("round.settled", by="player:7", on=f"round:{uuid4()}", data={"n": number, "å": 'a "word"'})


def sign(pens: Pens, seconds: int | None = None) -> str:
    """Make leaves of what waits, which the house does without a signer too, sign the tree, and keep the checkpoint."""
    size, at = sealing.seal().size, int(time.time()) if seconds is None else seconds
    tiles = StoredTiles()
    root = tree.root(tiles, size)
    note = pens.note(size, root, at)
    Checkpoint.objects.create(size=size, root=root, at=datetime.fromtimestamp(at, UTC), note=note)
    return note


def event_of(leaf: int) -> int:
    """Return the id of the event that is this leaf."""
    return Leaf.objects.get(leaf=leaf).event_id
