"""The compliance API for the log: earlier checkpoints, proofs of consistency, keys."""

import pytest
from django.test import Client

from audit.models import Checkpoint
from audit.sealing import sealer
from audit.verification.verify import demand_extended, hashes_of
from players.api import tokens
from players.models import Scope
from tests.api.client import ApiClient
from tests.audit import sealed
from tests.audit.signing import Pens
from tests.builders import a_player
from tests.harness.sweeps import sample, sweep
from tests.people import a_member_of_staff
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
        answer = api_client.get("log/consistency/?old=0&size=1")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-sealed")

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


class TestScopes:
    @pytest.mark.parametrize(
        ("scope", "reaches"),
        sweep(
            [
                (Scope.CHECKPOINTS, {"log/keys/", "log/checkpoints/"}),
                (Scope.EVENTS, {"events/", "significant/"}),
                (Scope.ROUNDS, {"compliance/rounds/"}),
                (Scope.REPORTS, {"reports/", "reports/kinds/"}),
            ],
            always=lambda case: case[0] in (Scope.CHECKPOINTS, Scope.EVENTS),
        ),
    )
    def test_a_token_reaches_as_far_as_its_scopes(self, size, scope, reaches):
        api_client = ApiClient(a_member_of_staff("compliance").user, scope)
        everything = ["log/keys/", "log/checkpoints/", "events/", "significant/"]
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
        for name in ("log/keys/", "events/", "reports/"):
            assert browser.get(f"/api/v1/{name}").status_code == 401

    def test_a_player_s_token_cannot_read_it(self):
        api_client = ApiClient(a_player().user)
        for name in ("log/keys/", "events/", "compliance/rounds/", "reports/"):
            assert api_client.get(name).status_code == 403
