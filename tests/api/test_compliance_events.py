"""The compliance API finds events and returns their bytes and proofs, which other programs verify."""

import base64
import hashlib
import json
from datetime import timedelta
from uuid import uuid4

import pytest

from audit import event_search, log
from audit.models import Event, Leaf
from audit.verification.verify import Checkpoint, Proof, demand_included, keys_of
from players import datetime_format
from players.staff import access_log
from tests.api.client import ApiClient
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events

pytestmark = pytest.mark.django_db


@pytest.fixture
def pens(settings) -> Pens:
    made = Pens()
    settings.AUDIT_KEYS = made.keys.replace("\n", ",")
    return made


@pytest.fixture
def compliance():
    return a_member_of_staff("compliance")


@pytest.fixture
def api_client(compliance) -> ApiClient:
    return ApiClient(compliance.user)


def some(*numbers: int, on: str = "") -> list[int]:
    """Events of a kind that nothing else here writes."""
    on = on or f"round:{uuid4()}"
    return [log.record("test.happened", by="system", on=on, data={"n": n}) for n in numbers]


def found(api_client, **query) -> list[int]:
    """Return the numbers of all events of these tests that a search finds, page after page."""
    numbers, cursor = [], None
    while True:
        answer = api_client.get(
            "events/", **{"kind": "test.happened", **query} | ({"cursor": cursor} if cursor else {})
        )
        assert answer.status_code == 200, answer.content
        page = answer.json()
        numbers += [each["data"]["n"] for each in page["items"]]
        cursor = page["next"]
        if cursor is None:
            return numbers


class TestFinding:
    @pytest.mark.sweep
    def test_newest_come_first_or_oldest_a_page_at_a_time(self, api_client):
        some(*range(7))
        assert found(api_client, limit=3) == [6, 5, 4, 3, 2, 1, 0]
        assert found(api_client, limit=3, order="oldest") == [0, 1, 2, 3, 4, 5, 6]

    def test_what_happens_while_somebody_reads_on_shifts_nothing(self, api_client):
        some(*range(6))
        first = api_client.get("events/", kind="test.happened", limit=3).json()
        some(*range(100, 110))
        second = api_client.get("events/", kind="test.happened", limit=3, cursor=first["next"]).json()
        assert [each["data"]["n"] for each in first["items"] + second["items"]] == [5, 4, 3, 2, 1, 0]

    @pytest.mark.sweep
    def test_by_actor_and_subject(self, api_client):
        round_id = uuid4()
        some(1, on=f"round:{round_id}")
        log.record("test.happened", by="staff:999", on="table:999", data={"n": 2})
        assert found(api_client, on=f"round:{round_id}") == [1]
        assert found(api_client, on=str(round_id)) == [1]
        assert found(api_client, by="staff:999") == [2]
        assert found(api_client, by="staff:999", on="table:998") == []

    @pytest.mark.sweep
    def test_by_time(self, api_client):
        some(1)
        at = Event.objects.get(kind="test.happened").at
        moment, second = at.isoformat(), timedelta(seconds=1)
        assert found(api_client, since=moment) == [1]
        assert found(api_client, until=moment) == []
        assert found(api_client, since=(at - second).isoformat(), until=(at + second).isoformat()) == [1]
        assert found(api_client, since=(at + second).isoformat()) == []

    @pytest.mark.sweep
    def test_by_their_numbers_in_the_log(self, api_client, pens):
        numbers = some(*range(10))
        sealed.sign(pens)
        first = Leaf.objects.get(event=numbers[0]).leaf
        assert found(api_client, first_leaf=first + 2, end_leaf=first + 5) == [4, 3, 2]
        assert found(api_client, first_leaf=first + 100_000, end_leaf=first + 100_001) == []

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("query", "pointer"),
        sample(
            [
                ({"first_leaf": 3}, "/?end_leaf"),
                ({"end_leaf": 3}, "/?first_leaf"),
                ({"first_leaf": 3, "end_leaf": 2}, "/?end_leaf"),
                ({"first_leaf": 0, "end_leaf": event_search.MOST_LEAVES + 1}, "/?end_leaf"),
                ({"first_leaf": -1, "end_leaf": 2}, "/?first_leaf"),
                ({"since": "yesterday"}, "/?since"),
                ({"order": "best"}, "/?order"),
                ({"limit": 0}, "/?limit"),
                ({"limit": 101}, "/?limit"),
                ({"kind": "a\0b"}, "/?kind"),
                ({"colour": "red"}, "/?colour"),
                ({"cursor": "x"}, "/?cursor"),
                ({"cursor": base64.urlsafe_b64encode(b"1,2").decode()}, "/?cursor"),
                ({"cursor": base64.urlsafe_b64encode(b"9" * 19).decode()}, "/?cursor"),
            ],
            2,
        ),
    )
    def test_an_invalid_question_names_its_field(self, api_client, query, pointer):
        answer = api_client.get("events/", **query)
        assert answer.status_code == 400
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]

    @pytest.mark.sweep
    @pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
    @pytest.mark.parametrize("name", ["since", "until"])
    def test_a_moment_no_clock_of_every_zone_can_tell_names_its_field(self, api_client, moment, name):
        answer = api_client.get("events/", **{name: moment})
        assert answer.status_code == 400
        assert [error["pointer"] for error in answer.json()["errors"]] == [f"/?{name}"]

    @pytest.mark.sweep
    @pytest.mark.parametrize("moment", [datetime_format.FIRST, datetime_format.LAST])
    def test_the_first_and_the_last_day_are_no_error(self, api_client, moment):
        assert api_client.get("events/", since=f"{moment}T00:00:00Z").status_code == 200
        assert api_client.get("events/", until=f"{moment}T00:00:00Z").status_code == 200


class TestOne:
    @pytest.mark.sweep
    def test_its_bytes_are_those_that_are_proven(self, api_client, pens):
        (number,) = some(1)
        event = api_client.get(f"events/{number}/").json()
        assert (event["leaf"], event["is_signed"]) == (None, False)
        sealed.sign(pens)
        event = api_client.get(f"events/{number}/").json()
        body = base64.b64decode(event["body"])
        assert body == bytes(Event.objects.get(pk=number).body)
        hashed = hashlib.sha256(bytes.fromhex(event["salt"]) + body).hexdigest()
        assert event["leaf_hash"] == hashlib.sha256(b'\0{"hash":"%s"}' % hashed.encode()).hexdigest()
        assert (event["leaf"], event["is_signed"]) == (Leaf.objects.get(event=number).leaf, True)
        said = json.loads(body)
        assert {name: event[name] for name in ("at", "kind", "by", "on", "data")} == said

    @pytest.mark.sweep
    def test_personal_values_stay_behind_their_hashes(self, api_client):
        personal = {"ip": "198.51.100.77"}
        number = log.record("test.happened", by="system", on="test:1", data={}, personal=personal)
        answer = api_client.get(f"events/{number}/")
        assert set(answer.json()["personal"]) == {"ip"}
        assert b"198.51.100.77" not in answer.content
        assert b"198.51.100.77" not in base64.b64decode(answer.json()["body"])

    @pytest.mark.sweep
    def test_another_number_is_not_found(self, api_client):
        for address in ("events/999999999/", "events/999999999/proof/", f"events/{'9' * 30}/"):
            answer = api_client.get(address)
            assert (answer.status_code, answer.json()["code"]) == (404, "not-found")

    def test_its_proof_can_be_checked_with_the_keys(self, api_client, pens):
        numbers = some(*range(5))
        sealed.sign(pens)
        for number in numbers:
            answer = api_client.get(f"events/{number}/proof/")
            assert answer["Content-Type"] == "text/plain; charset=utf-8"
            proof = Proof.of(answer.content.decode())
            tree = Checkpoint.of(proof.note, keys_of(pens.keys)).tree
            hashed = bytes.fromhex(api_client.get(f"events/{number}/").json()["leaf_hash"])
            demand_included(leaf=proof.leaf, size=tree.size, hashed=hashed, proof=proof.hashes, root=tree.root)

    @pytest.mark.sweep
    def test_there_is_no_proof_before_a_signature(self, api_client, pens):
        (number,) = some(1)
        answer = api_client.get(f"events/{number}/proof/")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-sealed")


class TestOnRecord:
    @pytest.mark.sweep
    def test_every_player_an_event_names_is_in_the_access_log(self, api_client, compliance):
        player = a_player()
        number = log.record("test.happened", by="system", on=str(player), data={})
        api_client.get("events/", kind="test.happened")
        api_client.get(f"events/{number}/")
        listed, one = events("data.accessed")[-2:]
        assert [each["by"] for each in (listed, one)] == [str(compliance)] * 2
        assert [each["on"] for each in (listed, one)] == ["page:api:events", "page:api:event"]
        assert [each["data"]["players"] for each in (listed, one)] == [[str(player)]] * 2

    def test_what_cannot_be_put_on_record_is_not_sent(self, api_client, monkeypatch):
        player = a_player()
        log.record("test.happened", by="system", on=str(player), data={})
        api_client.client.raise_request_exception = False
        monkeypatch.setattr(access_log, "ACCESSED", "data.accessed\0")
        answer = api_client.get("events/", kind="test.happened")
        assert answer.status_code == 500
        assert str(player).encode() not in answer.content
