"""Sitting down at a Chemin de Fer table, leaving, stepping away and coming back."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from games.chemin import play
from games.engine.chemin import Phase, Refusal
from games.engine.chemin.state import there
from games.errors import (
    CheminRefused,
    NotEligible,
    StalePage,
    TableClosed,
    UnknownCurrency,
)
from games.models import (
    CheminMove,
    CheminSeat,
    Decider,
    Participation,
    WhyLeft,
)
from games.solo.seats import sit as sit_at
from players.protection import exclusions, play_sessions
from players.protection.eligibility import Code
from tests.builders import a_chemin_live_table, a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_seat_as_owner,
    a_seated_player,
    a_session,
    a_staked_coup,
    answer,
    asked,
    before_the_croupier,
    cash,
    chemin_of,
    let_pass,
    seated_players,
    sit,
    state_of,
    step_to,
    table_state_of,
    time_given,
)
from tests.harness.owner import as_owner
from tests.people import events
from wallet.models import AccountKind, Mode

pytestmark = pytest.mark.django_db


class TestSittingDown:
    def test_the_requested_seat(self):
        table = a_chemin_table()
        player = a_player(real=MONEY)
        seat = sit(player, table, 4)
        assert (seat.number, seat.player, seat.account_id, seat.is_random) == (4, player, cash(player).pk, False)
        assert [each.number for each in state_of(table).seats] == [4]

    def test_gli19_4_11_1_a_random_seat_is_a_free_one(self):
        table = a_chemin_table(seat_count=3)
        seats = [sit(a_player(real=MONEY), table) for _ in range(3)]
        assert {seat.number for seat in seats} == {1, 2, 3}
        assert all(seat.is_random for seat in seats)
        with pytest.raises(CheminRefused) as refused:
            sit(a_player(real=MONEY), table)
        assert refused.value.reason is Refusal.SEAT_TAKEN

    @pytest.mark.sweep
    def test_the_second_player_sets_the_bank_going_round(self):
        table = a_chemin_table()
        first = a_seated_player(table, 1)
        assert (state_of(table).phase, chemin_of(table).deadline) == (Phase.ALONE, None)
        a_seated_player(table, 2)
        chemin = chemin_of(table)
        assert (state_of(table).phase, asked(table)) == (Phase.OFFER, first)
        assert chemin.question == 1
        assert time_given(chemin) == timedelta(milliseconds=table_state_of(table).clock.ask)

    def test_a_seated_player_keeps_the_seat(self):
        table = a_chemin_table()
        player = a_seated_player(table, 2)
        assert sit(player, table, 5).number == 2
        assert CheminSeat.objects.count() == 1

    @pytest.mark.parametrize("seat_number", [0, 10])
    def test_there_is_no_such_seat(self, seat_number):
        table = a_chemin_table()
        with pytest.raises(CheminRefused) as refused:
            sit(a_player(real=MONEY), table, seat_number)
        assert refused.value.reason is Refusal.NO_SUCH_SEAT

    def test_a_taken_seat(self):
        table = a_chemin_table()
        a_seated_player(table, 2)
        with pytest.raises(CheminRefused) as refused:
            sit(a_player(real=MONEY), table, 2)
        assert refused.value.reason is Refusal.SEAT_TAKEN

    def test_another_currency(self):
        table = a_chemin_table(currency="EUR")
        with pytest.raises(UnknownCurrency):
            sit(a_player("SE", real=MONEY), table)

    def test_at_a_closed_table(self):
        table = a_chemin_table(is_open=False)
        with pytest.raises(TableClosed):
            sit(a_player(real=MONEY), table)

    def test_where_a_player_may_not_play(self):
        table, player = a_chemin_table(), a_player(real=MONEY)
        exclusions.pause(player=player, by=str(player))
        with pytest.raises(NotEligible):
            sit(player, table)
        assert not CheminSeat.objects.exists()

    def test_one_who_got_up_may_come_back_on_another_row(self):
        table = a_chemin_table()
        player = a_seated_player(table, 2)
        play.leave(player=player, live_table_id=table.pk)
        sit(player, table, 3)
        rows = CheminSeat.objects.order_by("pk")
        assert [(row.number, row.left_at is None, row.why_left) for row in rows] == [(2, False, "wish"), (3, True, "")]

    def test_is_on_record_without_what_the_player_has(self):
        table = a_chemin_table()
        player = a_seated_player(table, 2, money=7_654_321)
        (event,) = events("seat.taken")
        assert (event["by"], event["on"]) == (str(player), f"live_table:{table.pk}")
        assert event["data"]["player"] == str(player)  # marks the reader of the event as having seen this player's data
        move = CheminMove.objects.get()
        assert (move.kind, move.decider, there(move.seat).number, move.amount) == ("join", Decider.PLAYER, 2, None)
        assert "7654321" not in json.dumps([event, move.events])

    def test_for_free_money_it_is_the_free_account_that_pays(self):
        table = a_chemin_table(Mode.FREE)
        player = a_player(real=MONEY, free=5_000)
        sit(player, table, 1)
        assert state_of(table).seat(1).balance == 5_000


class TestLeaving:
    def test_between_coups_is_at_once(self):
        table = a_chemin_table()
        first, second, _ = seated_players(table, 3)
        play.leave(player=first, live_table_id=table.pk)
        assert asked(table) == second
        seat = CheminSeat.objects.get(player=first)
        assert (seat.left_at is not None, seat.why_left) == (True, WhyLeft.WISH)
        assert len(events("seat.left")) == 1

    def test_of_a_punter_is_when_the_coup_is_over(self):
        table = a_chemin_table()
        seated_players(table, 3)
        _, punter = a_staked_coup(table)
        play.leave(player=punter, live_table_id=table.pk)
        seat = CheminSeat.objects.get(player=punter)
        assert (seat.left_at, seat.why_left) == (None, WhyLeft.WISH)
        play.leave(player=punter, live_table_id=table.pk)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        seat.refresh_from_db()
        assert (seat.left_at is not None, seat.why_left) == (True, WhyLeft.WISH)
        assert cash(punter).balance == Participation.objects.get(player=punter).balance_after

    @pytest.mark.sweep
    def test_may_be_thought_better_of(self):
        table = a_chemin_table()
        seated_players(table, 3)
        _, punter = a_staked_coup(table)
        play.leave(player=punter, live_table_id=table.pk)
        play.come_back(player=punter, live_table_id=table.pk)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        seat = CheminSeat.objects.get(player=punter)
        assert (seat.left_at, seat.why_left) == (None, "")

    def test_cannot_be_withdrawn_by_an_excluded_player(self):
        table = a_chemin_table()
        seated_players(table, 3)
        _, punter = a_staked_coup(table)
        play.leave(player=punter, live_table_id=table.pk)
        exclusions.pause(player=punter, by=str(punter))
        with pytest.raises(NotEligible) as refused:
            play.come_back(player=punter, live_table_id=table.pk)
        assert refused.value.ineligibility.code is Code.EXCLUDED
        assert CheminSeat.objects.get(player=punter).why_left == WhyLeft.WISH
        assert not events("seat.back")

    @pytest.mark.sweep
    def test_of_the_last_but_one_sends_the_bank_home(self):
        table = a_chemin_table()
        banker, other = seated_players(table, 2)
        a_bank(table, 10_000)
        while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
            let_pass(table)
        play.leave(player=other, live_table_id=table.pk)
        assert state_of(table).phase is Phase.ALONE
        assert cash(banker).balance == MONEY
        assert before_the_croupier(AccountKind.BANK) == 0

    def test_of_a_player_who_does_not_sit_there_is_nothing(self):
        table = a_chemin_table()
        play.leave(player=a_player(), live_table_id=table.pk)
        assert not CheminMove.objects.exists()

    def test_an_unknown_table(self):
        with pytest.raises(StalePage):
            play.join(player=a_player(), live_table_id=987_654)


class TestSteppingAway:
    def test_gli19_4_11_3_keeps_the_seat_and_lets_turns_pass(self):
        table = a_chemin_table()
        first, second, third = seated_players(table, 3)
        play.step_away(player=second, live_table_id=table.pk)
        answer(first, table, "pass")
        assert asked(table) == third
        assert CheminSeat.objects.get(player=second).away_since is not None

    @pytest.mark.sweep
    def test_of_the_player_who_is_asked_asks_the_next(self):
        table = a_chemin_table()
        first, second = seated_players(table, 2)
        question = chemin_of(table).question
        play.step_away(player=first, live_table_id=table.pk)
        assert (asked(table), chemin_of(table).question) == (second, question + 1)

    @pytest.mark.sweep
    def test_ends_with_coming_back(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        session = a_session(first)
        play.step_away(player=first, live_table_id=table.pk)
        with pytest.raises(CheminRefused):
            play.step_away(player=first, live_table_id=table.pk)
        play.come_back(player=first, live_table_id=table.pk, session=session)
        seat = CheminSeat.objects.get(player=first)
        assert (seat.away_since, seat.missed, seat.session) == (None, 0, session)
        with pytest.raises(CheminRefused):
            play.come_back(player=first, live_table_id=table.pk)

    def test_lasts_until_a_reality_check_is_answered(self):
        table, player = a_chemin_table(), a_player(real=MONEY)
        session = a_session(player)
        play_sessions.read_session(player, session)
        sit(player, table, 1, session)
        play.step_away(player=player, live_table_id=table.pk)
        as_owner("UPDATE players_playsession SET checked_at = clock_timestamp() - interval '2 hours'")
        with pytest.raises(NotEligible) as refused:
            play.come_back(player=player, live_table_id=table.pk, session=session)
        assert refused.value.ineligibility.code is Code.CHECK
        assert CheminSeat.objects.get(player=player).away_since is not None
        play_sessions.answer_check(player=player, session=session, goes_on=True)
        play.come_back(player=player, live_table_id=table.pk, session=session)
        assert CheminSeat.objects.get(player=player).away_since is None

    def test_ended_lets_a_player_limited_to_one_table_play_here(self):
        table = a_chemin_table(currency="EUR")
        first, other = (a_player("DE", real=50_000) for _ in range(2))
        sit(first, table, 1)
        sit(other, table, 2)
        play.step_away(player=first, live_table_id=table.pk)
        sit_at(first, a_chemin_live_table("EUR", slug="elsewhere").pk, Mode.REAL)
        play.come_back(player=first, live_table_id=table.pk)
        answer(other, table, "pass")
        answer(first, table, "take_bank", 10_000)


def test_gli19_4_11_1_a_player_has_one_seat_whatever_is_written():
    table = a_chemin_table()
    player = a_seated_player(table, 1)
    with pytest.raises(IntegrityError, match="games_cheminseat_player"), transaction.atomic():
        a_seat_as_owner(live_table=table, number=2, player=player, account_id=cash(player).pk)
