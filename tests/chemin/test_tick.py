"""Automatic steps at Chemin de Fer: deadlines, house players, absences, closing, and downtime."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from games.chemin import apply, play, tick
from games.engine.chemin import Phase
from games.engine.chemin.state import there
from games.models import (
    CheminCoup,
    CheminMove,
    CheminSeat,
    CheminTable,
    Decider,
    Incident,
    IncidentKind,
    LiveRound,
    LiveTable,
    Round,
    Shoe,
    Void,
    VoidReason,
    WhyLeft,
)
from games.models import Phase as RoundPhase
from games.shared import malfunction
from games.tables.status import close_table
from games.tasks import advance_chemin_table, tick_chemin
from games.variants import GAMES
from games.verification import verification_task
from players.login import sessions
from players.models import Ended
from players.protection import exclusions
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_coup_without_a_natural,
    a_dealt_coup,
    a_practice_table,
    a_seated_player,
    a_session,
    a_staked_coup,
    answer,
    asked,
    asked_at,
    before_the_croupier,
    cash,
    chemin_of,
    finish_cut,
    hurry,
    play_out,
    seated_players,
    sit,
    state_of,
    step,
    step_to,
    table_state_of,
    time_given,
)
from tests.harness.owner import as_owner, update_as_owner
from tests.live.so_far import skip_cards
from tests.wallet.money_moves import write
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Journal, Mode

pytestmark = pytest.mark.django_db


def execute(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


class TestWhatIsDue:
    def test_nothing_before_its_time(self):
        table = a_chemin_table()
        seated_players(table, 2)
        assert tick.due() == []
        assert not tick.advance(table.pk)

    def test_a_question_whose_time_is_up(self):
        table = a_chemin_table()
        first, second = seated_players(table, 2)
        hurry(table)
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert asked(table) == second
        move = CheminMove.objects.latest("number")
        assert (move.kind, move.decider, there(move.seat).player) == ("pass", Decider.CROUPIER, first)
        assert move.asked_at is not None

    def test_is_done_once_by_the_first_process(self):
        table = a_chemin_table()
        seated_players(table, 3)
        hurry(table)
        assert [tick.advance(table.pk), tick.advance(table.pk)] == [True, False]

    @pytest.mark.sweep
    def test_is_asked_for_each_second(self, monkeypatch):
        table = a_chemin_table()
        seated_players(table, 2)
        hurry(table)
        asked_for: list[int] = []
        monkeypatch.setattr(advance_chemin_table, "apply_async", lambda what, expires: asked_for.extend(what))
        assert tick_chemin() == asked_for == [table.pk]
        assert advance_chemin_table(table.pk)
        assert not advance_chemin_table(table.pk)


class TestTimeThatIsUp:
    def test_gli19_4_16_a_whole_coup_is_played_by_the_rule_for_who_is_absent(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_staked_coup(table)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        coup = CheminCoup.objects.get()
        assert (coup.punter_departs, coup.banker_departs) == (False, False)
        deciders = set(CheminMove.objects.filter(round_id=coup.pk, kind="deal_cards").values_list("decider", flat=True))
        assert deciders == {Decider.CROUPIER}

    def test_of_a_banker_passes_the_bank_on(self):
        table = a_chemin_table()
        banker, _ = seated_players(table, 2)
        a_bank(table)
        assert play_out(table).phase is Phase.CHOICE
        assert step(table)
        assert state_of(table).phase is Phase.SUITE
        assert cash(banker).balance == MONEY

    def test_gli19_4_11_3_missed_in_a_row_is_away(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        limit = table_state_of(table).clock.missed
        while CheminSeat.objects.get(player=first).away_since is None:
            if state_of(table).phase is Phase.FREE:
                answer(chemin_second(table, first), table, "take_bank", 1_000)
            assert step(table)
        seat = CheminSeat.objects.get(player=first)
        assert seat.missed == limit
        move = CheminMove.objects.filter(kind="step_away").get()
        assert (move.decider, move.seat) == (Decider.HOUSE, seat)

    @pytest.mark.sweep
    def test_missed_turns_count_from_the_last_answer(self):
        table = a_chemin_table()
        first, second = seated_players(table, 2)
        step(table)
        assert CheminSeat.objects.get(player=first).missed == 1
        answer(second, table, "take_bank", 1_000)
        assert asked(table) == first
        answer(first, table, "pass")
        assert CheminSeat.objects.get(player=first).missed == 0

    @pytest.mark.sweep
    def test_after_a_coup_there_is_time_to_read_the_result(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_dealt_coup(table)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        chemin, pace = chemin_of(table), table_state_of(table).clock
        asks = pace.choice if state_of(table).phase is Phase.CHOICE else pace.ask
        assert time_given(chemin) == timedelta(milliseconds=asks + pace.pause)

    @pytest.mark.sweep
    def test_a_player_who_is_going_is_not_waited_for(self):
        table = a_chemin_table()
        seated_players(table, 3)
        banker, _ = a_staked_coup(table)
        play.leave(player=banker, live_table_id=table.pk)
        step(table)
        if state_of(table).phase is Phase.PUNTER:
            step(table)
        chemin, pace = chemin_of(table), table_state_of(table).clock
        if state_of(table).phase is Phase.BANKER:
            assert time_given(chemin) == timedelta(milliseconds=pace.house_player)


def chemin_second(table: LiveTable, first: Any) -> Any:
    return CheminSeat.objects.exclude(player=first).get(live_table=table).player


class TestAHouseThatStoodStill:
    def test_gives_the_player_the_full_time_again(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        before = chemin_of(table)
        assert step(table, seconds=6)
        after = chemin_of(table)
        assert (after.question, after.move, asked(table)) == (before.question, before.move, first)
        assert time_given(after) == time_given(before)
        assert there(after.asked_at) > there(before.asked_at)

    def test_voids_what_was_staked_and_not_dealt_where_it_stood_for_long(self):
        table = a_chemin_table()
        seated_players(table, 2)
        _, punter = a_staked_coup(table)
        assert step(table, seconds=settings.LIVE_LATE_SECONDS + 1)
        assert cash(punter).balance == MONEY
        assert Void.objects.get().reason == VoidReason.OVERDUE
        assert LiveRound.objects.get().phase == RoundPhase.VOID
        assert Incident.objects.get().kind == IncidentKind.OVERDUE
        assert LiveTable.objects.get(pk=table.pk).stopped_by is not None
        assert there(state_of(table).bank).amount == before_the_croupier(AccountKind.BANK) == 10_000
        assert not step(table)

    @pytest.mark.sweep
    def test_gives_time_again_where_nothing_is_staked_however_long_it_paused(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_bank(table)
        assert step(table, seconds=10 * settings.LIVE_LATE_SECONDS)
        assert not Void.objects.exists()
        assert LiveTable.objects.get(pk=table.pk).stopped_by is None

    def test_plays_out_by_the_rule_what_was_dealt(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_coup_without_a_natural(table)
        move = chemin_of(table).move
        assert step(table, seconds=settings.LIVE_LATE_SECONDS + 1)
        assert CheminMove.objects.get(number=move + 1).decider == Decider.CROUPIER


class TestPlayersWhoAreGone:
    def test_gli19_4_11_3_one_who_was_away_for_too_long_gets_up(self):
        table = a_chemin_table()
        first, _, _ = seated_players(table, 3)
        play.step_away(player=first, live_table_id=table.pk)
        assert tick.due() == []
        away = table_state_of(table).clock.removal / 1000
        as_owner("UPDATE games_cheminseat SET away_since = away_since - make_interval(secs => %s)", [away])
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        seat = CheminSeat.objects.get(player=first)
        assert (seat.left_at is not None, seat.why_left) == (True, WhyLeft.REMOVED)

    def test_one_who_logs_out_gets_up(self):
        table, player = a_chemin_table(), a_player(real=MONEY)
        session = a_session(player)
        sit(player, table, 1, session)
        assert tick.due() == []
        sessions.end(session_id=session, why=Ended.LOGGED_OUT, by=str(player))
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert CheminSeat.objects.get(player=player).why_left == WhyLeft.SESSION
        assert tick.due() == []

    def test_one_who_takes_a_pause_goes_when_the_coup_is_over(self):
        table, player = a_chemin_table(), a_player(real=MONEY)
        a_seated_player(table, 1)
        sit(player, table, 2, a_session(player))
        a_seated_player(table, 3)
        _, punter = a_staked_coup(table)
        assert punter == player
        exclusions.pause(player=player, by=str(player))
        assert tick.advance(table.pk)
        seat = CheminSeat.objects.get(player=player)
        assert (seat.left_at, seat.why_left) == (None, WhyLeft.SESSION)
        assert tick.due() == []
        step_to(table, Phase.CHOICE, Phase.OFFER)
        seat.refresh_from_db()
        assert seat.left_at is not None


class TestATableThatCloses:
    def close(self, table: LiveTable) -> None:
        close_table(table_id=table.table_id, reason="for a test", by="staff:test")

    @pytest.mark.sweep
    def test_sends_bank_and_players_home_between_coups(self):
        table = a_chemin_table()
        players = seated_players(table, 3)
        a_bank(table)
        step_to(table, Phase.CHOICE)
        self.close(table)
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert [cash(player).balance for player in players] == [MONEY] * 3
        assert set(CheminSeat.objects.values_list("why_left", flat=True)) == {WhyLeft.CLOSED}
        assert (state_of(table).phase, tick.due()) == (Phase.ALONE, [])

    def test_before_there_was_a_coup(self):
        table = a_chemin_table()
        a_seated_player(table, 1)
        self.close(table)
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert not table_state_of(table).seats

    def test_gli19_2_4_1_waits_for_the_end_of_the_coup(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_staked_coup(table)
        self.close(table)
        assert tick.due() == []
        step_to(table, Phase.CHOICE, Phase.OFFER, Phase.ALONE)
        assert tick.advance(table.pk)
        assert not table_state_of(table).seats
        assert Round.objects.count() == 1

    def test_closes_by_itself_where_the_api_client_has_other_rules(self, monkeypatch):
        table = a_chemin_table()
        a_seated_player(table, 1)
        monkeypatch.setitem(vars(GAMES["chemin_de_fer"]), "digest", "0" * 64)
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert not table_state_of(table).seats


class TestAStoppedTable:
    @pytest.mark.sweep
    def test_waits_until_it_is_opened_again_and_then_asks_with_the_full_time(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_bank(table)
        round_id = LiveRound.objects.get().pk
        incident = malfunction.report(round_id=round_id, cause="A card lay face up.", by="staff:test")
        hurry(table)
        assert tick.due() == []
        assert not tick.advance(table.pk)
        malfunction.let_stand(incident_id=incident.pk, reason="It did not", by="staff:test")
        malfunction.reopen(live_table_id=table.pk, reason="Go on", by="staff:test")
        chemin = chemin_of(table)
        assert time_given(chemin) == timedelta(milliseconds=table_state_of(table).clock.ask)
        assert tick.due() == []

    @pytest.mark.sweep
    def test_plays_out_what_was_dealt_once_it_is_ruled_to_stand(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_coup_without_a_natural(table)
        live_round = there(table_state_of(table).live_round)
        incident = malfunction.report(round_id=live_round.pk, cause="A card lay face up.", by="staff:test")
        assert not step(table)
        malfunction.let_stand(incident_id=incident.pk, reason="It did not", by="staff:test")
        step_to(table, Phase.CHOICE, Phase.OFFER, Phase.ALONE)
        live_round.refresh_from_db()
        assert live_round.phase == RoundPhase.SETTLED
        assert not step(table)


class TestFaults:
    def test_a_coup_whose_rules_the_api_client_does_not_know_stops_the_table(self, monkeypatch):
        table = a_chemin_table()
        seated_players(table, 2)
        a_staked_coup(table)
        monkeypatch.setitem(vars(GAMES["chemin_de_fer"]), "digest", "0" * 64)
        assert not step(table)
        assert Incident.objects.get().kind == IncidentKind.RULES_UNKNOWN

    def test_what_is_raised_stops_the_table_and_has_changed_nothing(self, monkeypatch):
        table = a_chemin_table()
        seated_players(table, 2)
        a_staked_coup(table)
        move = chemin_of(table).move

        def fail(*_arguments: Any, **_options: Any) -> None:
            raise ZeroDivisionError("for a test")

        monkeypatch.setattr(apply, "ask", fail)
        assert not step(table)
        incident = Incident.objects.get()
        assert (incident.kind, incident.cause) == (IncidentKind.PHASE_RAISED, "ZeroDivisionError: for a test")
        assert (chemin_of(table).move, LiveRound.objects.get().phase) == (move, RoundPhase.CLOSED)

    def test_what_postgresql_could_not_do_is_tried_again_until_it_is_overdue(self, monkeypatch):
        table = a_chemin_table()
        seated_players(table, 2)
        a_staked_coup(table)

        def away(*_arguments: Any, **_options: Any) -> None:
            raise OperationalError("for a test")

        monkeypatch.setattr(tick, "locked_if_free", away)
        with pytest.raises(OperationalError):
            step(table)
        assert not Incident.objects.exists()
        assert not step(table, seconds=settings.LIVE_LATE_SECONDS + 1)
        assert Incident.objects.get().kind == IncidentKind.PHASE_RAISED

    def test_a_shoe_from_which_its_coups_do_not_follow_is_shown_and_stops_the_table(self):
        """The seed is published all the same. After a ruling by staff a new shoe comes."""
        table = a_chemin_table()
        seated_players(table, 2)
        a_dealt_coup(table)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        spend(table)
        while state_of(table).phase is not Phase.SHOE:
            if state_of(table).phase in (Phase.OFFER, Phase.SUITE, Phase.FREE):
                bank = state_of(table).offered_sale.full_amount if state_of(table).sale else 1_000
                answer(asked_at(table), table, "take_bank", bank)
            else:
                answer(asked_at(table), table, "keep_bank")
        incident = Incident.objects.get()
        assert incident.kind == IncidentKind.NOT_REPRODUCED
        verification_task.publish_seeds()
        spent = Shoe.objects.get()
        assert spent.seed is not None
        assert Incident.objects.get() == incident
        assert not tick.advance(table.pk)
        malfunction.let_stand(incident_id=incident.pk, reason="Looked into", by="staff:test")
        malfunction.reopen(live_table_id=table.pk, reason="Go on", by="staff:test")
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)  # which lets the players cut it
        finish_cut(table)
        assert state_of(table).phase is Phase.CALLS
        assert Shoe.objects.count() == 2


def spend(table: LiveTable) -> None:
    """Make table and shoe agree that the cut card is out, although no coups explain it."""
    chemin = CheminTable.objects.get(pk=table.pk)
    chemin.state["shoe"]["gone"] = 300
    if chemin.state["coup"]:
        chemin.state["coup"] = None
    update_as_owner(CheminTable.objects.filter(pk=table.pk), state=chemin.state)
    skip_cards(Shoe.objects.get(live_table=table), 300)


class TestAPracticeTable:
    @pytest.mark.sweep
    def test_house_players_sit_down_with_the_first_player_and_get_up_with_the_last(self):
        table = a_practice_table(3, seat_count=6)
        assert not table_state_of(table).seats
        player = a_seated_player(table)
        house = CheminSeat.objects.filter(player=None)
        assert house.count() == 3
        assert all(seat.is_random for seat in house)
        rules = table_state_of(table).rules
        for seat in house:
            account = Account.objects.get(pk=seat.account_id)
            assert (account.kind, account.balance) == (AccountKind.SEAT, 20 * rules.maximum)
        another = a_seated_player(table)
        assert house.count() == 3
        for leaver in (player, another):
            play.leave(player=leaver, live_table_id=table.pk)
        assert not table_state_of(table).seats
        assert set(house.values_list("why_left", flat=True)) == {WhyLeft.ALONE}

    @pytest.mark.sweep
    def test_the_same_seat_has_the_same_chips_again(self):
        table = a_practice_table(2, seat_count=3)
        for _ in range(2):
            player = a_seated_player(table, 1)
            play.leave(player=player, live_table_id=table.pk)
        assert Account.objects.filter(kind=AccountKind.SEAT).count() == 2
        assert Journal.objects.filter(kind="seat_funded").count() == 2

    @pytest.mark.sweep
    def test_they_decide_after_a_while_by_what_their_seat_sees(self):
        table = a_practice_table(2, seat_count=3)
        player = a_seated_player(table, 1)
        for _ in range(60):
            if asked(table) == player:
                options = {Phase.CARDS: "deal_cards", Phase.CHOICE: "give_suite"}
                phase = state_of(table).phase
                if phase in (Phase.PUNTER, Phase.BANKER):
                    step(table)
                else:
                    answer(player, table, options.get(phase, "pass"))
                continue
            if state_of(table).phase is Phase.SHOE:  # the players cut it
                assert step(table)
                continue
            chemin, pace = chemin_of(table), table_state_of(table).clock
            waits = timedelta(milliseconds=pace.house_player)
            assert time_given(chemin) in (waits, waits + timedelta(milliseconds=pace.pause))
            assert step(table)
        deciders = set(CheminMove.objects.values_list("decider", flat=True))
        assert Decider.HOUSE_PLAYER in deciders
        assert CheminCoup.objects.exists()
        assert not CheminCoup.objects.filter(punter_departs=True).exists()

    @pytest.mark.sweep
    def test_a_house_player_who_cannot_answer_for_the_largest_bank_gets_more(self):
        table = a_practice_table(2, seat_count=3)
        a_seated_player(table, 1)
        seat = there(CheminSeat.objects.filter(player=None).first())
        maximum = table_state_of(table).rules.maximum
        take(seat.account_id, 20 * maximum - maximum + 1)
        player = a_seated_player(table) if table_state_of(table).free_seats() else None
        assert player is None
        play.step_away(player=there(CheminSeat.objects.exclude(player=None).get().player), live_table_id=table.pk)
        assert Account.objects.get(pk=seat.account_id).balance == 20 * maximum

    @pytest.mark.sweep
    def test_a_free_bank_is_opened_by_a_house_player_after_a_while(self, monkeypatch):
        table = a_practice_table(2, seat_count=3)
        player = a_seated_player(table, 1)
        choose = tick.choose
        monkeypatch.setattr(tick, "choose", lambda view, chance: view.options[-1].action)
        while state_of(table).phase is Phase.OFFER:
            if asked(table) == player:
                answer(player, table, "pass")
            else:
                assert step(table)
        assert state_of(table).phase is Phase.FREE
        assert chemin_of(table).deadline is not None
        monkeypatch.setattr(tick, "choose", choose)
        assert step(table)
        assert state_of(table).phase is not Phase.FREE

    def test_real_money_has_none(self):
        table = a_practice_table()
        assert not LiveTable.objects.filter(table=table.table, mode=Mode.REAL).exists()


def take(account_id: int, amount: int) -> None:
    """Take chips from a house player, as a loss would."""
    mint = accounts.house_account(AccountKind.MINT, "SEK", Mode.FREE)
    lines = ledger.Line(account_id, "SEK", "F", -amount), ledger.Line(mint, "SEK", "F", amount)
    write(ledger.Journal(uuid4(), "seat_funded", lines))
