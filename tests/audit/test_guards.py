"""A process with the rights of the house cannot write untrue data into the log."""

import json

import pytest
from django.db import DatabaseError, DataError, IntegrityError, ProgrammingError, connection, transaction

from audit import log, tree
from audit.models import Checkpoint, Event, Leaf
from audit.sealing import alarms, checkpoint_delivery, checkpoints, sealer
from audit.verification import export
from audit.verification.checking import StoredTiles
from audit.verification.verify import Checkpoint as Signed
from audit.verification.verify import entry_of, leaf_hash, root_of
from games.engine.chemin.state import there

WRITE = "INSERT INTO audit_tile (level, number, hashes) VALUES (%s, %s, %s)"


def happen(times: int = 1) -> int:
    return [log.record("test.happened", by="system", on="test:1", data={}) for _ in range(times)][-1]


def execute(statement: str, *values: int | str | bytes | None) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as at the end of a separate transaction
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def last() -> Checkpoint:
    return there(checkpoints.last())


def hashes() -> list[bytes]:
    found = Leaf.objects.order_by("leaf").values_list("event__body", "event__salt")
    return [leaf_hash(entry_of(bytes(body), bytes(salt or b""))) for body, salt in found]


def junk(size: int) -> None:
    execute("INSERT INTO audit_checkpoint VALUES (%s, %s, now(), 'junk')", size, bytes(32))


def alarms_raised() -> list[tuple[str, dict[str, object]]]:
    found = Event.objects.filter(kind__startswith="log.").order_by("pk")
    return [(event.kind, json.loads(bytes(event.body))["data"]) for event in found]


def record(rest: str, kind: str = "round.counted", by: str = "player:1", on: str = "round:1") -> None:
    execute("SELECT audit_record(%s, %s, %s, %s, NULL)", kind, by, on, rest)


def record_personal(said: log.Json, kept: list[tuple[str, bytes, str]] | None) -> None:
    rest: dict[str, log.Json] = {"by": "system", "data": {}, "kind": "test.named", "on": "test:1"}
    values = [{"field": field, "salt": salt.hex(), "value": value} for field, salt, value in kept or ()]
    execute(
        "SELECT audit_record('test.named', 'system', 'test:1', %s, %s::jsonb)",
        log.canonical(rest if said is None else rest | {"personal": said}),
        None if kept is None else json.dumps(values),
    )


@pytest.mark.django_db
class TestACheckpointThatIsNone:
    def test_cannot_stand_above_what_is_there_nor_below_what_was_signed(self, signed):
        happen(3)
        sealer.seal()
        for size in (10**15, 4, 3, 2):
            with pytest.raises(IntegrityError, match=f"a checkpoint of {size} leaves is none to come next"):
                junk(size)

    @pytest.mark.parametrize("at", [5, 8], ids=["below what is to be signed", "in its place"])
    def test_is_reported_to_staff_once_and_signing_goes_on(self, signed, at):
        happen(3)
        assert sealer.seal().signed == 3
        happen(5)
        execute("SELECT audit_seal(100)")
        junk(at)
        for _ in range(2):
            sealer.seal()
        (refused, said), (accepted, _) = alarms_raised()
        assert (refused, accepted) == ("log.refused", "log.accepted")
        reason = "the last checkpoint in the database is none: a signed note is text, an empty line, and signatures"
        assert said == {"reason": reason, "size": at, "signed": 3}
        sealed = sealer.seal()
        assert sealed.signed == sealed.size == checkpoints.size() > 8
        assert Signed.of(last().note, checkpoints.trusted_keys()).tree.size == sealed.size

    def test_is_neither_sent_nor_shown_nor_proven_from(self, signed, settings, tmp_path):
        settings.AUDIT_CHECKPOINTS_TO = [f"file:{tmp_path}"]
        covered = happen(3)
        sealer.seal()
        waits = happen()
        execute("SELECT audit_seal(100)")
        junk(4)
        assert [each.size for each in checkpoints.latest(20)] == [3]
        assert there(checkpoint_delivery.send(f"file:{tmp_path}")).checkpoint_id == 3
        assert tree.sealed([covered, waits]) == {covered}
        assert export.part().checkpoint.size == 3
        assert alarms.lag().since == Event.objects.get(pk=waits).at

    def test_is_in_no_export_either(self, signed):
        happen(3)
        execute("SELECT audit_seal(100)")
        junk(2)
        sealer.seal()
        names = b"".join(export.export(export.part(), by="staff:1"))
        assert b"checkpoints/2" not in names

    def test_nor_does_a_note_of_another_tree_count(self, signed):
        happen(3)
        sealer.seal()
        note = last().note
        happen()
        execute("SELECT audit_seal(100)")
        execute("INSERT INTO audit_checkpoint VALUES (4, %s, now(), %s)", bytes(32), note)
        assert checkpoints.size() == 3
        assert "has the note of another tree, of 3" in there(checkpoints.unsigned()).reason


@pytest.mark.django_db
class TestATile:
    def test_holds_nothing_but_the_hashes_of_its_leaves(self, signed):
        happen(3)
        execute("SELECT audit_seal(100)")
        right = hashes()
        for wrong in ([bytes(32)], [right[1]], [*right[:2], bytes(32)], [*right, bytes(32)]):
            with pytest.raises(IntegrityError, match="tile 0 of level 0 is not that of its leaves"):
                execute(WRITE, 0, 0, b"".join(wrong))
        execute(WRITE, 0, 0, b"".join(right[:2]))
        with pytest.raises(IntegrityError, match="is not that of its leaves"):
            execute("UPDATE audit_tile SET hashes = hashes || %s", bytes(32))
        sealer.seal()
        assert tree.root(StoredTiles(), 3) == root_of(right)

    def test_comes_after_the_one_before_it_and_brings_its_hash_up(self, signed):
        happen(600)
        execute("SELECT audit_seal(1000)")
        right = hashes()
        with pytest.raises(IntegrityError, match="tile 1 of level 0"):
            execute(WRITE, 0, 1, b"".join(right[256:512]))
        with pytest.raises(IntegrityError, match="is full and has no hash above"):
            execute(WRITE, 0, 0, b"".join(right[:256]))
        execute(WRITE, 0, 0, b"".join(right[:255]))
        with pytest.raises(IntegrityError, match="tile 0 of level 1"):
            execute(WRITE, 1, 0, root_of(right[:255]))
        sealer.seal()
        assert tree.root(StoredTiles(), 600) == root_of(right)


FRAMES = {
    "a space before": ' {"by":"player:1","data":{},"kind":"round.counted","on":"round:1"}',
    "a space after": '{"by":"player:1","data":{},"kind":"round.counted","on":"round:1"} ',
    "a space within": '{"by":"player:1","data":{}, "kind":"round.counted","on":"round:1"}',
    "another order": '{"data":{},"by":"player:1","kind":"round.counted","on":"round:1"}',
    "by twice": '{"by":"player:2","by":"player:1","data":{},"kind":"round.counted","on":"round:1"}',
    "data twice": '{"by":"player:1","data":{},"data":{},"kind":"round.counted","on":"round:1"}',
    "twice in data": '{"by":"player:1","data":{"n":1,"n":2},"kind":"round.counted","on":"round:1"}',
    "no data": '{"by":"player:1","kind":"round.counted","on":"round:1"}',
    "data of another kind": '{"by":"player:1","data":[],"kind":"round.counted","on":"round:1"}',
    "another key": '{"by":"player:1","data":{},"kind":"round.counted","on":"round:1","and":1}',
    "personal of another kind": '{"by":"player:1","data":{},"kind":"round.counted","on":"round:1","personal":null}',
    "a letter spelt otherwise": '{"by":"player:\\u0031","data":{},"kind":"round.counted","on":"round:1"}',
}


@pytest.mark.django_db
class TestAnEvent:
    @pytest.mark.parametrize("rest", FRAMES.values(), ids=FRAMES)
    def test_has_one_form_only(self, rest):
        with pytest.raises(IntegrityError, match="something else"):
            record(rest)

    def test_has_no_text_that_could_not_be_queried(self):
        with pytest.raises(DataError):
            record('{"by":"player:1","data":{"a":"\\u0000"},"kind":"round.counted","on":"round:1"}')

    @pytest.mark.parametrize("name", ['a "word"', "back\\slash", "tab\tand\nline", "\x01\x1f\x7f", "Ö ☃ 🂡 \u2028 </"])
    def test_may_name_anybody(self, name):
        said = {"by": name, "data": {name: name}, "kind": name, "on": name}
        event = Event.objects.get(pk=log.record(name, by=name, on=name, data={name: name}, personal={name: name}))
        assert {key: json.loads(bytes(event.body))[key] for key in said} == said

    @pytest.mark.parametrize("kind", ["personal.erased", "personal.expired", "retention.changed", "round.settled"])
    def test_of_what_the_database_does_is_written_by_it_alone(self, kind):
        with pytest.raises(DatabaseError, match=f"only the database says {kind}"):
            log.record(kind, by="system", on="player:1", data={})

    def test_is_written_past_its_way_in_by_nobody(self):
        with pytest.raises(ProgrammingError, match="permission denied for function audit_write"):
            execute("SELECT audit_write('personal.erased', 'system', 'player:1', '{}', NULL)")

    @pytest.mark.parametrize("deep", ["[" * 32 + "]" * 32, '{"a":' * 32 + "1" + "}" * 32, "9" * 101, f"-{'9' * 5000}"])
    def test_holds_nothing_that_not_everybody_could_read(self, deep):
        with pytest.raises(IntegrityError, match="holds what not everybody could read"):
            record(f'{{"by":"player:1","data":{{"a":{deep}}},"kind":"round.counted","on":"round:1"}}')

    @pytest.mark.parametrize("deep", ["[" * 30 + "]" * 30, "9" * 100, f'"{"9" * 5000}"'])
    def test_may_hold_what_a_house_has_to_say(self, deep):
        record(f'{{"by":"player:1","data":{{"a":{deep}}},"kind":"round.counted","on":"round:1"}}')

    def test_has_personal_values_with_whole_salts(self):
        with pytest.raises(IntegrityError, match="audit_personal_is_salted"):
            record_personal({"name": log.personal_hash(bytes(15), "Ada")}, [("name", bytes(15), "Ada")])

    @pytest.mark.parametrize(
        ("said", "kept"),
        [
            ({"name": "0" * 64}, [("name", bytes(16), "Ada")]),
            ({"name": "0" * 64}, []),
            ({"name": "0" * 64}, None),
            ({}, []),
            (None, [("name", bytes(16), "Ada")]),
            ({"name": log.personal_hash(bytes(16), "Ada")}, [("first", bytes(16), "Ada")]),
            ({"name": log.personal_hash(bytes(16), "Ada")}, [("name", bytes(16), "Ada"), ("x", bytes(16), "y")]),
            ({"name": [log.personal_hash(bytes(16), "Ada")]}, [("name", bytes(16), "Ada")]),
        ],
        ids=["another value", "taken", "none", "nothing", "no hash", "another field", "one more", "a list"],
    )
    def test_has_the_personal_values_of_its_hashes_and_no_other(self, said, kept):
        """Otherwise it would always look as if someone had changed or removed a value."""
        with pytest.raises(IntegrityError, match="has other personal values than its hashes"):
            record_personal(said, kept)
