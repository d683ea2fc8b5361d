"""A paused or excluded player cannot play or deposit, but can log in, read and withdraw.

Every reason is tested at every entry point.
"""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client

from games.errors import NotEligible
from games.models import Participation, SoloSeat
from games.solo import add_chip, play_round
from players.models import Exclusion, ExclusionKind, Player
from players.protection import eligibility, exclusions
from tests.builders import PASSWORD, a_golden_table, a_player, a_purse, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events, log_in
from wallet import cashier
from wallet.ledger import accounts, purse
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000


def pause(player: Player) -> Exclusion:
    return exclusions.pause(player=player, by=str(player))


def time_out(player: Player) -> Exclusion:
    return exclusions.take_time_out(player=player, length="week", by=str(player))


def exclude_self(player: Player) -> Exclusion:
    return exclusions.exclude_self(player=player, months=12, by=str(player))


def exclude_for_good(player: Player) -> Exclusion:
    return exclusions.exclude_self(player=player, months=None, by=str(player))


def exclude(player: Player) -> Exclusion:
    return exclusions.exclude(player=player, days=None, reason="asked by a court", by=a_member_of_staff("support"))


KINDS = [pause, time_out, exclude_self, exclude_for_good, exclude]
every_kind = pytest.mark.parametrize("stop", sample(KINDS, 2), ids=lambda stop: stop.__name__)


def browser_of(player: Player) -> Client:
    client = a_visitor()
    client.force_login(player.user)
    return client


@every_kind
class TestAnExcludedPlayer:
    @pytest.mark.sweep
    def test_reads_at_the_cashier_until_when_and_meets_no_form_that_would_be_refused(self, stop):
        player = a_player(real=MONEY)
        client = browser_of(player)
        assert 'id="deposit"' in client.get("/en/cashier/").text
        stop(player)
        page = client.get("/en/cashier/").text
        assert 'data-ineligibility="excluded"' in page
        assert 'id="deposit"' not in page
        assert 'id="top-up"' not in page
        assert 'id="take-pause"' not in client.get("/en/protection/").text

    @pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE], ids=["real", "free"])
    def test_gli19_a_3_7_gets_no_round_and_stakes_nothing(self, stop, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        seat = a_seat(player, table, mode, player=1000)
        before = accounts.balance(player.pk, mode)
        stop(player)
        with pytest.raises(NotEligible):
            play_round(
                player=player,
                table_id=table.pk,
                mode=mode,
                round_id=seat.round_id,
                slip_version=seat.slip_version,
            )
        assert not Participation.objects.filter(player=player).exists()
        assert accounts.balance(player.pk, mode) == before
        (refused,) = events("round.refused", by=str(player))
        assert (refused["data"]["reason"], refused["data"]["ineligibility"]) == ("NotEligible", "excluded")

    @pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE], ids=["real", "free"])
    def test_puts_no_chip_on_a_table(self, stop, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        a_seat(player, table, mode)
        stop(player)
        with pytest.raises(NotEligible):
            add_chip(player=player, table_id=table.pk, mode=mode, bet="player", chip=1000)

    @pytest.mark.sweep
    @pytest.mark.parametrize("money", ["real", "free"])
    def test_is_informed_at_every_table_until_when(self, stop, money):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        stop(player)
        page = browser_of(player).get(f"/en/table/{table.slug}/{money}/").content.decode()
        assert 'data-ineligibility="excluded"' in page
        assert eligibility.exclusion_message(player) in page
        assert 'id="act-deal"' not in page
        assert not SoloSeat.objects.filter(player=player).exists()

    @pytest.mark.sweep
    def test_is_led_from_a_click_at_the_table_to_that_page(self, stop):
        player, table = a_player(real=MONEY), a_table()
        seat, browser = a_seat(player, table, player=1000), browser_of(player)
        stop(player)
        sent = {"action": "deal", "round_id": seat.round_id, "slip_version": seat.slip_version, "table_version": 1}
        address = f"/en/table/{table.slug}/real/"
        plain = browser.post(f"{address}play/", sent)
        assert (plain.status_code, plain.headers["Location"]) == (302, address)
        answer = browser.post(f"{address}play/", sent, headers={"HX-Request": "true"})
        assert answer.headers["HX-Redirect"] == address

    def test_deposits_nothing(self, stop):
        player = a_player(real=MONEY)
        assert eligibility.check_deposit(player) is None
        stop(player)
        ineligibility = eligibility.check_deposit(player)
        assert ineligibility is not None
        assert ineligibility.code is eligibility.Code.EXCLUDED

    def test_gets_no_free_money(self, stop):
        player = a_player()
        stop(player)
        with pytest.raises(cashier.NotEligible):
            cashier.top_up_free(player=player, key=uuid4())
        assert accounts.balance(player.pk, Mode.FREE) == 0

    def test_moves_no_money_into_a_game(self, stop):
        player = a_player(real=MONEY)
        stop(player)
        with pytest.raises(purse.NotEligible):
            purse.rebuy(player=player, mode=Mode.REAL, amount=1000, key=uuid4())

    @pytest.mark.parametrize(
        "page", sample(["/en/cashier/", "/en/history/", "/en/account/", "/en/protection/", "/en/"], 2)
    )
    def test_sees_their_money_and_history(self, stop, page):
        player = a_player(real=MONEY)
        a_round(player, a_table(), player=1000)
        stop(player)
        assert browser_of(player).get(page).status_code == 200

    @pytest.mark.sweep
    def test_logs_in(self, stop):
        player = a_player(password=PASSWORD)
        stop(player)
        visitor = a_visitor()
        assert log_in(visitor, player.user, PASSWORD).status_code == 302
        page = visitor.get("/en/protection/").content.decode()
        assert 'data-ineligibility="excluded"' in page

    @pytest.mark.sweep
    def test_sees_it_in_the_lobby(self, stop):
        player = a_player()
        a_table()
        stop(player)
        page = browser_of(player).get("/en/").content.decode()
        assert eligibility.exclusion_message(player) in page


def test_gli19_2_4_1_a_player_is_disabled_with_the_reason_on_record():
    player, staff = a_player(real=MONEY), a_member_of_staff("compliance")
    browser = a_visitor()
    browser.force_login(staff.user)
    browser.post("/staff/exclusions/", {"player": player.pk, "days": "", "reason": "played for somebody else"})
    (recorded,) = events("player.excluded", on=str(player))
    assert recorded["by"] == str(staff)
    assert (recorded["data"]["kind"], recorded["data"]["until"]) == ("staff", None)
    assert recorded["data"]["reason"] == "played for somebody else"
    assert eligibility.check_play(player, real=False)


def test_staff_exclude_nobody_without_a_reason():
    player, staff = a_player(), a_member_of_staff("support")
    with pytest.raises(exclusions.ReasonMissing):
        exclusions.exclude(player=player, days=1, reason="  ", by=staff)
    browser = a_visitor()
    browser.force_login(staff.user)
    browser.post("/staff/exclusions/", {"player": player.pk, "reason": ""})
    assert not Exclusion.objects.exists()


def test_money_held_in_a_game_is_returned_at_once():
    player = a_player(real=MONEY)
    a_golden_table()
    a_purse(player, 100_000)
    browser_of(player).post("/en/protection/pause/")
    assert purse.balance(player, Mode.REAL) == 0
    assert accounts.balance(player.pk, Mode.REAL) == MONEY


@pytest.mark.sweep
def test_the_page_of_a_pause_says_what_stays_open():
    player = a_player()
    page = browser_of(player).post("/en/protection/pause/", follow=True).content.decode()
    assert eligibility.exclusion_message(player) in page
    assert "Withdraw your money" in page


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("jurisdiction", "asks"), [("SE", True), ("DK", True), ("RO", True), ("DE", False), ("GB", True)]
)
def test_the_button_asks_as_the_profile_lets_it(jurisdiction, asks):
    player = a_player(jurisdiction)
    browser = browser_of(player)
    page = browser.get("/en/").content.decode()
    assert ('id="pause-ask"' in page) is asks
    assert ('id="pause" href="/en/protection/pause/"' in page) is asks
    asked = browser.get("/en/protection/pause/")
    assert asked.status_code == (200 if asks else 302)
    browser.post("/en/protection/pause/")
    (made,) = Exclusion.objects.filter(player=player)
    assert made.kind == ExclusionKind.PAUSE
    assert made.until == made.begun + timedelta(days=1)


def test_a_player_has_no_button():
    assert 'id="pause"' not in a_visitor().get("/en/").content.decode()
