"""A month that is long over leaves the database for a file that proves itself; the house goes on, and is verified as
before. Whoever dies on the way, or finds something amiss, leaves the month where it was.
"""

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from pytest_django import DjangoDbBlocker, Settings

from audit import partitions
from audit import tasks as audit_tasks
from audit.models import ArchivedMonth, Event
from games.chemin import closing
from games.models import CheminSeat
from ops.archive import leaving, verify_archive
from ops.archive.errors import NotTheArchive, NotYet
from tests import old_months
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.harness import databases
from tests.harness.databases import Database
from tests.old_months import beginning
from tests.played import House
from wallet import tasks as wallet_tasks
from wallet.ledger import hourly_totals
from wallet.models import Account, Entry, Journal

PAST: Final = (beginning(2025, 1), beginning(2025, 2))
# What happened just now happened so many days ago: rows, the bytes of events, and the days of players.
LONG_AGO: Final = """
    UPDATE wallet_journal SET at = at - make_interval(days => %(days)s) WHERE id >= %(first)s AND id < %(beyond)s;
    UPDATE audit_event SET at = at - make_interval(days => %(days)s), body = convert_to('{"at":"'
        || to_char(at AT TIME ZONE 'UTC' - make_interval(days => %(days)s), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        || substr(convert_from(body, 'UTF8'), 35), 'UTF8') WHERE id >= %(first)s AND id < %(beyond)s;
    UPDATE wallet_day SET day = day - %(days)s WHERE day > current_date - 3;
"""


# So that every hour is summed up, of which these have anything.
SUMMED_UP: Final = """
    INSERT INTO audit_rolled (sums, hour, rows)
    SELECT 'wallet.moved', hour, 0
    FROM generate_series(%(since)s::timestamptz, now() - interval '1 hour', '1 hour') AS hour
"""
HOURS: Final = "SELECT DISTINCT date_trunc('hour', at, 'UTC') FROM wallet_journal WHERE id < %(beyond)s"


@pytest.fixture(scope="module")
def pens() -> Pens:
    """Two keys, with which the log is signed."""
    return Pens()


@pytest.fixture(scope="module")
def base(django_db_setup: object, django_db_blocker: DjangoDbBlocker, pens: Pens) -> Iterator[tuple[Database, House]]:
    """A house that played in two months that are long over, and plays now; a round goes on at each turn. Nobody is
    connected to it, so that it can be copied.
    """
    with django_db_blocker.unblock(), databases.clone("months") as database:
        with (
            psycopg.connect(database.owner_url, autocommit=True) as owner,
            psycopg.connect(database.superuser_url, autocommit=True, cursor_factory=psycopg.ClientCursor) as superuser,
        ):
            house = play(owner, superuser)
        sealed.sign(pens)
        connections.close_all()
        yield database, house


@pytest.fixture
def here(
    base: tuple[Database, House], django_db_blocker: DjangoDbBlocker, pens: Pens, settings: Settings
) -> Iterator[Database]:
    """A copy of it."""
    settings.AUDIT_KEYS = pens.keys
    with django_db_blocker.unblock(), databases.clone("month", like=base[0].name) as database:
        yield database


@pytest.fixture
def house(here: Database, base: tuple[Database, House]) -> House:
    """Whoever plays there."""
    return base[1]


@pytest.fixture
def owner(here: Database) -> Iterator[psycopg.Connection]:
    """Log in as the owner of the tables."""
    with psycopg.connect(here.owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def superuser(here: Database) -> Iterator[psycopg.Connection]:
    """Log in as who can do everything, with triggers out of the way."""
    with psycopg.connect(here.superuser_url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def play(owner: psycopg.Connection, superuser: psycopg.Connection) -> House:
    """Play in months that are long over, and in this one."""
    superuser.execute("SET session_replication_role = replica")
    old_months.make(owner, PAST[0])
    house: House | None = None
    for month in PAST:
        old_months.go_to(owner, month)
        house = house or House()
        send_banks_home()
        house.play(1)
        first = partitions.block(month)
        days = (datetime.now(UTC) - month - timedelta(days=10)).days
        superuser.execute(LONG_AGO, {"days": days, "first": first, "beyond": first + (1 << partitions.SHIFT)})
    assert house
    sum_up(superuser)
    wallet_tasks.keep_months()
    audit_tasks.keep_months()
    send_banks_home()
    house.play(1)
    return house


def sum_up(superuser: psycopg.Connection) -> None:
    """Sum up the hours of the past, and have all that are over count as such."""
    past: dict[str, Any] = {"first": 0, "beyond": partitions.FIRST, "since": PAST[0]}
    for (hour,) in superuser.execute(HOURS, past).fetchall():
        superuser.execute(hourly_totals.ROLL, {**past, "since": hour, "until": hour + timedelta(hours=1)})
    superuser.execute(SUMMED_UP, past)


def send_banks_home() -> None:
    """What lies in banks of the month before goes home in this one."""
    for table in {seat.live_table_id for seat in CheminSeat.objects.filter(left_at=None)}:
        closing.break_up(live_table_id=table, reason="The month is over.", by="system")


def archive(folder: Path) -> Path:
    """Have the oldest month leave, and return the file."""
    call_command("archive_month", str(folder), stdout=io.StringIO())
    return folder / ArchivedMonth.objects.latest("beyond").file


def said(command: str, *arguments: str) -> str:
    """What a command says; it ends well."""
    out = io.StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


def balances() -> dict[int, tuple[int | None, int]]:
    """What lies on every account, and after how many entries."""
    return {each.pk: (each.balance, each.version) for each in Account.objects.all()}


class TestAMonthThatLeft:
    @pytest.mark.sweep
    def test_is_in_a_file_and_no_longer_here_and_everything_that_is_left_is_whole(
        self, house: House, tmp_path: Path, pens: Pens
    ):
        before = balances()
        for month in PAST:
            first = partitions.block(month)
            counts = [Event.objects.filter(pk__range=(first, first + (1 << 32) - 1)).count()]
            counts += [Journal.objects.filter(pk__range=(first, first + (1 << 32) - 1)).count()]
            file = archive(tmp_path)
            row = ArchivedMonth.objects.get(month=f"{month:%Y-%m}")
            assert [row.events, row.journals] == counts
            assert all(counts)
            assert row.sha256 == sha256(file.read_bytes()).hexdigest()
            assert not Journal.objects.filter(pk__lt=row.beyond).exists()
            assert not Entry.objects.filter(journal_id__lt=row.beyond).exists()
            assert not Event.objects.filter(pk__lt=row.beyond).exists()
            assert balances() == before
            assert "broken" not in said("verify_ledger")
            assert "All sums agree with their rows." in said("verify_sums")
            sealed.sign(pens)
            assert "The log is what it was" in said("verify_audit")
            assert f"is the archive of {row.month}" in said("verify_archive", str(file))
        house.play(1)
        assert "broken" not in said("verify_ledger")

    def test_is_verified_by_somebody_who_has_nothing_but_the_file_and_python(
        self, house: House, tmp_path: Path, pens: Pens
    ):
        file = archive(tmp_path)
        folder, keys = tmp_path / "outside", tmp_path / "keys"
        with zipfile.ZipFile(file) as packed:
            packed.extractall(folder)
        keys.write_text(pens.keys)
        done = run(folder, file, "--keys", str(keys))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "All that was checked is proven." in done.stdout
        assert re.search(r"[1-9]\d* journals with [1-9]\d* entries are whole", done.stdout)
        assert re.search(r"Leaves 0 to [1-9]\d* are here", done.stdout)
        assert "The log of the month was not checked: give --keys." in run(folder, file).stdout

    @pytest.mark.sweep
    def test_leads_on_to_the_next_one_account_by_account(self, house: House, tmp_path: Path):
        first, second = (accounts_of(archive(tmp_path)) for _ in PAST)
        both = first.keys() & second.keys()
        assert both
        assert all(first[each]["closing"] == second[each]["opening"] for each in both)
        assert all(first[each]["opening"] == [0, 0] for each in first)

    def test_stands_apart_until_it_is_let_go_by_whoever_has_the_file(
        self, house: House, tmp_path: Path, owner: psycopg.Connection, here: Database
    ):
        file = archive(tmp_path)
        assert [*apart(owner)] == ["audit_event_2025_01", "wallet_entry_2025_01", "wallet_journal_2025_01"]
        with psycopg.connect(here.web_url) as web, pytest.raises(psycopg.errors.InsufficientPrivilege):
            web.execute("SELECT FROM archived.wallet_entry_2025_01")
        other = tmp_path / "other.zip"
        other.write_bytes(file.read_bytes()[:-1])
        with pytest.raises(CommandError, match="none has its SHA-256"):
            call_command("archive_month", "--drop", str(other))
        assert len(apart(owner)) == len(leaving.TABLES)
        assert "2025-01 has gone" in said("archive_month", "--drop", str(file))
        assert not apart(owner)
        with pytest.raises(CommandError, match="has gone already"):
            call_command("archive_month", "--drop", str(file))
        assert "broken" not in said("verify_ledger")


@pytest.mark.sweep
class TestAMonthStays:
    def test_while_it_is_young(self, house: House, tmp_path: Path, owner: psycopg.Connection):
        archive(tmp_path)
        archive(tmp_path)
        with pytest.raises(CommandError, match=r"is the oldest month that is here, and may go from \d{4}-\d\d-\d\d on"):
            call_command("archive_month", str(tmp_path))

    def test_while_it_is_not_sealed(self, house: House, tmp_path: Path, superuser: psycopg.Connection):
        superuser.execute(
            "INSERT INTO audit_event (id, kind, by, \"on\", body, at) SELECT max(id) + 1, 'a', 'b', 'c', 'd', min(at)"
            " FROM audit_event WHERE id < %s",
            [partitions.block(PAST[1])],
        )
        with pytest.raises(CommandError, match="is in no signed tree"):
            call_command("archive_month", str(tmp_path))
        nothing_left(tmp_path)

    def test_while_its_hours_are_not_summed_up(self, house: House, tmp_path: Path, superuser: psycopg.Connection):
        superuser.execute("DELETE FROM audit_rolled WHERE hour > %s", [PAST[0] + timedelta(days=5)])
        with pytest.raises(CommandError, match="is not summed up since 2025-01-06 01:00 UTC"):
            call_command("archive_month", str(tmp_path))
        nothing_left(tmp_path)

    def test_while_the_ledger_is_not_whole(self, house: House, tmp_path: Path, superuser: psycopg.Connection):
        superuser.execute("UPDATE wallet_account SET balance = balance + 1 WHERE id = (SELECT min(id) FROM"
                          " wallet_account WHERE balance > 0)")  # fmt: skip
        with pytest.raises(CommandError, match="The ledger is not whole"):
            call_command("archive_month", str(tmp_path))
        nothing_left(tmp_path)

    def test_where_the_file_lies_already_or_cannot_lie(self, house: House, tmp_path: Path):
        (tmp_path / "sabot-2025-01.zip").write_text("somebody's")
        with pytest.raises(CommandError, match="is there already"):
            call_command("archive_month", str(tmp_path))
        assert (tmp_path / "sabot-2025-01.zip").read_text() == "somebody's"
        with pytest.raises(CommandError, match="cannot be written"):
            call_command("archive_month", str(tmp_path / "nowhere"))
        assert not ArchivedMonth.objects.exists()

    def test_while_somebody_reads_it_and_play_waits_no_longer_than_half_a_second(
        self, house: House, tmp_path: Path, here: Database, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(leaving, "TRIES", 2)
        with psycopg.connect(here.web_url) as reader:
            reader.execute("SELECT FROM wallet_entry LIMIT 1")
            with pytest.raises(CommandError, match="A table is in use"):
                call_command("archive_month", str(tmp_path))
        nothing_left(tmp_path)
        archive(tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda journal: journal["entries"][0].__setitem__(2, journal["entries"][0][2] + 1), "sums to 1"),
        (lambda journal: journal.__setitem__("kind", "gift"), "it is not what was asked for under its key"),
        (lambda journal: journal["entries"].pop(), "sums to"),
        (lambda journal: journal["entries"][-1].__setitem__(3, 7), "which should hold"),
        (lambda journal: journal["entries"][-1].__setitem__(4, 70), "is not here, later ones are"),
        (lambda journal: journal.__setitem__("id", partitions.block(PAST[1])), "is not of this month"),
    ],
)
def test_an_archive_that_somebody_changed_is_found_out(
    house: House, tmp_path: Path, damage: Callable[[dict[str, Any]], None], words: str
):
    """Even by who has no house, and though the manifest is made to agree."""
    file = archive(tmp_path)
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(file) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    first, rest = files[verify_archive.JOURNALS].split(b"\n", 1)
    journal = json.loads(first)
    damage(journal)
    files[verify_archive.JOURNALS] = json.dumps(journal).encode() + b"\n" + rest
    with zipfile.ZipFile(changed, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    found = verify_archive.Archive(changed)
    found.check()
    assert found.wrong == [f"{verify_archive.JOURNALS} is not the file that the manifest names"]

    manifest = json.loads(files[verify_archive.MANIFEST])
    manifest["files"][verify_archive.JOURNALS] = sha256(files[verify_archive.JOURNALS]).hexdigest()
    files[verify_archive.MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(changed, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    found = verify_archive.Archive(changed)
    found.check()
    assert any(words in sentence for sentence in found.wrong), found.wrong
    with pytest.raises(NotTheArchive, match="none has its SHA-256"):
        leaving.row_of(changed)


def test_no_month_is_said_to_have_left_but_the_next_one_as_the_log_says(house: House, owner: psycopg.Connection):
    row = (
        "INSERT INTO audit_archived"
        " (month, first, beyond, since, until, events, journals, file, sha256, event_id, said)"
        " SELECT '2025-01', 0, %s, now(), now(), 0, 0, 'x.zip', 'x', id, body FROM audit_event ORDER BY id DESC LIMIT 1"
    )
    with pytest.raises(psycopg.errors.RestrictViolation, match="is not archived as the log says"):
        owner.execute(row, [partitions.block(PAST[1])])


def test_whoever_dies_on_the_way_leaves_the_month_where_it_was(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Died(BaseException):
        """As a process ends that is killed: nothing is caught."""

    def dies(*_: object) -> None:
        raise Died

    for step in ("_record", "_take_out", "_sync"):
        with monkeypatch.context() as patched:
            patched.setattr(leaving, step, dies)
            with pytest.raises(Died):
                leaving.leave(tmp_path, lambda _: None)
        assert not ArchivedMonth.objects.exists()
        assert Journal.objects.filter(pk__lt=partitions.block(PAST[1])).exists()
        assert "broken" not in said("verify_ledger")
        for left in tmp_path.glob("*.zip"):
            left.unlink()
    for _ in PAST:
        leaving.leave(tmp_path, lambda _: None)
    with pytest.raises(NotYet):
        leaving.leave(tmp_path, lambda _: None)
    assert ArchivedMonth.objects.count() == len(PAST)


def run(folder: Path, file: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the program that lies in an archive, isolated from everything."""
    command = [sys.executable, "-I", str(folder / "verify_archive.py"), str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def accounts_of(file: Path) -> dict[int, dict[str, Any]]:
    """The accounts that an archive tells of."""
    with zipfile.ZipFile(file) as packed:
        lines = packed.read(verify_archive.ACCOUNTS).splitlines()
    return {each["account"]: each for each in map(json.loads, lines)}


def apart(owner: psycopg.Connection) -> list[str]:
    """The tables that stand apart."""
    found = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'archived' ORDER BY 1").fetchall()
    return [name for (name,) in found]


def nothing_left(folder: Path) -> None:
    """See that no month has gone and no file stays."""
    assert not ArchivedMonth.objects.exists()
    assert not [*folder.glob("sabot-*")]
