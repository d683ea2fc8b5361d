"""An operator announces its player, who logs in by a single-use URL and plays on the page."""

import csv
import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import translation

from games.models import Participation
from players.account.registration import record_change
from players.api import tokens
from players.login import locks
from players.models import Agreement, Mail, Player, Scope, Session
from players.protection.exclusions import exclude
from tests.builders import a_chemin_live_table, a_golden_table, a_player, a_shared_table, a_table
from tests.games.at_pages import click
from tests.harness.sweeps import sample
from tests.operator_wallet import BORN, MONEY, a_partner, a_visit, an_operator
from tests.people import a_member_of_staff, a_visitor, events
from wallet.models import OperatorLaunch, OperatorPlayer, PartnerKey, PartnerKind
from wallet.money import format_money
from wallet.operator_wallet import operators, queue
from wallet.seamless_wallet import partners, signing

LAUNCH = "/api/v1/operators/launch/"
LANGUAGES = ("sv", "da", "ro", "de", "en")
STAKE = 5_000


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def table(cloned_db):
    return a_table()


def said(**other):
    return {
        "player": "anna",
        "session": "s-anna",
        "currency": "SEK",
        "jurisdiction": "SE",
        "language": "sv",
        "birth_date": BORN.isoformat(),
        "table": "baccarat",
        "mode": "real",
    } | other


def send(operator, body=None, *, at=0, secret="", path=LAUNCH, content="application/json", **other):
    body = json.dumps(said(**other)).encode() if body is None else body
    host = operator.host
    signed = signing.headers(
        host.key, secret or host.secret, at=at or int(time.time()), method="POST", path=LAUNCH, body=body
    )
    return Client().post(path, body, content_type=content, headers=signed)


def announced(operator, **other):
    operator.host.balances.setdefault("anna", MONEY)
    operator.host.sessions.add("s-anna")
    answer = send(operator, **other)
    assert answer.status_code == 200, answer.text
    return answer.json()["address"].removeprefix("http://testserver")


class TestAnnouncing:
    @pytest.mark.sweep
    def test_a_player_is_made_once_and_found_again(self, operator, table):
        first, second = announced(operator), announced(operator)
        assert first != second
        player = Player.objects.get()
        assert (player.currency, player.jurisdiction_id, player.birth_date) == ("SEK", "SE", BORN)
        assert player.uses_operator_wallet
        assert not player.user.has_usable_password()
        assert Agreement.objects.filter(player=player).count() == 1
        assert OperatorLaunch.objects.count() == 2
        assert events("player.registered")[-1]["data"]["operator"] == operator.partner.code

    def test_of_two_first_visits_at_once_one_makes_the_player(self, operator, table):
        def announce(number):
            try:
                return operators.announce(operator.partner, a_visit("berta", f"s-{number}")).code
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(announce, range(4)))) == 4
        assert OperatorPlayer.objects.get(name="berta").player.uses_operator_wallet

    @pytest.mark.sweep
    def test_nobody_is_mailed(self, operator, table):
        announced(operator)
        user = Player.objects.get().user
        record_change("password.changed", user=user, ip="10.0.0.1")
        assert Mail.objects.get(address=user.email).next_try_at is None

    @pytest.mark.sweep
    def test_two_operators_may_call_two_people_the_same(self, operator, table):
        announced(operator)
        with an_operator() as other:
            announced(other)
        assert OperatorPlayer.objects.filter(name="anna").count() == 2

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("field", "value"),
        sample(
            [
                ("player", ""),
                ("player", 7),
                ("session", "s" * 129),
                ("currency", "sek"),
                ("jurisdiction", "Sweden"),
                ("language", "fr"),
                ("birth_date", "1990-5-1"),
                ("birth_date", "1990-02-30"),
                ("table", "../admin"),
                ("mode", "free"),
                ("nickname", "Anna"),
            ],
            2,
        ),
    )
    def test_what_is_not_of_the_format_is_refused_by_its_field(self, operator, table, field, value):
        answer = send(operator, **{field: value})
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
        assert answer.json()["errors"][0]["pointer"] == f"/{field}"
        assert not Player.objects.exists()

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("code", "status", "other"),
        sample(
            [
                ("player-too-young", 403, {"birth_date": "2020-01-01"}),
                ("table-unknown", 404, {"jurisdiction": "XX"}),
                ("currency-not-offered", 409, {"jurisdiction": "DK"}),
                ("table-unknown", 404, {"table": "nowhere"}),
            ],
            1,
        ),
    )
    def test_refusals(self, operator, table, code, status, other):
        answer = send(operator, **other)
        assert (answer.json()["code"], answer.status_code) == (code, status)

    @pytest.mark.sweep
    def test_a_player_does_not_change_their_money(self, operator, table):
        announced(operator)
        answer = send(operator, birth_date="1991-05-01")
        assert (answer.json()["code"], answer.status_code) == ("player-changed", 409)

    @pytest.mark.sweep
    @pytest.mark.parametrize("make", sample([a_golden_table, a_shared_table, a_chemin_live_table], 1))
    def test_tables_that_hold_money_are_none_for_them(self, operator, make):
        answer = send(operator, table=make().slug)
        assert (answer.json()["code"], answer.status_code) == ("table-not-for-operators", 409)

    def test_who_signs_wrongly_or_too_late_is_nobody(self, operator, table):
        assert send(operator, secret="another").json()["code"] == "bad-signature"
        late = send(operator, at=int(time.time()) - 61)
        assert (late.status_code, late.json()["code"]) == (401, "outside-window")
        assert late.json()["now"] == pytest.approx(time.time(), abs=30)
        assert send(operator, path=f"{LAUNCH}?to=elsewhere").status_code == 401
        assert send(operator, content="text/plain").status_code == 415
        assert Client().get(LAUNCH).status_code == 405
        assert send(operator, body=b"x" * 20_000).status_code == 400
        assert not Player.objects.exists()

    @pytest.mark.sweep
    def test_a_studio_announces_nobody(self, operator, table):
        studio = a_partner("https://studio.example/", kind=PartnerKind.STUDIO)
        key = PartnerKey.objects.get(partner=studio)
        operator.host.key, operator.host.secret = key.name, signing.secret_of(key)
        assert send(operator).json()["code"] == "bad-signature"

    def test_an_operator_that_is_switched_off_announces_nobody(self, operator, table):
        partners.switch_off(partner=operator.partner, reason="over", by=a_member_of_staff("finance"))
        assert send(operator).json()["code"] == "partner-off"


class TestComingIn:
    @pytest.mark.sweep
    def test_the_address_leads_to_the_table_in_the_players_language(self, operator, table):
        visitor = a_visitor()
        answer = visitor.get(announced(operator))
        assert (answer.status_code, answer["Location"]) == (302, "/sv/table/baccarat/real/")
        page = visitor.get(answer["Location"])
        assert page.status_code == 200
        assert "1\xa0000,00" in page.text  # the balance that the operator reports
        assert Session.objects.get().pk == OperatorLaunch.objects.get().session

    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_it_is_good_once(self, operator, table, language):
        address = announced(operator, language=language)
        a_visitor().get(address)
        again = a_visitor().get(address)
        assert again.status_code == 404
        with translation.override(language):
            assert translation.gettext("This link is no longer valid") in again.text

    def test_it_is_good_for_a_minute(self, operator, table, monkeypatch):
        monkeypatch.setattr(operators, "LASTS", timedelta(0))
        assert a_visitor().get(announced(operator)).status_code == 404

    @pytest.mark.sweep
    def test_reading_the_address_does_not_use_it(self, operator, table):
        address = announced(operator)
        assert a_visitor().head(address).status_code == 405
        assert a_visitor().post(address).status_code in (403, 405)
        assert a_visitor().get(address).status_code == 302

    def test_whose_account_is_locked_does_not_come_in(self, operator, table):
        address = announced(operator)
        locks.lock(player=Player.objects.get(), reason="for a test", by=a_member_of_staff("support"))
        assert a_visitor().get(address).status_code == 403

    def test_who_has_excluded_themselves_reads_so_at_the_table(self, operator, table):
        address = announced(operator)
        exclude(player=Player.objects.get(), days=400, reason="for a test", by=a_member_of_staff("compliance"))
        visitor = a_visitor()
        page = visitor.get(visitor.get(address)["Location"])
        assert page.status_code == 200
        assert "games/not_eligible.html" in [each.name for each in page.templates]

    @pytest.mark.sweep
    def test_plays_by_the_page(self, operator, table):
        visitor = a_visitor()
        visitor.get(announced(operator, language="en"))
        visitor.get("/en/table/baccarat/real/")
        player = Player.objects.get()
        click(visitor, player, "bet:banker", chip=STAKE)
        click(visitor, player, "deal")
        part = Participation.objects.get()
        assert part.staked == STAKE
        queue.send_due()
        assert operator.host.balances["anna"] == MONEY - STAKE + part.paid

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_the_cashier_says_where_the_money_is(self, operator, table, language):
        visitor = a_visitor()
        visitor.get(announced(operator, language=language))
        page = visitor.get(f"/{language}/cashier/")
        with translation.override(language):
            message = translation.gettext(
                "You are playing with your balance at the site you came from. Deposit and withdraw on that site."
            )
        assert message in page.text
        assert visitor.get(f"/{language}/cashier/withdraw/").status_code == 302

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_the_lobby_shows_what_they_can_play(self, operator, table, language):
        others = [a_shared_table(), a_golden_table(), a_chemin_live_table("SEK")]
        visitor = a_visitor()
        visitor.get(announced(operator, language=language))
        real, free = (visitor.get(f"/{language}/{query}").text for query in ("", "?money=free"))
        assert f"/{language}/table/{table.slug}/real/" in real
        assert [each.slug for each in others if f"/{language}/table/{each.slug}/real/" in real] == []
        for each in (table, *others[:2]):
            assert f"/{language}/table/{each.slug}/free/" in free

    @pytest.mark.sweep
    def test_the_log_says_nothing_of_balances_that_are_elsewhere(self, operator, table):
        visitor = a_visitor()
        visitor.get(announced(operator, language="en"))
        visitor.get("/en/table/baccarat/real/")
        player = Player.objects.get()
        click(visitor, player, "bet:banker", chip=STAKE)
        click(visitor, player, "deal")
        part = Participation.objects.get()
        for address in ("/en/history/", f"/en/history/{part.round_id}/"):
            page = visitor.get(address)
            assert (page.status_code, part.round.code in page.text) == (200, True)
            assert "Balance before" not in page.text
        rows = visitor.get("/en/history/rounds.csv").getvalue().decode("utf-8-sig").splitlines()
        (row,) = csv.DictReader(rows)
        assert (row["Staked"], row["Balance before"], row["Balance after"]) == ("50.00", "", "")


class TestTheBalance:
    @pytest.mark.sweep
    def test_asks_again_until_the_operator_was_notified(self, operator, table):
        visitor = a_visitor()
        visitor.get(announced(operator, language="en"))
        visitor.get("/en/table/baccarat/real/")
        player = Player.objects.get()
        click(visitor, player, "bet:banker", chip=STAKE)
        dealt = click(visitor, player, "deal").text
        address = "/en/table/baccarat/real/balance/"
        assert f'hx-get="{address}"' in dealt
        assert format_money(MONEY - STAKE, "SEK", "en") in visitor.get(address).text
        queue.send_due()
        shown = visitor.get(address).text
        assert "hx-get" not in shown
        assert format_money(operator.host.balances["anna"], "SEK", "en") in shown

    @pytest.mark.sweep
    def test_does_not_exist_for_a_player_whose_money_is_here(self, operator, table):
        visitor = a_visitor()
        visitor.force_login(a_player(real=MONEY).user)
        assert visitor.get("/en/table/baccarat/real/balance/").status_code == 404


def test_no_token_outlives_a_visit(operator, table):
    """Not by the page, not by the service, and not with an older token."""
    visitor = operator.visit()
    with pytest.raises(tokens.NotTheirs):
        tokens.make(user=visitor.player.user, name="Chart", scopes=[Scope.READ], days=1)
    assert tokens.scopes_for(visitor.player.user) == ()
    assert not tokens.may_use(visitor.player.user)
    browser = Client()
    browser.force_login(visitor.player.user)
    assert browser.get("/en/account/api-tokens/").status_code == 404
    assert browser.get("/en/account/api-tokens/new/").status_code == 404
    assert "/account/api-tokens/" not in browser.get("/en/account/").text
