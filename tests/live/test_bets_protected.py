"""Player protection at a shared table: breaks, exclusions, limits, reality checks, one table."""

from uuid import uuid4

import pytest
from django.db.models.functions import Now

from games.betting.limits import StoredLimits
from games.betting.rules import Change
from games.errors import NotEligible, NotEnoughBalance, NotOffered, OverLimit, RoundElsewhere, TableWaits
from games.models import LiveSeat, LiveTable, Participation, Phase, Shape
from games.shared.seats import open_seat, seat_at
from games.solo import open_table, play_round
from games.tables import status
from games.tables.default_tables import golden_limits
from games.tables.versions import make_table
from games.tasks import IDLE, return_all_idle_purses
from players.models import LimitKind, Period, Player, Session
from players.protection import eligibility, exclusions, limits, play_sessions
from tests.builders import UNHURRIED, a_newcomer, a_player, a_purse, a_seat, a_table, let_time_pass
from tests.chemin.at_table import a_session
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table, advance_to, live_table_of, round_at, step
from tests.live.betting import balance, chip, held, held_for, press, stakes_of
from tests.people import events
from wallet.ledger import purse
from wallet.models import AccountKind, Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_00


@pytest.fixture
def table() -> LiveTable:
    """A `pairs` table that takes bets."""
    return a_live_table("pairs")


def a_player_of(table: LiveTable, jurisdiction: str = "GB") -> Player:
    player = a_player(jurisdiction, real=MONEY, free=MONEY)
    open_seat(player, table)
    return player


def stake_limit(player: Player, amount: int) -> None:
    limits.set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=amount, by=str(player))


class TestAPauseBetweenBetAndResult:
    def test_accepted_bets_stand_and_are_settled(self, table):
        player = a_player_of(table)
        chip(player, table, "player", 10_00)
        exclusions.pause(player=player, by=str(player))
        assert (held(player), stakes_of(player, table)) == (10_00, {"player": 10_00})
        advance_to(table, Phase.SETTLED)
        part = Participation.objects.get(player=player)
        assert (part.staked, held(player)) == (10_00, 0)
        assert balance(player) == MONEY - part.staked + part.paid

    def test_nothing_is_added_and_nothing_removed_in_the_meantime(self, table):
        player = a_player_of(table)
        chip(player, table, "player", 10_00)
        exclusions.exclude_self(player=player, months=12, by=str(player))
        for click in (
            lambda: chip(player, table, "player", 10_00),
            lambda: press(player, table, Change.DOUBLE),
            lambda: press(player, table, Change.UNDO),
        ):
            with pytest.raises(NotEligible):
                click()
        assert held(player) == 10_00
        assert {each["data"]["ineligibility"] for each in events("bet.refused", by=str(player))} == {
            eligibility.Code.EXCLUDED
        }

    @pytest.mark.parametrize("mode", Mode, ids=["real", "free"])
    def test_a_player_who_has_stopped_takes_no_seat(self, mode):
        player = a_player("GB", real=MONEY, free=MONEY)
        exclusions.pause(player=player, by=str(player))
        with pytest.raises(NotEligible):
            seat_at(player, a_live_table("pairs", mode))
        assert not LiveSeat.objects.exists()

    def test_a_player_who_has_not_agreed_to_the_terms_takes_no_seat(self, table):
        with pytest.raises(NotEligible) as barred:
            seat_at(a_newcomer("GB", agrees=False), table)
        assert barred.value.ineligibility.code is eligibility.Code.TERMS


class TestLimits:
    def test_count_what_is_held(self, table):
        player = a_player_of(table)
        stake_limit(player, 25_00)
        for _ in range(2):
            chip(player, table, "player", 10_00)
        with pytest.raises(OverLimit) as refused:
            chip(player, table, "player", 10_00)
        assert refused.value.reached.left == 5_00
        assert stakes_of(player, table) == {"player": 20_00}

    def test_count_it_at_every_table_shared_or_solo(self, table):
        player, solo = a_player_of(table), a_table()
        other = a_live_table("pairs", slug="other")
        open_seat(player, other)
        stake_limit(player, 25_00)
        chip(player, table, "player", 10_00)
        let_time_pass(player)
        chip(player, other, "banker", 10_00)
        let_time_pass(player)
        seat = a_seat(player, solo, Mode.REAL, player=10_00)
        with pytest.raises(OverLimit):
            play_round(
                player=player,
                table_id=solo.pk,
                mode=Mode.REAL,
                round_id=seat.round_id,
                slip_version=seat.slip_version,
            )
        assert held(player) == 20_00

    def test_leave_room_again_for_what_was_taken_back(self, table):
        player = a_player_of(table)
        stake_limit(player, 25_00)
        chip(player, table, "player", 25_00)
        press(player, table, Change.UNDO)
        chip(player, table, "banker", 25_00)
        assert held(player) == 25_00

    def test_are_not_for_free_money(self):
        table = a_live_table("pairs", Mode.FREE)
        player = a_player_of(table)
        stake_limit(player, 5_00)
        chip(player, table, "player", 25_00)
        assert (held(player, Mode.FREE), held(player)) == (25_00, 0)

    def test_that_sink_under_the_bets_on_the_table_allow_removal(self, table):
        player = a_player_of(table)
        chip(player, table, "player", 10_00)
        chip(player, table, "player", 25_00)
        stake_limit(player, 5_00)
        press(player, table, Change.UNDO)
        assert held(player) == 10_00


def test_a_reality_check_refuses_new_bets_and_allows_removal(table):
    player, session = a_player_of(table), uuid4()
    play_sessions.read_session(player, session)
    chip(player, table, "player", 10_00, session=session)
    chip(player, table, "player", 10_00, session=session)
    as_owner(
        "UPDATE players_playsession SET checked_at = clock_timestamp() - interval '61 minutes' WHERE session = %s",
        [session],
    )
    with pytest.raises(NotEligible) as barred:
        chip(player, table, "player", 10_00, session=session)
    assert barred.value.ineligibility.code is eligibility.Code.CHECK
    press(player, table, Change.UNDO, session=session)
    assert held(player) == 10_00
    play_sessions.answer_check(player=player, session=session, goes_on=True)
    chip(player, table, "player", 10_00, session=session)


class TestOneTableAtATime:
    """Required by the law of Germany."""

    @pytest.fixture
    def other(self, table: LiveTable) -> LiveTable:
        """Another shared table that takes bets."""
        return a_live_table("no_commission", slug="other")

    def test_the_one_opened_last_takes_bets_and_those_at_the_other_stand(self, table, other):
        player = a_player_of(table, "DE")
        chip(player, table, "player", 5_00)
        open_seat(player, other)
        with pytest.raises(RoundElsewhere):
            chip(player, other, "player", 5_00)
        for click in (lambda: chip(player, table, "player", 5_00), lambda: press(player, table, Change.UNDO)):
            with pytest.raises(TableWaits) as refused:
                click()
            assert refused.value.slug == table.table.slug
        assert held(player) == 5_00
        advance_to(table, Phase.SETTLED)
        chip(player, other, "player", 5_00)
        assert Participation.objects.get(player=player).staked == 5_00

    def test_the_same_table_for_the_other_kind_of_money_is_another(self, table):
        free = live_table_of(table.table, Mode.FREE)
        step(free)
        player = a_player_of(table, "DE")
        open_seat(player, free)
        with pytest.raises(TableWaits):
            chip(player, table, "player", 5_00)
        chip(player, free, "player", 5_00)

    def test_a_solo_table_opened_since_has_the_shared_one_wait(self, table):
        player = a_player_of(table, "DE")
        open_table(player=player, table_id=a_table().pk, mode=Mode.REAL)
        with pytest.raises(TableWaits):
            chip(player, table, "player", 5_00)

    def test_elsewhere_both_take_bets(self, table, other):
        player = a_player_of(table)
        open_seat(player, other)
        for each in (table, other):
            chip(player, each, "player", 5_00)
            let_time_pass(player)
        assert held(player) == 10_00


class TestAGameWithAPurse:
    """No such table ships, but the shape belongs to the table and the rules to the variant."""

    @pytest.fixture
    def golden(self) -> LiveTable:
        """A shared `golden` table that takes bets."""
        table = make_table(
            slug="golden-live",
            name="Golden",
            variant="golden",
            shape=Shape.SHARED,
            limits=with_liability(golden_limits()),
            clock=UNHURRIED,
            by="staff:test",
        )
        status.open_table(table_id=table.pk, reason="for a test", by="staff:test")
        live_table = live_table_of(table)
        step(live_table)
        return live_table

    def test_bets_are_held_on_the_purse(self, golden):
        player = a_player_of(golden)
        with pytest.raises(NotEnoughBalance):
            chip(player, golden, "player", 10_00)
        a_purse(player, 30_00)
        chip(player, golden, "player", 10_00)
        assert (held(player, kind=AccountKind.PURSE), held(player)) == (10_00, 0)

    def test_a_purse_with_a_bet_is_not_idle_and_leaving_gives_back_the_rest(self, golden):
        player = a_player_of(golden)
        a_purse(player, 30_00)
        chip(player, golden, "player", 10_00)
        assert return_all_idle_purses() == 0
        assert purse.leave(player=player, mode=Mode.REAL, key=uuid4()).amount == 20_00
        advance_to(golden, Phase.SETTLED)
        assert Participation.objects.get(player=player).staked == 10_00

    def test_a_purse_stays_while_its_owner_sits_there_and_does_something(self, golden):
        player = a_player_of(golden)
        a_purse(player, 30_00)
        session = a_session(player)
        assert return_all_idle_purses() == 0
        Session.objects.filter(pk=session).update(acted_at=Now() - IDLE)
        assert return_all_idle_purses() == 1

    def test_buttons_are_those_of_the_game(self, golden):
        player = a_player_of(golden)
        a_purse(player, 30_00)
        chip(player, golden, "player", 10_00)
        with pytest.raises(NotOffered):
            press(player, golden, Change.DOUBLE)
        press(player, golden, Change.CLEAR)
        assert held_for(round_at(golden).pk) == 0


def with_liability(stored: StoredLimits) -> StoredLimits:
    return {currency: {**entry, "liability": 100_000_00} for currency, entry in stored.items()}
