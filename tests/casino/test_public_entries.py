"""The public log shows no personal value of any event: an event about a person is a salted hash."""

import json
import re
from collections.abc import Iterator
from functools import cached_property

import pytest
from django.db import connection

from audit import log
from audit.models import Event, Personal
from audit.sealing import sealer
from audit.verification.export import bundle
from players.models import Staff, User
from tests.harness.product import PROJECT, modules
from tests.scene import Scene

pytestmark = pytest.mark.django_db

# Reviewed before publication: the fields of each kind whose events are about no person.
PUBLIC = {
    "bets.sealed": {"bets", "root"},
    "dealer.started": {"epoch", "key"},
    "ledger.verified": {"invariants", "is_whole"},
    "log.accepted": {"size"},
    "log.caught_up": {"seconds"},
    "log.keys_announced": {"keys", "signs"},
    "log.lags": {"seconds", "since"},
    "log.refused": {"reason", "signed", "size"},
    "log.unwitnessed": {"needed", "seconds", "since", "size"},
    "log.witnessed": {"size"},
    "national_rules.shipped": {"rules"},
    "randomness.alarm": {"mode", "tests", "variant", "week"},
    "randomness.tested": {"families", "tests", "week"},
    "round.dealt": {"first_card", "shoe"},
    "rules.stored": {"after", "before"},
    "shoe.committed": {"beacon", "commitment", "decks", "mode", "purpose", "rules", "table"},
    "shoe.ended": {"commitment", "ending", "gone"},
    "shoe.opened": {
        *("beacon", "burn_card", "burned", "chances", "commitment", "cut", "dealer", "decks", "entropy", "mode"),
        *("number", "purpose", "root", "rules", "signature", "table", "unopened"),
    },
    "shoe.published": {"seed"},
}
A_KIND = re.compile(r"""["']([a-z_]+\.[a-z_]+)["']""")
HASHED = re.compile(rb'\{"hash":"[0-9a-f]{64}"\}')
A_PERSON = re.compile(
    r"\b(player|staff|user|account|withdrawal|payment|seat|session|chat_message):|@|\d+\.\d+\.\d+\.\d+"
)


def kinds() -> set[str]:
    """Return every dotted name in the source: all kinds of events whose name is written out, and other names."""
    sources = [path for _, path in modules()]
    sources += [path for path in PROJECT.rglob("sql/functions/*.sql") if ".venv" not in path.parts]
    return {kind for path in sources for kind in A_KIND.findall(path.read_text(encoding="utf-8"))}


def is_public(kind: str, by: str, data: dict[str, log.Json], personal: dict[str, str] | None = None) -> bool:
    """Return what the database decides of an event when it is written."""
    written = log.event(kind, by=by, on="log", data=data, personal=personal)
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_is_public(%s, %s, %s)", [kind, by, written.rest])
        return bool(cursor.fetchone()[0])


def test_a_kind_is_public_only_if_it_was_read_before() -> None:
    found = kinds()
    assert set(PUBLIC) < found
    assert len(found) > 200
    shown = {kind for kind in found if is_public(kind, "system", dict.fromkeys(PUBLIC.get(kind, ()), 1))}
    assert shown == set(PUBLIC)


@pytest.mark.parametrize("kind", PUBLIC)
def test_an_event_with_another_field_or_actor_or_a_personal_value_is_hashed(kind: str) -> None:
    data: dict[str, log.Json] = dict.fromkeys(PUBLIC[kind], 1)
    assert not is_public(kind, "system", data | {"player": "player:12"})
    assert not is_public(kind, "staff:3", data)
    assert not is_public(kind, "system", data, {"name": "Astrid Lind"})


def entries() -> Iterator[bytes]:
    """Seal everything, and yield the entries of the public log."""
    size = sealer.seal().size
    rest = bundle(0, size)
    while rest:
        length = int.from_bytes(rest[:2], "big")
        yield rest[2 : 2 + length]
        rest = rest[2 + length :]


def texts(value: object) -> Iterator[str]:
    """Yield every text in a value of JSON, names of fields included."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from (name, *texts(part))
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
    else:
        yield str(value)


def test_a_house_in_which_everything_happens_shows_nobody() -> None:
    scene = Scene()
    made = {name for each in Scene.__mro__ for name, of in vars(each).items() if isinstance(of, cached_property)}
    for name in sorted(made):
        getattr(scene, name)
    people = {user.email for user in User.objects.all()} | {member.name for member in Staff.objects.all()}
    values = {personal.value for personal in Personal.objects.all()} | people
    assert len(values) > 20
    seen: dict[str, int] = {}
    for entry in entries():
        if HASHED.fullmatch(entry):
            continue
        event = json.loads(entry)
        assert set(event["data"]) <= PUBLIC[event["kind"]]
        seen[event["kind"]] = seen.get(event["kind"], 0) + 1
        for text in texts(event):
            assert not A_PERSON.search(text), event
            assert text not in values, event
    assert {"shoe.opened", "bets.sealed", "round.dealt", "shoe.ended"} <= set(seen)
    happened = set(Event.objects.values_list("kind", flat=True))
    assert len(happened) > 75
    assert Event.objects.filter(salt=None).count() == sum(seen.values())
