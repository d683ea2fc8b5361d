"""National exclusion registers: asked at log-in and before play; without an answer nobody plays."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction

from games.errors import NotEligible
from games.solo import play_round, solo_seat_at
from players.models import Duplicate, Player, RegisterCheck
from players.protection import eligibility, exclusions, registers
from tests.builders import PASSWORD, a_player, a_round, a_seat, a_table
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff, a_visitor, events, log_in
from tests.servers.register import PATH, ListedRegister
from wallet.models import Mode
from wallet.payments.deposits import DepositNotEligible, begin

pytestmark = pytest.mark.django_db


@pytest.fixture
def listed(settings) -> Iterator[type[ListedRegister]]:
    """A register for Sweden."""
    settings.PLAYER_REGISTERS = {"SE": PATH}
    ListedRegister.listed, ListedRegister.is_within_reach, ListedRegister.asked = set(), True, 0
    yield ListedRegister
    ListedRegister.listed, ListedRegister.is_within_reach = set(), True


def a_known_pair() -> tuple[Player, Player]:
    """Two accounts that staff have confirmed as one person."""
    first, second = a_player(), a_player()
    by = a_member_of_staff("support")
    Duplicate.objects.create(
        first=first, second=second, ground="phone", resolution="same", resolved_by=by, resolved_at=exclusions.now()
    )
    return first, second


def at_table(player: Player, table) -> str:
    browser = a_visitor()
    browser.force_login(player.user)
    return browser.get(f"/en/table/{table.slug}/free/").content.decode()


def deal_at(player: Player, table) -> None:
    """Deal the current bets."""
    seat = solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL)
    play_round(
        player=player,
        table_id=table.pk,
        mode=Mode.REAL,
        round_id=seat.round_id,
        slip_version=seat.slip_version,
    )


class TestANationalRegister:
    def test_is_asked_at_log_in_and_not_again_in_the_session(self, listed):
        player, table, browser = a_player(password=PASSWORD), a_table(), a_visitor()
        log_in(browser, player.user, PASSWORD)
        assert listed.asked == 1
        assert 'id="act-deal"' in browser.get(f"/en/table/{table.slug}/real/").content.decode()
        assert listed.asked == 1
        assert [each["data"]["outcome"] for each in events("register.checked", on=str(player))] == ["clear", "clear"]

    def test_keeps_listed_people_from_play_real_and_free(self, listed):
        player, table = a_player(), a_table()
        listed.listed = {player.pk}
        assert 'data-ineligibility="register"' in at_table(player, table)
        bars = [
            eligibility.check_play(player, real=True),
            eligibility.check_play(player, real=False),
            eligibility.check_deposit(player),
        ]
        assert [ineligibility and ineligibility.code for ineligibility in bars] == [eligibility.Code.REGISTER] * 3

    def test_out_of_reach_lets_people_log_in_and_nobody_play(self, listed):
        player, table, browser = a_player(password=PASSWORD), a_table(), a_visitor()
        listed.is_within_reach = False
        assert log_in(browser, player.user, PASSWORD).status_code == 302
        assert 'data-ineligibility="unreachable"' in browser.get(f"/en/table/{table.slug}/free/").content.decode()
        assert browser.get("/en/history/").status_code == 200
        listed.is_within_reach = True
        assert 'id="act-deal"' in browser.get(f"/en/table/{table.slug}/free/").content.decode()

    @pytest.mark.sweep
    def test_out_of_reach_and_configured_no_more_keeps_nobody_from_playing(self, listed, settings):
        listed.is_within_reach = False
        player, table = a_player(), a_table()
        assert 'data-ineligibility="unreachable"' in at_table(player, table)
        settings.PLAYER_REGISTERS = {}
        assert 'id="act-deal"' in at_table(player, table)
        settings.PLAYER_REGISTERS = {"SE": PATH}
        assert 'data-ineligibility="unreachable"' in at_table(player, table)

    @pytest.mark.sweep
    def test_serves_its_own_jurisdiction_alone(self, listed):
        player, table = a_player("DK"), a_table()
        listed.listed = {player.pk}
        assert 'id="act-deal"' in at_table(player, table)
        assert [each.name for each in registers.registers_of("SE")] == ["house", "listed"]
        assert [each.name for each in registers.registers_of("DK")] == ["house"]

    @pytest.mark.parametrize("reach", [True, False], ids=["lists the player", "out of reach"])
    def test_configured_in_the_middle_of_a_session_is_asked_before_the_next_round(self, listed, settings, reach):
        settings.PLAYER_REGISTERS = {}
        player, table = a_player(real=100_000), a_table()
        a_round(player, table, player=1000)
        a_seat(player, table, player=1000)
        settings.PLAYER_REGISTERS = {"SE": PATH}
        listed.listed, listed.is_within_reach = {player.pk}, reach
        with pytest.raises(NotEligible) as barred:
            deal_at(player, table)
        assert barred.value.ineligibility.code is (eligibility.Code.REGISTER if reach else eligibility.Code.UNREACHABLE)

    def test_configured_in_the_middle_of_a_session_is_asked_before_the_next_deposit(self, listed, settings):
        player = a_player()
        listed.listed = {player.pk}
        with pytest.raises(DepositNotEligible):
            begin(player=player, amount=50_000, key=uuid4())


class TestTheHousesOwnRegister:
    def test_knows_a_person_under_another_account(self):
        first, second = a_known_pair()
        table = a_table()
        assert 'id="act-deal"' in at_table(second, table)
        exclusions.exclude_self(player=first, months=12, by=str(first))
        assert 'data-ineligibility="register"' in at_table(second, table)
        assert RegisterCheck.objects.get(player=second).register == "house"

    def test_forgets_them_when_it_is_over(self):
        first, second = a_known_pair()
        exclusions.exclude_self(player=first, months=12, by=str(first))
        registers.ask(second)
        assert eligibility.check_play(second, real=False)
        with pytest.raises(DatabaseError, match="not clear"), transaction.atomic():
            RegisterCheck.objects.create(player=second, register="house", outcome="clear")
        as_owner("SET CONSTRAINTS ALL IMMEDIATE")
        as_owner("ALTER TABLE players_exclusion DISABLE TRIGGER USER")
        as_owner("UPDATE players_exclusion SET begun = begun - interval '2 years', until = until - interval '2 years'")
        as_owner("ALTER TABLE players_exclusion ENABLE TRIGGER USER")
        registers.ask(second)
        assert eligibility.check_play(second, real=False) is None

    def test_leaves_everybody_else_alone(self):
        first, other = a_player(), a_player()
        exclusions.exclude_self(player=first, months=None, by=str(first))
        registers.ask(other)
        assert eligibility.check_play(other, real=True) is None

    def test_takes_a_pause_for_one_account_only(self):
        first, second = a_known_pair()
        exclusions.pause(player=first, by=str(first))
        registers.ask(second)
        assert eligibility.check_play(second, real=True) is None
