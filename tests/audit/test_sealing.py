"""Events become leaves without gaps, even if something fails; the signer decides which trees are signed."""

import json
import threading
import time
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from django.db import connection, connections, transaction

from audit import log, tree
from audit.models import Checkpoint, Event, Leaf, Pending, Tile
from audit.sealing import alarms, checkpoints, sealer
from audit.verification import verify
from audit.verification.checking import StoredTiles
from audit.verification.verify import leaf_hash, root_of
from tests.harness.databases import Database
from tests.harness.killed import dies
from tests.harness.signer import NAME, signing


def happen(times: int = 1) -> list[int]:
    return [log.record("test.happened", by="system", on=f"test:{number}", data={}) for number in range(times)]


def leaves() -> list[int]:
    return list(Leaf.objects.order_by("leaf").values_list("event_id", flat=True))


def last() -> Checkpoint:
    return Checkpoint.objects.order_by("-size")[0]


def alarms_raised() -> list[str]:
    return list(Event.objects.filter(kind__startswith="log.").order_by("pk").values_list("kind", flat=True))


def is_whole() -> bool:
    """Return whether every event is one leaf, without gaps, and tiles and the last checkpoint
    match.
    """
    bodies = {event.pk: entry(event) for event in Event.objects.all()}
    order = leaves()
    hashes = [leaf_hash(bodies[each]) for each in order]
    checkpoint = last()
    body = verify.Tree(NAME, len(order), root_of(hashes)).body
    return (
        sorted(order) == sorted(bodies)
        and list(Leaf.objects.order_by("leaf").values_list("leaf", flat=True)) == list(range(len(order)))
        and not Pending.objects.exists()
        and tree.root(StoredTiles(), len(order)) == root_of(hashes)
        and checkpoint.note.startswith(f"{body}\n— ")
    )


def entry(event: Event) -> bytes:
    """Return the entry of the public log for an event, by its definition."""
    body, salt = bytes(event.body), bytes(event.salt or b"")
    return b'{"hash":"' + sha256(salt + body).hexdigest().encode() + b'"}' if salt else body


def all_that_was_signed_is_kept(folder: Path) -> bool:
    signed = {int(line.split()[0]) for line in (folder / "history").read_text().splitlines()}
    return signed == set(Checkpoint.objects.values_list("size", flat=True))


@pytest.mark.django_db
class TestSealing:
    def test_gives_what_happened_its_leaves_and_has_the_tree_signed(self, signed):
        events = happen(300)
        before = len(leaves())
        assert sealer.seal() == sealer.Sealed(before + 300, before + 300)
        assert leaves()[-300:] == events
        assert is_whole()
        checkpoint = verify.Checkpoint.of(last().note, checkpoints.trusted_keys())
        assert (checkpoint.tree.size, checkpoint.seconds) == (last().size, int(last().at.timestamp()))

    @pytest.mark.sweep
    def test_goes_on_from_what_was_sealed_before(self, signed):
        for more in (1, 254, 1, 1, 3):
            happen(more)
            sealer.seal()
            assert is_whole()
        assert [tile.level for tile in Tile.objects.order_by("level", "number")] == [0, 0, 1]

    @pytest.mark.sweep
    def test_makes_no_checkpoint_where_nothing_happened(self, signed):
        happen()
        size = sealer.seal().size
        assert sealer.seal() == sealer.Sealed(size, size)
        assert Checkpoint.objects.count() == 1
        assert (signed / "history").read_text().count("\n") == 1

    @pytest.mark.sweep
    def test_makes_no_more_leaves_at_a_time_than_it_may(self, signed, monkeypatch):
        monkeypatch.setattr(sealer, "BATCH", 10)
        monkeypatch.setattr(sealer, "MOST", 30)
        happen(75)
        assert [sealer.seal() for _ in range(4)] == [
            sealer.Sealed(30, 0),  # nothing is signed while events wait
            sealer.Sealed(60, 0),
            sealer.Sealed(75, 75),
            sealer.Sealed(75, 75),
        ]
        assert is_whole()

    def test_makes_up_for_leaves_that_have_no_hash_in_a_tile(self, signed):
        happen(5)
        with connection.cursor() as cursor:
            cursor.execute("SELECT audit_seal(3)")
        sealer.seal()
        assert is_whole()


@pytest.mark.django_db
class TestWithoutTheSigner:
    def test_leaves_and_tiles_go_on_and_the_checkpoint_waits(self, tmp_path, settings):
        with signing(tmp_path / "signer") as at:
            settings.AUDIT_SIGNER, settings.AUDIT_KEYS = str(at), (tmp_path / "signer" / "keys").read_text()
            happen(3)
            sealer.seal()
        happen(2)
        assert sealer.seal() == sealer.Sealed(5, 3)
        assert alarms_raised() == []
        with signing(tmp_path / "signer"):
            assert sealer.seal() == sealer.Sealed(5, 5)
        assert is_whole()

    def test_a_demo_that_has_no_keys_yet_waits_as_well(self, settings):
        settings.AUDIT_KEYS, settings.SIGNER_DIR = "", Path("/nowhere")
        happen(2)
        assert sealer.seal() == sealer.Sealed(2, 0)
        assert alarms_raised() == []


@pytest.mark.django_db
class TestARefusal:
    @pytest.mark.sweep
    def test_of_an_older_dump_is_recorded_once_and_so_is_its_end(self, signed):
        """The signer has signed events that the database no longer has: its second tree differs
        from the first.
        """
        with transaction.atomic():
            happen(6)
            sealer.seal()
            transaction.set_rollback(True)
        happen(3)
        for _ in range(2):
            assert sealer.seal().signed == 0
        assert alarms_raised() == ["log.refused"]
        (refused,) = Event.objects.filter(kind="log.refused")
        said = json.loads(bytes(refused.body))["data"]
        assert said == {"reason": "a tree of 3 leaves does not extend one of 6", "signed": 0, "size": 3}
        happen(9)  # longer than the signed log, with another tree
        sealer.seal()
        assert alarms_raised() == ["log.refused"]
        assert alarms.begun(alarms.REFUSED) == refused
        assert not Checkpoint.objects.exists()

    @pytest.mark.sweep
    def test_ends_when_the_signer_signs_again(self, signed, settings, tmp_path):
        good = settings.AUDIT_KEYS
        happen(2)
        sealer.seal()
        with signing(tmp_path / "other"):
            settings.AUDIT_KEYS = (tmp_path / "other" / "keys").read_text()  # other keys
        happen()
        assert sealer.seal().signed == 0  # nor do they know the existing checkpoint
        (refused,) = Event.objects.filter(kind="log.refused")
        assert "has signed the tree of 2 leaves" in json.loads(bytes(refused.body))["data"]["reason"]
        settings.AUDIT_KEYS = good
        sealer.seal()
        sealer.seal()
        assert alarms_raised() == ["log.refused", "log.accepted"]
        assert is_whole()

    @pytest.mark.sweep
    @pytest.mark.parametrize("seconds", [-90, 90])
    def test_is_one_where_the_signer_s_clock_is_not_the_database_s(self, signed, monkeypatch, seconds):
        clock = time.time
        monkeypatch.setattr(time, "time", lambda: clock() + seconds)
        happen()
        sealer.seal()
        assert not Checkpoint.objects.exists()
        (refused,) = Event.objects.filter(kind="log.refused")
        assert "the signer's clock says" in json.loads(bytes(refused.body))["data"]["reason"]

    @pytest.mark.sweep
    @pytest.mark.parametrize("since", [0, 4], ids=["the same tree", "a larger one"])
    def test_a_checkpoint_that_was_signed_and_lost_is_no_refusal_and_is_kept_again(self, signed, since):
        happen(3)
        with transaction.atomic():
            sealer.seal()
            transaction.set_rollback(True)
        for more in (since, 4):
            happen(more)
            sealer.seal()
        assert is_whole()
        assert alarms_raised() == []
        assert all_that_was_signed_is_kept(signed)

    def test_of_an_older_dump_is_seen_before_anything_new_happens(self, signed):
        happen(3)
        sealer.seal()
        sealer.check_signer()
        assert alarms_raised() == []
        with transaction.atomic():
            happen(6)
            sealer.seal()
            transaction.set_rollback(True)
        sealer.check_signer()
        sealer.check_signer()
        (refused,) = Event.objects.filter(kind__startswith="log.")
        said = json.loads(bytes(refused.body))["data"]
        assert said == {"reason": "the log has 3 leaves, and a tree of 9 was signed", "size": 3, "signed": 3}

    def test_is_missing_where_the_signer_is_away(self, settings, tmp_path):
        settings.AUDIT_SIGNER = str(tmp_path / "nobody")
        sealer.check_signer()
        assert alarms_raised() == []


class TestKilled:
    def test_after_every_statement_the_next_process_continues_from_the_stored_state(self, cloned_db, signed, is_sweep):
        """The faults include those between the signature and the checkpoint."""
        happen(3)
        statement = 1
        while dies(sealer.seal, "before", statement, every=is_sweep):
            happen(2)
            statement += 1
        assert statement > (7 if is_sweep else 2)  # of the statements that write
        happen(1)
        sealer.seal()
        assert is_whole()
        assert alarms_raised() == []
        assert all_that_was_signed_is_kept(signed)


WITHOUT_ITS_LOCK = (
    "SELECT replace(pg_get_functiondef('audit_seal'::regproc), 'PERFORM pg_advisory_xact_lock(1012, 0);', '')"
)


class TestTwoSealersAtOnce:
    def race(self, database: Database) -> list[BaseException]:
        """Start sealing, record an event, and let a second sealer commit before the first."""
        failed: list[BaseException] = []

        def second() -> None:
            try:
                sealer.seal()
            except BaseException as error:  # noqa: BLE001  (of any type: the test looks at it)
                failed.append(error)
            finally:
                connections.close_all()

        with (
            psycopg.connect(database.web_url) as first,
            psycopg.connect(database.superuser_url, autocommit=True) as eye,
        ):
            first.execute("SELECT audit_seal(100)")
            happen()
            thread = threading.Thread(target=second)
            thread.start()
            while thread.is_alive() and not waits_for_a_lock(eye):
                pass
            first.commit()
            thread.join()
        return failed

    def test_are_one_after_the_other(self, cloned_db, signed):
        happen(3)
        assert self.race(cloned_db) == []
        sealer.seal()
        assert is_whole()

    def test_without_the_lock_would_give_two_events_one_leaf(self, cloned_db, owner, signed):
        """The table refuses it, so the second sealer's work is lost."""
        (without,) = owner.execute(WITHOUT_ITS_LOCK).fetchone()
        owner.execute(without)
        happen(3)
        (error,) = self.race(cloned_db)
        assert "audit_leaf_pkey" in str(error)


def waits_for_a_lock(eye: psycopg.Connection) -> bool:
    found = eye.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    return found.fetchone() == (1,)


class TestManyAtOnce:
    def test_seal_everything_committed_in_the_meantime_once(self, cloned_db, signed):
        def write() -> None:
            for _ in range(40):
                happen()
            connections.close_all()

        def work() -> None:
            for _ in range(20):
                sealer.seal()
            connections.close_all()

        threads = [threading.Thread(target=each) for each in (write, work, write, work)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sealer.seal()
        assert is_whole()
        assert Leaf.objects.count() == 80
        assert alarms_raised() == []


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["test.happened", "shoe.ended"])
def test_a_leaf_s_hash_is_that_of_the_entry(signed, kind):
    event = Event.objects.get(pk=log.record(kind, by="system", on="test:1", data={}))
    assert (event.salt is None) == (kind == "shoe.ended")
    sealer.seal()
    assert bytes(Tile.objects.get(level=0, number=0).hashes)[-32:] == sha256(b"\x00" + entry(event)).digest()
