"""Erasure of personal data leaves all proofs of events valid."""

import io
import zipfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from accounts import retention
from audit import log
from audit.models import Event, Personal, RetainedData
from audit.verification import export as exporting
from audit.verification.verify import Export, keys_of
from players.account import closures
from players.models import Player
from tests.ageing import age
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.builders import a_player


@pytest.fixture
def pens(settings: LazySettings) -> Pens:
    """Two keys that the house trusts."""
    pens = Pens()
    settings.AUDIT_KEYS = pens.keys
    return pens


@pytest.fixture
def gone(cloned_db: object, pens: Pens) -> Player:
    """A player with a closed account; the log was sealed and signed since."""
    player = a_player()
    log.record("x.y", by=str(player), on=str(player), data={}, personal={"name": "Somebody", "ip": "192.0.2.1"})
    closures.begin(player=player, ip="192.0.2.1")
    closures.finish(player=player, by="system")
    sealed.sign(pens)
    return player


def check(keys: Path) -> str:
    """Return the output of verify_house."""
    out = io.StringIO()
    with suppress(CommandError):
        call_command("verify_house", "--keys", str(keys), stdout=out)
    return out.getvalue()


def an_export(folder: Path, name: str) -> Path:
    """Export the whole log to a file."""
    path = folder / name
    path.write_bytes(b"".join(exporting.export(exporting.part(), by="auditor", personal=True)))
    return path


def wrong_in(export: Path, pens: Pens) -> list[str]:
    """Return the faults that `verify.py` finds in an export."""
    found = Export(export, keys_of(pens.keys))
    found.check()
    return found.wrong


def test_erasing_a_person_leaves_every_proof_valid(gone: Player, owner: psycopg.Connection, pens: Pens, tmp_path: Path):
    keys = tmp_path / "keys"
    keys.write_text(pens.keys)
    bodies = {event.pk: bytes(event.body) for event in Event.objects.all()}
    assert "The log is verified" in check(keys)
    before = an_export(tmp_path, "before.zip")
    age(owner, "players_closure", "at", 1827)
    assert retention.expire()[RetainedData.ACCOUNT] == 1
    assert not Personal.objects.filter(event__on=str(gone)).exists()
    assert "The log is verified" in check(keys)
    after = an_export(tmp_path, "after.zip")  # of the tree signed before the erasure
    sealed.sign(pens)
    later = an_export(tmp_path, "later.zip")
    assert [wrong_in(export, pens) for export in (before, after, later)] == [[], [], []]
    assert {event.pk: bytes(event.body) for event in Event.objects.filter(pk__in=bodies)} == bodies
    assert "Somebody" in personal_in(before)
    assert "Somebody" not in personal_in(after)


def personal_in(export: Path) -> str:
    """Return the personal values in an export."""
    return zipfile.ZipFile(export).read("personal").decode()


def test_what_is_gone_without_an_erasure_on_record_is_found(gone: Player, cloned_db, pens: Pens, tmp_path: Path):
    keys = tmp_path / "keys"
    keys.write_text(pens.keys)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as thief:
        thief.execute("DELETE FROM audit_personal WHERE field = 'name'")
    assert "no record says that it was erased" in check(keys)


def test_expired_data_is_distinguished_from_erased_data(
    cloned_db, owner: psycopg.Connection, pens: Pens, tmp_path: Path
):
    keys = tmp_path / "keys"
    keys.write_text(pens.keys)
    for _ in range(2):
        an_old_event(owner)
    sealed.sign(pens)
    assert retention.expire()[RetainedData.ADDRESS] == 2
    assert list(Personal.objects.values_list("field", flat=True)) == ["name", "name"]
    assert "The log is verified" in check(keys)


def an_old_event(owner: psycopg.Connection) -> None:
    """Insert an event as written three years ago."""
    written = log.event("x.y", by="player:1", on="player:1", data={}, personal={"ip": "192.0.2.1", "name": "Ö"})
    at = datetime.now(UTC) - timedelta(days=3 * 365)
    for name, then, changes in (
        ("audit_append", "append_then", [("FROM clock_timestamp()", f"FROM (VALUES (timestamptz '{at}'))")]),
        ("audit_write", "recorded_then", [("audit_append", "append_then")]),
    ):
        ((source,),) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [name]).fetchall()
        for old, new in [(name, then), *changes]:
            assert old in source, f"{name} has no {old}"
            source = source.replace(old, new)
        owner.execute(source)
    owner.execute("SELECT recorded_then(%s, %s, %s, %s, %s::jsonb)", [*vars(written).values()])
