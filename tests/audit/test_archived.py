"""The log when its oldest months have gone to archives: whole as a tree, and honest about the events that have gone."""

import io
import subprocess
import sys
import zipfile

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from audit import archiving, log, partitions
from audit.models import ArchivedEvent, Checkpoint, Event, Leaf
from audit.tree import mirror, proofs
from audit.verification import export
from audit.verification.verify import Unproven, tile_path
from tests import old_months
from tests.audit import sealed
from tests.audit.sealed import CUT, EACH, OCTOBER, SEPTEMBER
from tests.harness import databases
from tests.harness.sweeps import sample

FILES = ("sabot-before.zip", "sabot-2025-09.zip", "sabot-2025-10.zip")


@pytest.fixture(scope="module")
def base(django_db_setup, django_db_blocker, pens):
    """A house of three months, of which two have gone. Nobody is connected to it, so that it can be copied."""
    with django_db_blocker.unblock(), databases.clone("archived") as database:
        with sealed.months_ago(database) as owner:
            sealed.fill_months(owner, pens, SEPTEMBER, OCTOBER, None)
            sealed.leave_months(owner, pens)
        connections.close_all()
        yield database


@pytest.fixture(autouse=True)
def believed(settings, pens):
    settings.AUDIT_KEYS = pens.keys.replace("\n", ",")


def said(command, *arguments):
    out = io.StringIO()
    call_command(command, *map(str, arguments), stdout=out)
    return out.getvalue()


class TestWhatIsKept:
    def test_leaves_and_tiles_are_whole(self, house):
        assert (
            Leaf.objects.count() == 3 * EACH + 3
        )  # and the months that have gone, the one before all months with them
        assert Event.objects.count() == EACH + 3

    @pytest.mark.sweep
    def test_events_that_share_a_tile_with_those_that_remain_are_whole(self, house):
        assert archiving.begins() == CUT
        kept = ArchivedEvent.objects.filter(body__isnull=False)
        leaves = Leaf.objects.filter(event__in=kept.values("pk")).values_list("leaf", flat=True)
        assert sorted(leaves) == [*range(256, EACH), *range(CUT, 2 * EACH)]  # at the end of September, and of October

    @pytest.mark.sweep
    def test_of_others_with_personal_values_it_is_known_whose_they_are(self, house):
        event = sealed.event_of(13)
        kept = ArchivedEvent.objects.get(pk=event)
        assert (kept.by, kept.on, kept.body) == ("player:13", "player:13", None)
        assert not ArchivedEvent.objects.filter(pk=sealed.event_of(14)).exists()

    def test_a_month_with_an_event_that_is_in_no_signed_tree_stays(self, house):
        log.record("round.settled", by="player:7", on="round:1", data={})
        first = partitions.block(old_months.beginning(2026, 11))
        with (
            connection.cursor() as cursor,
            pytest.raises(archiving.NotSealedYet, match=r"event \d+ is in no signed tree"),
        ):
            archiving.demand_sealed(cursor, first, first * 2)

    @pytest.mark.sweep
    def test_its_leaves_are_those_from_the_beginning_of_a_tile(self, house):
        first = partitions.block(OCTOBER)
        with connection.cursor() as cursor:
            assert archiving.leaves(cursor, first, first + 2**32) == range(256, 2 * EACH)
            assert archiving.leaves(cursor, 5, 6) == range(0)


class TestPersonalValues:
    def test_of_archived_events_are_erased_with_the_others(self, house):
        with psycopg.connect(house.owner_url, autocommit=True) as owner:
            assert owner.execute("SELECT audit_erase('player:13')").fetchone() == (3 * 15 * 2,)

    def test_of_archived_events_expire(self, house):
        with psycopg.connect(house.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute("UPDATE audit_archived_event SET at = at - interval '3 years'")
            superuser.execute("SET session_replication_role = origin")
            assert superuser.execute("SELECT audit_expire('address', 1000)").fetchone() == (2 * 30,)


class TestExports:
    @pytest.mark.sweep
    def test_the_whole_log_is_what_is_here(self, house, pens, tmp_path):
        told = said("export_audit", tmp_path / "log.zip")
        size = Checkpoint.objects.latest("size").size
        assert told.splitlines() == [
            f"Leaves {CUT} to {size - 1} of {size} are in {tmp_path / 'log.zip'}.",
            f"The events below leaf {CUT} have gone to archives: {', '.join(FILES)}.",
        ]
        (tmp_path / "keys").write_text(pens.keys)
        with zipfile.ZipFile(tmp_path / "log.zip") as archive:
            (tmp_path / "verify.py").write_bytes(archive.read("verify.py"))
            assert "2025-09  sabot-2025-09.zip\n         SHA-256 " in archive.read("README.txt").decode()
        done = subprocess.run(
            [sys.executable, "-I", "-S", tmp_path / "verify.py", tmp_path / "log.zip", "--keys", tmp_path / "keys"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout
        assert f"Leaves {CUT} to {size - 1} are here, of leaves 0 to {size - 1} there are." in done.stdout

    @pytest.mark.sweep
    def test_with_personal_values_prove_themselves(self, house, pens, tmp_path):
        said("export_audit", tmp_path / "log.zip", "--personal")
        with zipfile.ZipFile(tmp_path / "log.zip") as archive:
            assert archive.read("personal")

    def test_what_has_gone_is_refused_and_never_cut_short(self, house, tmp_path):
        with pytest.raises(
            CommandError, match=r"^leaf 300 has gone to the archive of 2025-10, the file sabot-2025-10\.zip\.$"
        ):
            said("export_audit", tmp_path / "log.zip", "--from", 300)
        assert not (tmp_path / "log.zip").exists()

    @pytest.mark.sweep
    def test_an_event_that_is_not_there_breaks_an_export_off(self, house, tamper):
        tamper.execute("DELETE FROM audit_event WHERE id = %s", [sealed.event_of(700)])
        with pytest.raises(Unproven, match="the event of leaf 700 is not there"):
            export.bundle(512, 768)

    @pytest.mark.sweep
    def test_an_event_of_the_shared_tile_is_exported_by_itself(self, house):
        assert export.export_event(sealed.event_of(CUT))

    @pytest.mark.sweep
    def test_an_event_that_has_gone_is_told_by_its_file_and_proven_all_the_same(self, house):
        event = sealed.event_of(300)
        with pytest.raises(
            archiving.Archived, match=rf"^event {event} has gone to the archive of 2025-10, the file sab"
        ):
            export.export_event(event)
        assert proofs.proof_of(event).startswith("c2sp.org/tlog-proof@v1\nindex 300\n")

    @pytest.mark.sweep
    def test_an_event_that_never_was_has_not_gone(self, house):
        with pytest.raises(Event.DoesNotExist):
            archiving.body_of(5)


class TestMirrors:
    @pytest.mark.sweep
    def test_have_all_hashes_and_the_entries_that_are_here(self, house):
        assert len(mirror.tile(0, "000")) == 256 * 32
        assert mirror.entries("002", by="staff:1")
        with pytest.raises(archiving.Archived):
            mirror.entries("001", by="staff:1")
        assert tile_path("entries", 1) == "tile/entries/001"


def put_in_again(tamper, event, like):
    """Give the month of an event that has gone a table again, with that event in it."""
    tamper.execute("CREATE TABLE put_in_again (LIKE audit_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    tamper.execute(
        'INSERT INTO put_in_again (id, at, kind, by, "on", body) SELECT %s, at, kind, by, "on", body'
        " FROM audit_event WHERE id = %s",
        [event, like],
    )
    first = partitions.block(SEPTEMBER)
    tamper.execute(
        f"ALTER TABLE audit_event ATTACH PARTITION put_in_again FOR VALUES FROM ({first}) TO ({first + 2**32})"
    )


class TestVerification:
    @pytest.mark.sweep
    def test_says_what_only_tiles_speak_for(self, house, pens, tmp_path):
        (tmp_path / "keys").write_text(pens.keys)
        size = Checkpoint.objects.latest("size").size
        told = said("verify_audit", "--keys", tmp_path / "keys")
        gone = 256 + (CUT - EACH)  # the end of September shares a tile with the beginning of October, which came later
        assert (
            f"{size - gone} of {size} leaves hashed, {gone} held by tiles alone, whose events are in archives," in told
        )

    def test_finds_nothing_in_a_log_that_nobody_touched(self, house, check):
        assert check() == []
        assert check("--from", 700) == []

    def test_an_event_that_was_taken_out_has_not_gone_to_an_archive(self, house, tamper, check):
        event = sealed.event_of(700)
        tamper.execute("DELETE FROM audit_event WHERE id = %s", [event])
        assert f"event {event}, leaf 700: the event is not there; it was taken out after it was sealed." in check()

    @pytest.mark.sweep
    def test_a_leaf_cannot_be_made_one_of_an_archive(self, house, tamper, check):
        event, month = sealed.event_of(700), partitions.block(SEPTEMBER)
        tamper.execute("DELETE FROM audit_event WHERE id = %s", [event])
        tamper.execute("UPDATE audit_leaf SET event_id = %s WHERE leaf = 700", [month + 5000])
        found = check()
        assert "301 leaves are of events in the archive of 2025-09; it has 300: leaves were moved." in found
        assert any(
            "leaf 700: the event has gone to an archive and is not kept; it shares a tile" in each for each in found
        )

    def test_a_tile_of_archived_leaves_that_was_changed_is_found(self, house, tamper, check):
        tamper.execute(
            "UPDATE audit_tile SET hashes = set_byte(hashes, 100, get_byte(hashes, 100) # 1)"
            " WHERE level = 0 AND number = 0"
        )
        assert any("says" in each and "of tile 0 below it" in each for each in check())

    @pytest.mark.sweep
    def test_a_dropped_leaf_of_an_archived_event_is_found(self, house, tamper, check):
        tamper.execute("DELETE FROM audit_leaf WHERE leaf = 100")
        found = check()
        assert "leaf 100: leaves 100 to 100 are not there; 1 events were taken out." in found
        assert "299 leaves are of events in the archive of 2025-09; it has 300: leaves were moved." in found

    @pytest.mark.sweep
    def test_an_event_that_was_put_in_again_is_found(self, house, tamper, check):
        event = sealed.event_of(100)
        put_in_again(tamper, event, sealed.event_of(700))
        found = check()
        assert f"event {event}: 1 events of 2025-09 are here, from this one on; they have gone to an archive." in found
        assert f"event {event}, leaf 100: the event of leaf 700 stands here; the order was changed." in found

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("column", "value"),
        sample([("file", "other.zip"), ("sha256", "00"), ("events", 301), ("journals", 7), ("first", 3)], 1),
    )
    def test_a_column_of_an_archive_that_says_something_else_is_found(self, house, tamper, check, column, value):
        tamper.execute(f"UPDATE audit_archived SET {column} = %s WHERE month = '2025-09'", [value])
        assert any(
            f"{column}: the archive of 2025-09 has {value!r} in its row; its event says" in each for each in check()
        )

    def test_an_archive_whose_event_was_changed_is_found(self, house, tamper, check):
        tamper.execute(
            "UPDATE audit_archived SET file = 'other.zip',"
            " said = convert_to(replace(convert_from(said, 'UTF8'), file, 'other.zip'), 'UTF8') WHERE month = '2025-09'"
        )
        (found,) = check()
        assert "what the archive of 2025-09 has as its event hashes to " in found

    @pytest.mark.sweep
    def test_an_archive_that_no_event_speaks_of_is_found(self, house, tamper, check):
        """Who takes out a month of events and says that it has gone has to have the log say so."""
        beyond = partitions.block(old_months.beginning(2026, 12))
        tamper.execute(
            "INSERT INTO audit_archived"
            " (month, first, beyond, since, until, events, journals, file, sha256, event_id, said)"
            " SELECT '2026-11', beyond, %s, since, until, 0, 0, file, sha256, 77, said"
            " FROM audit_archived WHERE month = '2025-10'",
            [beyond],
        )
        found = check()
        assert "event 77: the archive of 2026-11 is in no event; its row was put in: the log does not say it." in found
        assert any("the archive of 2026-11 has something else as its event" in each for each in found)

    def test_a_month_that_is_left_out_is_found(self, house, tamper, check):
        tamper.execute("DELETE FROM audit_archived WHERE month = '2025-09'")
        first, due = partitions.block(OCTOBER), partitions.block(SEPTEMBER)
        assert f"first: the archive of 2025-10 begins with {first}; those before it end before {due}." in check()

    @pytest.mark.sweep
    def test_the_last_month_that_is_left_out_is_found(self, house, tamper, check):
        tamper.execute("DELETE FROM audit_archived WHERE month = '2025-10'")
        event = sealed.event_of(300)
        assert f"event {event}, leaf 300: the event is not there; it was taken out after it was sealed." in check()

    def test_a_kept_event_that_was_changed_is_found(self, house, tamper, check):
        event = sealed.event_of(CUT)
        tamper.execute(
            "UPDATE audit_archived_event SET body = set_byte(body, 60, get_byte(body, 60) # 1) WHERE event_id = %s",
            [event],
        )
        assert any(each.startswith(f"event {event}, leaf {CUT}, body: its body hashes to ") for each in check())

    @pytest.mark.sweep
    @pytest.mark.parametrize(("column", "value"), sample([("by", "x"), ("on", "x"), ("at", "2026-11-20 12:00Z")], 1))
    def test_a_column_of_a_kept_event_that_says_something_else_is_found(self, house, tamper, check, column, value):
        event = sealed.event_of(CUT)
        tamper.execute(f'UPDATE audit_archived_event SET "{column}" = %s WHERE event_id = %s', [value, event])
        assert any(
            each.startswith(f"event {event}, leaf {CUT}, {column}: ") and "stands in the row; the event says" in each
            for each in check()
        )

    def test_a_kept_event_that_was_taken_out_is_missed(self, house, tamper, check):
        event = sealed.event_of(CUT)
        tamper.execute("DELETE FROM audit_archived_event WHERE event_id = %s", [event])
        (found,) = check()
        assert found.startswith(f"event {event}, leaf {CUT}: the event has gone to an archive and is not kept;")

    @pytest.mark.sweep
    def test_one_that_is_kept_as_archived_and_has_not_gone_is_found(self, house, tamper, check):
        event = sealed.event_of(700)
        tamper.execute(
            "INSERT INTO audit_archived_event (event_id, at, by, \"on\") VALUES (%s, now(), 'x', 'x')", [event]
        )
        assert check() == [f"event {event}: it is kept as one that has gone to an archive; it has not gone to any."]

    @pytest.mark.sweep
    def test_a_personal_value_that_nobody_could_erase_is_found(self, house, tamper, check):
        event = sealed.event_of(13)
        tamper.execute("DELETE FROM audit_archived_event WHERE event_id = %s", [event])
        of = f"event {event}"
        assert check() == [
            f"{of}, {field}: a personal value of an archived event stands alone; nobody could erase it any more."
            for field in ("agent", "ip")
        ]

    @pytest.mark.sweep
    def test_a_personal_value_of_a_kept_event_that_was_changed_is_found(self, house, tamper, check):
        event = sealed.event_of(513)
        tamper.execute("UPDATE audit_personal SET value = 'x' WHERE event_id = %s AND field = 'ip'", [event])
        (found,) = check()
        assert f"event {event}, leaf 513, ip: the personal value that stands was changed or put in" in found

    @pytest.mark.sweep
    def test_what_was_erased_after_its_month_had_gone_is_not_missed(self, house, check):
        with psycopg.connect(house.owner_url, autocommit=True) as owner:
            owner.execute("SELECT audit_erase('player:13')")
        assert check() == []
