"""Whatever is done to the log past its guards is found, and named: which event, which leaf, which field."""

import re
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command

from audit import log, sealing
from audit.models import Checkpoint, Leaf
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.harness import databases


@pytest.fixture(scope="module")
def pens():
    return Pens()


@pytest.fixture(scope="module")
def base(django_db_setup, django_db_blocker, pens):
    """The house that nothing was done to. Nobody is connected to it, so that it can be copied."""
    with django_db_blocker.unblock(), databases.clone("audited") as database:
        sealed.fill(database, pens)
        yield database


@pytest.fixture
def house(base, django_db_blocker):
    """A copy of it, to tamper with."""
    with django_db_blocker.unblock(), databases.clone("tampered", like=base.name) as database:
        yield database


@pytest.fixture
def tamper(house):
    """Log in as who can do everything, with triggers and constraints out of the way."""
    with psycopg.connect(house.superuser_url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


@pytest.fixture
def check(tmp_path, pens):
    """Run the command; return what it found."""
    (tmp_path / "keys").write_text(pens.keys)

    def run(*arguments, keys=tmp_path / "keys"):
        out, refusal = StringIO(), None
        try:
            call_command("verify_audit", "--keys", str(keys), *map(str, arguments), stdout=out)
        except CommandError as error:
            refusal = error
        said = out.getvalue().splitlines()
        if refusal is None:
            assert said == ["The log is what it was: every event, its place in the tree, and every signed tree."]
            return []
        assert refusal.returncode == 1
        assert str(refusal) == f"The log is not what it was: {len(said)} findings, which stand above."
        return said

    return run


def event_of(leaf):
    return Leaf.objects.get(leaf=leaf).event_id


def test_a_log_that_nobody_touched_is_what_it_was(house, check):
    assert check() == []
    assert check("--from", 512) == []


def test_a_flipped_byte_is_found(tamper, check):
    event = event_of(100)
    tamper.execute("UPDATE audit_event SET body = set_byte(body, 60, get_byte(body, 60) # 1) WHERE id = %s", [event])
    (first, *_) = check()
    assert re.fullmatch(
        rf"event {event}, leaf 100, body: its body hashes to \w{{64}};"
        r" what was sealed hashes to \w{64}: it was changed\.",
        first,
    )
    assert check("--from", 256) == []


@pytest.mark.parametrize(("column", "value"), [("kind", "a.b"), ("by", "x"), ("on", "x"), ("at", "2026-11-20 12:00Z")])
def test_a_column_that_says_something_else_is_found(tamper, check, column, value):
    event = event_of(100)
    tamper.execute(f'UPDATE audit_event SET "{column}" = %s WHERE id = %s', [value, event])
    findings = check()
    assert any(
        re.match(rf"event {event}, leaf 100, {column}: .* stands in the row; the event says ", each)
        for each in findings
    )


def test_a_dropped_event_is_found(tamper, check):
    event = event_of(300)
    tamper.execute("DELETE FROM audit_event WHERE id = %s", [event])
    assert f"event {event}, leaf 300: the event is not there; it was taken out after it was sealed." in check()


def test_a_dropped_leaf_is_found(tamper, check):
    event = event_of(300)
    tamper.execute("DELETE FROM audit_leaf WHERE leaf = 300")
    assert check() == [
        "leaf 300: leaves 300 to 300 are not there; 1 events were taken out.",
        f"event {event}: it is neither a leaf nor waits to be one; it was not written by audit_record.",
    ]


def test_leaves_dropped_at_the_end_are_found(tamper, check):
    tamper.execute("DELETE FROM audit_leaf WHERE leaf > 597")
    assert "leaf 598: leaves 598 to 599 are not there; 2 events were taken out." in check()


INSERTED = """
    INSERT INTO audit_event (id, at, kind, by, "on", body) OVERRIDING SYSTEM VALUE
    SELECT 1, at, kind, by, "on", body FROM audit_event WHERE id = %s
"""


def test_an_inserted_event_is_found(tamper, check):
    tamper.execute(INSERTED, [event_of(100)])
    assert check() == ["event 1: it is neither a leaf nor waits to be one; it was not written by audit_record."]


def test_an_inserted_leaf_is_found(tamper, check):
    tamper.execute(INSERTED, [event_of(100)])
    tamper.execute("INSERT INTO audit_leaf (leaf, event_id) VALUES (600, 1)")
    assert check() == [
        "event 1, leaf 600: the tiles have no hash of it; it was put in past the sealer, or tiles are lost."
    ]


def test_an_event_that_would_be_sealed_twice_is_found(tamper, check):
    event = event_of(100)
    tamper.execute("INSERT INTO audit_pending (event_id) VALUES (%s)", [event])
    (finding,) = check()
    assert finding.startswith(f"event {event}, leaf 100: it waits to be sealed;")


def test_reordered_leaves_are_found(tamper, check):
    one, other = event_of(100), event_of(101)
    for leaf, becomes in ((100, 9999), (101, 100), (9999, 101)):
        tamper.execute("UPDATE audit_leaf SET leaf = %s WHERE leaf = %s", [becomes, leaf])
    assert check() == [
        f"event {other}, leaf 100: the event of leaf 101 stands here; the order was changed.",
        f"event {one}, leaf 101: the event of leaf 100 stands here; the order was changed.",
    ]


def put_in_as_leaves(tamper, bodies):
    """Do as the sealer does, with the events that an attacker would have had written."""
    for body in bodies:
        tamper.execute(
            "INSERT INTO audit_event (at, kind, by, \"on\", body) SELECT (b ->> 'at')::timestamptz, b ->> 'kind',"
            " b ->> 'by', b ->> 'on', convert_to(%s, 'UTF8') FROM (SELECT %s::jsonb AS b)",
            [body, body],
        )
    tamper.execute("DELETE FROM audit_pending")
    tamper.execute("INSERT INTO audit_pending SELECT id FROM audit_event ORDER BY id DESC LIMIT %s", [len(bodies)])


BODY = '{"at":"%s","by":"player:7","data":{},"kind":"round.settled","on":"round:1"}'


@pytest.mark.parametrize("at", ["2026-01-01T12:00:00.000000Z", "2036-01-01T12:00:00.000000Z"])
def test_an_event_with_another_date_than_its_checkpoints_is_found(tamper, pens, check, at):
    """A sealer that plays along gives it a leaf, and the signer signs it."""
    tamper.execute("SET session_replication_role = origin")
    put_in_as_leaves(tamper, [BODY % at])
    sealed.sign(pens)
    (finding,) = [each for each in check() if "neither a leaf" not in each]
    assert re.match(
        rf"event \d+, leaf 600, at: {at} is its time; it was sealed as something written between 20", finding
    )


def fork(tamper, by=None):
    """Write another history from the 299th leaf on: the event, the tiles and, where somebody signs it, a checkpoint."""
    tamper.execute(
        "UPDATE audit_event SET body = set_byte(body, 60, get_byte(body, 60) # 1) WHERE id = %s", [event_of(299)]
    )
    tamper.execute("DELETE FROM audit_tile")
    tamper.execute("DELETE FROM audit_checkpoint WHERE size > 256")
    return sealed.sign(by) if by else sealing.seal()


TWO_HISTORIES = (
    r"leaf 599: the root over 600 leaves is \w{64}; the checkpoint of 600 leaves has \w{64}: there are two histories\."
)


def test_a_fork_that_nobody_signed_is_found_by_the_checkpoints(tamper, check):
    note = Checkpoint.objects.get(size=600)
    fork(tamper)
    note.save(force_insert=True)
    (finding,) = check()
    assert re.fullmatch(TWO_HISTORIES, finding)


def test_a_fork_without_checkpoints_is_found_by_the_memory_of_the_signer(tamper, check, tmp_path):
    (tmp_path / "latest").write_text(Checkpoint.objects.get(size=600).note)
    root = Checkpoint.objects.get(size=300).note.splitlines()[2]
    (tmp_path / "history").write_text(f"300 {root} 1795348800\n")
    fork(tamper)
    assert check() == []
    latest, history = check("--signer", tmp_path)
    assert re.search(r"latest of the signer has \w{64}: there are two histories", latest)
    assert re.search(r"leaf 299: .* the signer's history of 300 leaves has \w{64}: there are two histories", history)


def test_a_fork_signed_by_another_key_is_found(tamper, pens, check):
    other = Pens()
    fork(tamper, by=other)
    (finding,) = check()
    assert finding.startswith(
        "leaf 606: the checkpoint of 607 leaves is not signed as it should be:"
        " no key given for sabot.test/log has signed the tree of 607 leaves; it is signed by sabot.test/log ("
    )


def test_a_fork_signed_with_the_stolen_key_is_found_by_a_checkpoint_kept_outside(tamper, pens, check, tmp_path):
    kept = tmp_path / "kept"
    kept.write_text(Checkpoint.objects.get(size=300).note)
    fork(tamper, by=pens)
    assert check() == []
    (finding,) = check("--checkpoint", kept)
    assert re.fullmatch(
        rf"leaf 299: the root over 300 leaves is \w{{64}}; {kept} has \w{{64}}: there are two histories\.", finding
    )


def test_a_swapped_key_is_found(house, check, tmp_path):
    (tmp_path / "others").write_text(Pens().keys)
    findings = check(keys=tmp_path / "others")
    assert len(findings) == len(sealed.SIZES)
    assert all("no key given for sabot.test/log has signed" in finding for finding in findings)


def test_without_a_key_nothing_is_checked(house, settings):
    settings.AUDIT_KEYS, settings.SIGNER_DIR = "", None
    with pytest.raises(CommandError, match="no key is known") as stopped:
        call_command("verify_audit")
    assert stopped.value.returncode == 2


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("size = 301", "the checkpoint of 301 leaves has 301 in its row; its note says 300"),
        ("root = sha256('x')", "the checkpoint of 300 leaves has b"),
        ("at = at + interval '1 second'", "the checkpoint of 300 leaves has datetime"),
        ("note = replace(note, '— ', '— x')", "the checkpoint of 300 leaves is not signed as it should be"),
    ],
)
def test_a_changed_checkpoint_is_found(tamper, check, change, what):
    tamper.execute(f"UPDATE audit_checkpoint SET {change} WHERE size = 300")
    (finding,) = check()
    assert what in finding


def test_a_changed_tile_is_found(tamper, check):
    tamper.execute("UPDATE audit_tile SET hashes = set_byte(hashes, 32 * 100, 0) WHERE level = 0 AND number = 1")
    findings = check()
    assert re.match(
        r"leaf 256: tile 0 of level 1 says \w{64} of tile 1 below it; that one leads to \w{64}:", findings[0]
    )
    assert any(re.match(r"event \d+, leaf 356, body:", finding) for finding in findings)


@pytest.mark.parametrize(("place", "leaf"), [((0, 1), 256), ((0, 2), 512), ((1, 0), 0)])
def test_a_lost_tile_is_found(tamper, check, place, leaf):
    tamper.execute("DELETE FROM audit_tile WHERE level = %s AND number = %s", place)
    assert any(finding.startswith(f"leaf {leaf}: ") or f" {leaf}: " in finding for finding in check())


@pytest.mark.parametrize("change", ["value = '192.0.2.9'", "salt = sha256('x')"])
def test_an_edited_personal_field_is_found(tamper, check, change):
    event = event_of(107)
    tamper.execute(f"UPDATE audit_personal SET {change} WHERE event_id = %s", [event])
    (finding,) = check()
    assert finding.startswith(f"event {event}, leaf 107, ip: the personal value that stands was changed or put in;")


def test_a_personal_value_that_was_put_in_is_found(tamper, check):
    event = event_of(100)
    tamper.execute("INSERT INTO audit_personal VALUES (%s, 'ip', 'x', 'x')", [event])
    (finding,) = check()
    assert finding.endswith("put in; the event has no such personal value.")


def test_a_personal_value_that_is_gone_without_a_record_is_found(tamper, check):
    event = event_of(107)
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s", [event])
    assert check() == [
        f"event {event}, leaf 107, ip: its personal value is gone; no record says that it was erased or its time up."
    ]


def test_a_personal_value_of_somebody_erased_before_it_was_written_must_be_there(tamper, check):
    """The last event is one of somebody whose earlier ones were erased."""
    event = tamper.execute("SELECT max(id) FROM audit_event").fetchone()[0]
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s", [event])
    assert [each.partition(":")[0] for each in check()] == [f"event {event}, agent", f"event {event}, ip"]


def test_a_personal_value_whose_time_is_up_may_be_gone(tamper, check):
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s AND field = 'ip'", [event_of(107)])
    data: dict[str, log.Json] = {"before": "2036-01-01T00:00:00.000000Z", "days": 1, "fields": ["ip"], "values": 1}
    log.record("personal.expired", by="system", on="retention:address", data=data)
    assert check() == []


def test_an_old_dump_is_found_by_the_memory_of_the_signer_and_by_a_checkpoint_kept_outside(
    base, house, pens, check, tmp_path
):
    """The copy went on and was signed; then the base, which is what it was before, is put in its place."""
    note = sealed.sign(pens)
    (tmp_path / "latest").write_text(note)
    (tmp_path / "history").write_text(f"607 {note.splitlines()[2]} 1795348800\n")
    assert check("--signer", tmp_path, "--checkpoint", tmp_path / "latest") == []
    with databases.pointed_at(base.name):
        findings = check("--signer", tmp_path, "--checkpoint", tmp_path / "latest")
    older = "this is an older state of it, or leaves were taken out at its end."
    assert findings == [
        f"leaf 600: the log has 600 leaves, and {name} speaks of 607; {older}"
        for name in ("latest of the signer", "the signer's history of 607 leaves", tmp_path / "latest")
    ]
