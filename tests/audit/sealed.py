"""A log of some hundreds of events with its tree and signed checkpoints, created once and copied by
each test.
"""

import time
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
from django.db import connections

from audit import log, tree
from audit.models import Checkpoint, Leaf
from audit.sealing import sealer
from audit.verification.checking import StoredTiles
from tests.audit.signing import Pens
from tests.harness.databases import Database

SIZES = (10, 256, 300, 600)  # of the signed trees; the events after the last one wait
WAITING = 5


def fill(database: Database, pens: Pens) -> None:
    """Write events, seal them, and sign the tree at the sizes in SIZES."""
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


def an_event(number: int) -> int:
    """Write an event of one of several kinds and return its id."""
    if number % 20 == 13:
        return log.record(
            "login.done", by="player:13", on="player:13", data={}, personal={"ip": "192.0.2.7", "agent": 'Ö "x"\n'}
        )
    if number % 20 == 7:
        return log.record("login.done", by="player:7", on="player:7", data={"n": number}, personal={"ip": "192.0.2.8"})
    return log.record("round.counted", by="player:7", on=f"round:{uuid4()}", data={"n": number, "å": 'a "word"'})


def sign(pens: Pens, seconds: int | None = None) -> str:
    """Seal the waiting events, sign the tree, and store the checkpoint."""
    size, at = sealer.seal().size, int(time.time()) if seconds is None else seconds
    tiles = StoredTiles()
    root = tree.root(tiles, size)
    note = pens.note(size, root, at)
    Checkpoint.objects.create(size=size, root=root, at=datetime.fromtimestamp(at, UTC), note=note)
    return note


def event_of(leaf: int) -> int:
    """Return the id of the event that is this leaf."""
    return Leaf.objects.get(leaf=leaf).event_id
