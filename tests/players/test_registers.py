"""National exclusion registers: asked at log-in and before play; without an answer nobody plays."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from games.errors import NotEligible
from games.solo import play_round, solo_seat_at
from players.models import Player, RegisterCheck
from players.protection import eligibility, exclusions, registers
from tests.builders import PASSWORD, a_player, a_round, a_seat, a_table
from tests.harness.owner import as_owner, without_guards
from tests.people import a_visitor, events, log_in
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
        assert [each["data"]["outcome"] for each in events("register.checked", on=str(player))] == ["clear"]

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
        assert [each.name for each in registers.registers_of("SE")] == ["listed"]
        assert registers.registers_of("DK") == ()

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

    def test_that_names_an_end_is_asked_then_and_ends_the_exclusion_itself(self, listed):
        player, table = a_player(), a_table()
        RegisterCheck.objects.create(
            player=player, register="listed", outcome="excluded", until=exclusions.now() - timedelta(minutes=1)
        )
        assert eligibility.check_play(player, real=False)
        listed.listed = {player.pk}
        assert 'data-ineligibility="register"' in at_table(player, table)
        listed.listed = set()
        RegisterCheck.objects.create(
            player=player, register="listed", outcome="excluded", until=exclusions.now() - timedelta(minutes=1)
        )
        assert 'id="act-deal"' in at_table(player, table)

    def test_ro_that_excludes_from_midnight_is_asked_again_after_it(self, settings, listed):
        settings.PLAYER_REGISTERS = {"RO": PATH}
        player, table = a_player("RO", real=100_000), a_table()
        assert table.version
        chip = table.version.limits["RON"]["chips"][0]
        a_round(player, table, player=chip)
        a_seat(player, table, player=chip)
        asked = listed.asked
        listed.listed = {player.pk}
        with without_guards("players_registercheck"):
            as_owner("UPDATE players_registercheck SET at = date_trunc('day', at, 'Europe/Bucharest') - interval '1 s'")
        with pytest.raises(NotEligible) as barred:
            deal_at(player, table)
        assert (barred.value.ineligibility.code, listed.asked) == (eligibility.Code.REGISTER, asked + 1)

    def test_ro_an_exclusion_here_holds_at_once_and_no_later_answer_lifts_it(self, settings, listed):
        settings.PLAYER_REGISTERS = {"RO": PATH}
        player, table = a_player("RO", real=100_000), a_table()
        exclusions.exclude_self(player=player, months=6, by=str(player))
        with pytest.raises(NotEligible):
            a_seat(player, table)
        registers.ask(player)
        assert 'data-ineligibility="excluded"' in at_table(player, table)
