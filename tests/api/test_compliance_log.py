"""The log as a plain C2SP tlog-tiles log, and what stands next to it."""

import hashlib
import struct

import pytest
from django.test import Client

from audit.models import Checkpoint, Leaf, Tile
from audit.sealing import sealer
from audit.verification import export
from audit.verification.verify import Checkpoint as Signed
from audit.verification.verify import demand_extended, hashes_of, keys_of, root_from, split, tile_path
from players.api import tokens
from players.models import Scope
from tests.api.client import ApiClient
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.builders import a_player
from tests.harness.sweeps import sample, sweep
from tests.people import a_member_of_staff, events
from tests.players.test_tokens import give_roles

pytestmark = pytest.mark.django_db


@pytest.fixture
def pens(settings) -> Pens:
    made = Pens()
    settings.AUDIT_KEYS = made.keys.replace("\n", ",")
    return made


@pytest.fixture
def api_client() -> ApiClient:
    return ApiClient(a_member_of_staff("compliance").user)


@pytest.fixture
def size(pens) -> int:
    """A log of some three hundred events, signed twice, and some events more."""
    for number in range(290):
        sealed.an_event(number)
    sealed.sign(pens)
    for number in range(20):
        sealed.an_event(number)
    sealed.sign(pens)
    for number in range(5):
        sealed.an_event(number)
    sealer.seal()
    return last().size


def last() -> Checkpoint:
    return Checkpoint.objects.latest("size")


class TestTiles:
    def test_lead_to_the_root_that_is_signed(self, api_client, size, pens):
        note = api_client.get("log/checkpoint")
        assert note["Content-Type"] == "text/plain; charset=utf-8"
        tree = Signed.of(note.content.decode(), keys_of(pens.keys)).tree
        assert tree.size == size < Leaf.objects.count()

        def tile(level: int, number: int) -> list[bytes]:
            width = min(256, (size >> 8 * level) - 256 * number)
            answer = api_client.get(f"log/{tile_path(level, number, width)}")
            assert answer["Content-Type"] == "application/octet-stream"
            return split(answer.content)

        assert root_from(tile, size) == tree.root

    def test_have_the_entries_that_they_hash(self, api_client, size):
        hashes = split(api_client.get("log/tile/0/000").content)
        bundle, found = api_client.get("log/tile/entries/000").content, []
        while bundle:
            (length,) = struct.unpack(">H", bundle[:2])
            found.append(hashlib.sha256(b"\0" + bundle[2 : 2 + length]).digest())
            bundle = bundle[2 + length :]
        assert found == hashes

    @pytest.mark.sweep
    def test_may_be_asked_for_as_narrow_as_an_earlier_tree_had_them(self, api_client, size):
        whole = api_client.get("log/tile/0/000").content
        assert api_client.get("log/tile/0/000.p/3").content == whole[: 3 * 32]
        assert api_client.get("log/tile/entries/000.p/3").content == export.bundle(0, 3)

    def test_end_where_the_last_checkpoint_does(self, api_client, size):
        width = size % 256
        assert len(bytes(Tile.objects.get(level=0, number=1).hashes)) > width * 32
        for kind in ("0", "entries"):
            assert api_client.get(f"log/tile/{kind}/001.p/{width}").status_code == 200
            assert api_client.get(f"log/tile/{kind}/001.p/{width + 1}").status_code == 404
            assert api_client.get(f"log/tile/{kind}/001").status_code == 404

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "name",
        sample(
            [
                *("0/0", "0/00", "0/0000", "0/x000/000", "0/000.p/0", "0/000.p/256", "0/000.p/03", "0/000.p/", "0/-01"),
                *(
                    "0/000/",
                    "0/999",
                    "0/x999/x999/x999/x999/x999/x999/999",
                    "1/001",
                    "7/000",
                    "64/000",
                    "99999999999/000",
                ),
                *("0/٠٠٠", "entries/999", "entries/0", "leaves/000", "0/../0/000", "0/000.p/1.p/1", "0/000%00"),
            ],
            4,
        ),
    )
    def test_of_unknown_names_are_not_found(self, api_client, size, name):
        answer = api_client.get(f"log/tile/{name}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")

    def test_of_levels_that_nothing_reaches_are_not_there(self, api_client, size):
        assert api_client.get("log/tile/3/000.p/1").status_code == 404


class TestCheckpoints:
    @pytest.mark.sweep
    def test_are_listed_the_largest_first(self, api_client, size):
        first = api_client.get("log/checkpoints/", limit=1).json()
        second = api_client.get("log/checkpoints/", limit=1, cursor=first["next"]).json()
        (one,), (other,) = first["items"], second["items"]
        assert one["size"] == size > other["size"]
        assert one["note"] == last().note

    def test_that_nobody_signed_count_for_nothing(self, api_client, size, settings):
        settings.AUDIT_KEYS = Pens().keys.replace("\n", ",")
        assert api_client.get("log/checkpoints/").json() == {"items": [], "next": None}
        for name in ("log/checkpoint", "log/consistency/?old=0&size=1"):
            answer = api_client.get(name)
            assert (answer.status_code, answer.json()["code"]) == (404, "not-sealed")
        assert api_client.get("log/tile/0/000").status_code == 404

    def test_show_that_the_log_only_grew(self, api_client, size, pens):
        earlier = Checkpoint.objects.order_by("-size")[1]
        answer = api_client.get("log/consistency/", old=earlier.size, size=size).json()
        hashes = hashes_of(answer.pop("hashes"))
        assert answer == {"old": earlier.size, "size": size}
        demand_extended(
            old=earlier.size, size=size, proof=hashes, old_root=bytes(earlier.root), root=bytes(last().root)
        )

    @pytest.mark.sweep
    @pytest.mark.parametrize(("old", "more"), sample([(2, -(10**6)), (0, 1), (10**6, 0)], 1))
    def test_of_unknown_sizes_prove_nothing(self, api_client, size, old, more):
        answer = api_client.get("log/consistency/", old=old, size=max(size + more, 1))
        assert (answer.status_code, answer.json()["code"]) == (404, "not-sealed")

    def test_come_with_the_keys_that_the_house_believes(self, api_client, pens):
        assert api_client.get("log/keys/").json() == {"origin": "sabot.test/log", "keys": pens.keys.split()}

    def test_keys_that_are_none_are_no_fault_of_the_caller(self, api_client, settings):
        settings.AUDIT_KEYS = "none"
        assert api_client.get("log/keys/").json() == {"origin": "", "keys": []}


class TestOnRecord:
    def test_who_took_events_out_of_the_house(self, api_client, size):
        api_client.get("log/tile/entries/000")
        (left,) = events("log.exported")
        assert left["by"].startswith("staff:")
        assert left["data"] == {"first": 0, "end": 256, "size": size, "personal": False}

    @pytest.mark.sweep
    def test_hashes_name_nobody_and_are_not(self, api_client, size):
        before = len(events("data.accessed")) + len(events("log.exported"))
        for name in ("log/checkpoint", "log/tile/0/000", "log/keys/", "log/checkpoints/"):
            assert api_client.get(name).status_code == 200
        assert len(events("data.accessed")) + len(events("log.exported")) == before


class TestScopes:
    @pytest.mark.parametrize(
        ("scope", "reaches"),
        sweep(
            [
                (Scope.CHECKPOINTS, {"log/checkpoint", "log/tile/0/000"}),
                (Scope.EVENTS, {"log/tile/entries/000", "events/", "significant/"}),
                (Scope.ROUNDS, {"compliance/rounds/"}),
                (Scope.REPORTS, {"reports/", "reports/kinds/"}),
            ],
            always=lambda case: case[0] in (Scope.CHECKPOINTS, Scope.EVENTS),
        ),
    )
    def test_a_token_reaches_as_far_as_its_scopes(self, size, scope, reaches):
        api_client = ApiClient(a_member_of_staff("compliance").user, scope)
        everything = ["log/checkpoint", "log/tile/0/000", "log/tile/entries/000", "events/", "significant/"]
        everything += ["compliance/rounds/", "reports/", "reports/kinds/"]
        for name in everything:
            assert api_client.get(name).status_code == (200 if name in reaches else 403), name

    def test_a_role_that_is_lost_takes_its_tokens_with_it(self):
        member = a_member_of_staff("compliance")
        api_client = ApiClient(member.user)
        assert api_client.get("events/").status_code == 200
        give_roles(member, "operator")
        assert api_client.get("events/").status_code in (401, 403)

    def test_a_token_that_is_revoked_reads_nothing_more(self):
        member = a_member_of_staff("compliance")
        api_client = ApiClient(member.user)
        assert api_client.get("log/keys/").status_code == 200
        tokens.revoke(token_id=tokens.running(member.user).get().pk, by=str(member))
        assert api_client.get("log/keys/").status_code == 401

    def test_too_many_calls_are_answered_with_the_time_to_retry(self):
        api_client = ApiClient(a_member_of_staff("compliance").user, per_minute=1)
        answers = [api_client.get("log/keys/") for _ in range(3)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert 0 < float(refused[0]["Retry-After"]) <= 60

    def test_the_log_in_of_a_page_is_no_token(self):
        browser = Client()
        browser.force_login(a_member_of_staff("compliance").user)
        for name in ("log/checkpoint", "events/", "reports/"):
            assert browser.get(f"/api/v1/{name}").status_code == 401

    def test_a_player_s_token_cannot_read_it(self):
        api_client = ApiClient(a_player().user)
        for name in ("log/checkpoint", "log/tile/entries/000", "events/", "compliance/rounds/", "reports/"):
            assert api_client.get(name).status_code == 403
