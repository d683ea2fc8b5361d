"""Verification finds every change of the log behind its guards and names event, leaf and field."""

import re

import pytest
from django.core.management import CommandError, call_command

from tests.audit import sealed
from tests.audit.signing import Pens
from tests.harness.sweeps import sample


def test_a_log_that_nobody_touched_is_what_it_was(house, check):
    assert check() == []
    assert check("--from-leaf", 512) == []


@pytest.mark.sweep
def test_checkpoints_that_were_all_taken_out_are_missed(tamper, check):
    tamper.execute("DELETE FROM audit_checkpoint")
    assert check() == ["leaf 0: there is no signed checkpoint; nothing proves the 600 leaves."]


@pytest.mark.sweep
def test_leaves_that_no_checkpoint_covers_for_long_are_found(tamper, check, settings):
    tamper.execute("DELETE FROM audit_checkpoint WHERE size > 300")
    assert check() == []
    settings.AUDIT_LAG_SECONDS = -1
    (finding,) = check()
    assert finding.startswith("leaf 300: no signed checkpoint covers the leaves from here on, the oldest of 20")


def test_a_flipped_byte_is_found(tamper, check):
    event = sealed.event_of(100)
    tamper.execute("UPDATE audit_event SET body = set_byte(body, 60, get_byte(body, 60) # 1) WHERE id = %s", [event])
    (first, *_) = check()
    assert re.fullmatch(
        rf"event {event}, leaf 100, body: its body and salt hash to \w{{64}};"
        r" what was sealed hashes to \w{64}: one of them was changed\.",
        first,
    )
    assert check("--from-leaf", 256) == []


@pytest.mark.sweep
@pytest.mark.parametrize("salt", ["NULL::bytea", "sha256(salt)", "sha256('')"])
def test_another_salt_is_found(tamper, check, salt):
    event = sealed.event_of(100)
    tamper.execute("ALTER TABLE audit_event DROP CONSTRAINT audit_event_is_salted")
    tamper.execute(f"UPDATE audit_event SET salt = substring({salt} FOR 16) WHERE id = %s", [event])
    (finding,) = check()
    assert finding.startswith(f"event {event}, leaf 100, body: its body and salt hash to ")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("column", "value"), sample([("kind", "a.b"), ("by", "x"), ("on", "x"), ("at", "2026-11-20 12:00Z")], 2)
)
def test_a_column_that_says_something_else_is_found(tamper, check, column, value):
    event = sealed.event_of(100)
    tamper.execute(f'UPDATE audit_event SET "{column}" = %s WHERE id = %s', [value, event])
    findings = check()
    assert any(
        re.match(rf"event {event}, leaf 100, {column}: the row has .*; the event says ", each) for each in findings
    )


def test_a_dropped_event_is_found(tamper, check):
    event = sealed.event_of(300)
    tamper.execute("DELETE FROM audit_event WHERE id = %s", [event])
    assert f"event {event}, leaf 300: the event is missing; it was removed after it was sealed." in check()


@pytest.mark.sweep
def test_a_dropped_leaf_is_found(tamper, check):
    event = sealed.event_of(300)
    tamper.execute("DELETE FROM audit_leaf WHERE leaf = 300")
    assert check() == [
        "leaf 300: leaves 300 to 300 are missing; 1 events were removed.",
        f"event {event}: it is neither a leaf nor waiting to become one; it was not written by audit_record.",
    ]


@pytest.mark.sweep
def test_leaves_dropped_at_the_end_are_found(tamper, check):
    tamper.execute("DELETE FROM audit_leaf WHERE leaf > 597")
    assert "leaf 598: leaves 598 to 599 are missing; 2 events were removed." in check()


INSERTED = """
    INSERT INTO audit_event (id, at, kind, by, "on", body, salt) OVERRIDING SYSTEM VALUE
    SELECT 1, at, kind, by, "on", body, salt FROM audit_event WHERE id = %s
"""


def test_an_inserted_event_is_found(tamper, check):
    tamper.execute(INSERTED, [sealed.event_of(100)])
    assert check() == ["event 1: it is neither a leaf nor waiting to become one; it was not written by audit_record."]


@pytest.mark.sweep
def test_an_inserted_leaf_is_found(tamper, check):
    tamper.execute(INSERTED, [sealed.event_of(100)])
    tamper.execute("INSERT INTO audit_leaf (leaf, event_id) VALUES (600, 1)")
    assert check() == [
        "event 1, leaf 600: the tiles have no hash for it; it was inserted without the sealer, or tiles are lost."
    ]


@pytest.mark.sweep
def test_an_event_that_would_be_sealed_twice_is_found(tamper, check):
    event = sealed.event_of(100)
    tamper.execute("INSERT INTO audit_pending (event_id) VALUES (%s)", [event])
    (finding,) = check()
    assert finding.startswith(f"event {event}, leaf 100: it is waiting to be sealed;")


@pytest.mark.sweep
def test_reordered_leaves_are_found(tamper, check):
    one, other = sealed.event_of(100), sealed.event_of(101)
    for leaf, becomes in ((100, 9999), (101, 100), (9999, 101)):
        tamper.execute("UPDATE audit_leaf SET leaf = %s WHERE leaf = %s", [becomes, leaf])
    assert check() == [
        f"event {other}, leaf 100: the event of leaf 101 is here; the order was changed.",
        f"event {one}, leaf 101: the event of leaf 100 is here; the order was changed.",
    ]


def put_in_as_leaves(tamper, bodies):
    """Seal an attacker's events as the sealer does."""
    for body in bodies:
        tamper.execute(
            "INSERT INTO audit_event (at, kind, by, \"on\", body) SELECT (b ->> 'at')::timestamptz, b ->> 'kind',"
            " b ->> 'by', b ->> 'on', convert_to(%s, 'UTF8') FROM (SELECT %s::jsonb AS b)",
            [body, body],
        )
    tamper.execute("DELETE FROM audit_pending")
    tamper.execute("INSERT INTO audit_pending SELECT id FROM audit_event ORDER BY id DESC LIMIT %s", [len(bodies)])


BODY = '{"at":"%s","by":"player:7","data":{},"kind":"round.counted","on":"round:1"}'


@pytest.mark.sweep
@pytest.mark.parametrize("at", sample(["2026-01-01T12:00:00.000000Z", "2036-01-01T12:00:00.000000Z"], 1))
def test_an_event_with_another_date_than_its_checkpoints_is_found(tamper, pens, check, at):
    """A colluding sealer makes it a leaf, and the signer signs it."""
    tamper.execute("SET session_replication_role = origin")
    put_in_as_leaves(tamper, [BODY % at])
    sealed.sign(pens)
    (finding,) = [each for each in check() if "neither a leaf" not in each]
    assert re.match(
        rf"event \d+, leaf 600, at: its time is {at}; it was sealed as an event written between 20", finding
    )


def test_a_swapped_key_is_found(house, check, tmp_path):
    (tmp_path / "others").write_text(Pens().keys)
    findings = check(keys=tmp_path / "others")
    assert len(findings) == len(sealed.SIZES) + 1
    assert all("no key given for sabot.test/log has signed" in finding for finding in findings[:-1])
    assert findings[-1] == "leaf 0: there is no signed checkpoint; nothing proves the 600 leaves."


def test_without_a_key_nothing_is_checked(house, settings):
    settings.AUDIT_KEYS, settings.SIGNER_DIR = "", None
    with pytest.raises(CommandError, match="no public key is configured") as stopped:
        call_command("verify_house", from_leaf=0)
    assert stopped.value.returncode == 2


@pytest.mark.parametrize(
    ("change", "what"),
    sample(
        [
            ("size = 301", "the checkpoint of 301 leaves has 301 in its row; its note says 300"),
            ("root = sha256('x')", "the checkpoint of 300 leaves has b"),
            ("at = at + interval '1 second'", "the checkpoint of 300 leaves has datetime"),
            ("note = replace(note, '— ', '— x')", "the checkpoint of 300 leaves is not signed correctly"),
        ],
        1,
    ),
)
def test_a_changed_checkpoint_is_found(tamper, check, change, what):
    tamper.execute(f"UPDATE audit_checkpoint SET {change} WHERE size = 300")
    (finding,) = check()
    assert what in finding


def test_a_changed_tile_is_found(tamper, check):
    tamper.execute("UPDATE audit_tile SET hashes = set_byte(hashes, 32 * 100, 0) WHERE level = 0 AND number = 1")
    findings = check()
    assert re.match(
        r"leaf 256: tile 0 of level 1 has \w{64} for tile 1 below it; that tile hashes to \w{64}:", findings[0]
    )
    assert any(re.match(r"event \d+, leaf 356, body:", finding) for finding in findings)


@pytest.mark.sweep
@pytest.mark.parametrize(("place", "leaf"), sample([((0, 1), 256), ((0, 2), 512), ((1, 0), 0)], 1))
def test_a_lost_tile_is_found(tamper, check, place, leaf):
    tamper.execute("DELETE FROM audit_tile WHERE level = %s AND number = %s", place)
    assert any(finding.startswith(f"leaf {leaf}: ") or f" {leaf}: " in finding for finding in check())


@pytest.mark.parametrize("change", sample(["value = '192.0.2.9'", "salt = substring(sha256('x') FOR 16)"], 1))
def test_an_edited_personal_field_is_found(tamper, check, change):
    event = sealed.event_of(107)
    tamper.execute(f"UPDATE audit_personal SET {change} WHERE event_id = %s", [event])
    (finding,) = check()
    assert finding.startswith(f"event {event}, leaf 107, ip: the stored personal value was changed or inserted;")


@pytest.mark.sweep
def test_a_personal_value_that_was_put_in_is_found(tamper, check):
    event = sealed.event_of(100)
    tamper.execute("INSERT INTO audit_personal VALUES (%s, 'ip', decode(repeat('00', 16), 'hex'), 'x')", [event])
    (finding,) = check()
    assert finding.endswith("inserted; the event has no such personal value.")


def test_a_personal_value_that_is_gone_without_a_record_is_found(tamper, check):
    event = sealed.event_of(107)
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s", [event])
    assert check() == [
        f"event {event}, leaf 107, ip: its personal value is missing; no record says that it was erased or has expired."
    ]


@pytest.mark.sweep
def test_a_personal_value_of_somebody_erased_before_it_was_written_must_be_there(tamper, check):
    """The last event is one of a person whose earlier events were erased."""
    event = tamper.execute("SELECT max(id) FROM audit_event").fetchone()[0]
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s", [event])
    assert [each.partition(":")[0] for each in check()] == [f"event {event}, agent", f"event {event}, ip"]


@pytest.mark.sweep
def test_a_personal_value_whose_time_is_up_may_be_gone(tamper, check):
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s AND field = 'ip'", [sealed.event_of(107)])
    tamper.execute("SET session_replication_role = origin")
    put_in_as_leaves(tamper, [EXPIRED % ("2037-01-02T00:00:00.000000Z", "system", "2037-01-01T00:00:00.000000Z", "ip")])
    assert not [finding for finding in check() if "personal value" in finding]


EXPIRED = (
    '{"at":"%s","by":"%s","data":{"before":"%s","days":1,"fields":["%s"]},"kind":"personal.expired",'
    '"on":"retention:address"}'
)
ERASED = '{"at":"2037-01-02T00:00:00.000000Z","by":"system","data":%s,"kind":"personal.erased","on":"player:7"}'
NEW_YEAR = "2037-01-01T00:00:00.000000Z"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "record",
    sample(
        [
            EXPIRED % ("2037-01-02T00:00:00.000000Z", "staff:1", NEW_YEAR, "ip"),
            EXPIRED % ("2037-01-01T23:59:59.999999Z", "system", NEW_YEAR, "ip"),
            EXPIRED % ("2037-01-02T00:00:00.000000Z", "system", NEW_YEAR, "tried"),
            EXPIRED.replace('"days":1', '"days":0') % (NEW_YEAR, "system", NEW_YEAR, "ip"),
            '{"at":"2037-01-02T00:00:00.000000Z","by":"staff:1","data":{},"kind":"personal.erased","on":"player:7"}',
            '{"at":"2026-01-01T00:00:00.000000Z","by":"system","data":{},"kind":"personal.erased","on":"player:7"}',
            ERASED % '{"fields":["name"]}',
        ],
        2,
    ),
)
def test_a_record_speaks_only_for_what_the_house_itself_let_go(tamper, check, record):
    event = sealed.event_of(107)
    tamper.execute("DELETE FROM audit_personal WHERE event_id = %s", [event])
    tamper.execute("SET session_replication_role = origin")
    put_in_as_leaves(tamper, [record])
    gone = (
        f"event {event}, leaf 107, ip: its personal value is missing; no record says that it was erased or has expired."
    )
    assert gone in check()


@pytest.mark.sweep
@pytest.mark.parametrize("body", sample(["{", "[]", "7", '{"at":1}', "[" * 20_000, '{"at":"%s","by":"system"}'], 2))
@pytest.mark.parametrize("kind", sample(["personal.expired", "personal.erased", "x.y"], 1))
def test_a_body_that_is_no_event_is_found(tamper, check, body, kind):
    event = sealed.event_of(100)
    tamper.execute("UPDATE audit_event SET kind = %s, body = convert_to(%s, 'UTF8') WHERE id = %s", [kind, body, event])
    findings = check()
    assert f"event {event}, leaf 100, body: its body is not an event; it was not written by audit_record." in findings
    assert len(findings) == (2 if kind == "x.y" else 3)


@pytest.mark.sweep
@pytest.mark.parametrize("at", sample(["infinity", "-infinity"], 1))
def test_a_time_that_never_comes_is_found(tamper, check, at):
    tamper.execute("UPDATE audit_event SET at = %s WHERE id = %s", [at, sealed.event_of(100)])
    assert any(f"event {sealed.event_of(100)}, leaf 100, at: the row has infinity" in each for each in check())


@pytest.mark.sweep
def test_what_a_value_begins_with_is_not_taken_for_its_salt(tamper, check):
    """The SHA-256 of the concatenation of both is unchanged."""
    event = sealed.event_of(107)
    tamper.execute(
        "UPDATE audit_personal SET salt = salt || convert_to(left(value, 4), 'UTF8'), value = substr(value, 5)"
        " WHERE event_id = %s",
        [event],
    )
    (finding,) = check()
    assert finding.startswith(f"event {event}, leaf 107, ip: the stored personal value was changed or inserted;")


@pytest.mark.sweep
@pytest.mark.parametrize("number", sample([2**62, 10**12, 5000], 1))
@pytest.mark.parametrize("level", sample([0, 1, 7], 1))
def test_a_tile_far_beyond_the_leaves_is_found_and_not_counted_with(tamper, check, level, number):
    tamper.execute("INSERT INTO audit_tile VALUES (%s, %s, %s)", [level, number, bytes(32)])
    assert check() == [f"tile {number} of level {level} exists; its number is outside the tree."]


@pytest.mark.sweep
@pytest.mark.parametrize("leaf", sample([2**62, 10**12], 1))
def test_a_leaf_far_beyond_the_others_is_found_and_not_counted_with(tamper, check, leaf):
    tamper.execute(INSERTED, [sealed.event_of(100)])
    tamper.execute("INSERT INTO audit_leaf (leaf, event_id) VALUES (%s, 1)", [leaf])
    assert check() == [f"event 1, leaf {leaf}: its number is outside the log; it was inserted without the sealer."]
