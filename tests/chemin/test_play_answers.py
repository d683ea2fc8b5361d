"""Questions at a Chemin de Fer table: who may answer, until when, and at a closed or stopped table."""

import pytest

from games.chemin import moves, play
from games.engine.chemin import Phase, Refusal
from games.errors import (
    NotEligible,
    NotEnoughBalance,
    OverLimit,
    QuestionPassed,
    StalePage,
    TableClosed,
    TableStopped,
    TableWaits,
)
from games.models import (
    CheminSeat,
    CheminTable,
    CheminTenure,
    Incident,
    IncidentKind,
    LiveRound,
    LiveTable,
    Round,
    Shoe,
    WhyLeft,
)
from games.models import Phase as RoundPhase
from games.shared import malfunction
from games.solo.seats import sit as sit_at
from games.tables.status import close_table
from players.models import LimitKind, Period
from players.protection import exclusions, limits, play_sessions
from tests.builders import a_chemin_live_table, a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_coup_without_a_natural,
    a_seated_player,
    a_session,
    a_staked_coup,
    answer,
    asked_at,
    cash,
    chemin_of,
    hurry,
    let_pass,
    refusal_of,
    seated_players,
    sit,
    state_of,
    step_to,
)
from tests.harness.owner import as_owner, update_as_owner
from tests.harness.sweeps import sample
from tests.people import events
from wallet import ledger
from wallet.models import Mode

pytestmark = pytest.mark.django_db


class TestAnAnswer:
    def test_to_another_question_changes_nothing(self):
        table = a_chemin_table()
        first, second = seated_players(table, 2)
        question = chemin_of(table).question
        answer(first, table, "pass")
        move = chemin_of(table).move
        with pytest.raises(QuestionPassed):
            answer(second, table, "take_bank", 10_000, question=question)
        assert chemin_of(table).move == move

    def test_after_its_time_is_too_late_although_nobody_has_seen_it_pass(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        hurry(table)
        with pytest.raises(QuestionPassed):
            answer(first, table, "take_bank", 10_000)
        assert cash(first).balance == MONEY

    def test_of_a_player_who_is_not_asked(self):
        table = a_chemin_table()
        _, second = seated_players(table, 2)
        assert refusal_of(second, table, "take_bank", 10_000) is Refusal.NOT_YOUR_TURN

    def test_of_a_player_who_does_not_sit_there(self):
        table = a_chemin_table()
        seated_players(table, 2)
        assert refusal_of(a_player(real=MONEY), table, "pass") is Refusal.NOT_SEATED

    @pytest.mark.parametrize("amount", sample([None, 0, -5, 999, 100_001], 1))
    def test_with_an_amount_that_no_bank_has(self, amount):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        assert refusal_of(first, table, "take_bank", amount) in {
            Refusal.BAD_AMOUNT,
            Refusal.BELOW_MINIMUM,
            Refusal.ABOVE_MAXIMUM,
        }
        assert not CheminTenure.objects.exists()

    def test_that_the_balance_does_not_cover(self):
        table = a_chemin_table()
        first = a_seated_player(table, 1, money=5_000)
        a_seated_player(table, 2)
        assert refusal_of(first, table, "take_bank", 5_001) is Refusal.NOT_COVERED

    @pytest.mark.parametrize(
        ("name", "call"), sample([("make_call", None), ("time_up", None), ("join", None), ("", None)], 1)
    )
    def test_that_no_page_has(self, name, call):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        with pytest.raises(StalePage):
            answer(first, table, name, call=call)

    @pytest.mark.sweep
    def test_asking_the_croupier_leaves_the_question_and_its_time(self):
        table = a_chemin_table()
        seated_players(table, 2)
        punter, before = a_coup_without_a_natural(table), chemin_of(table)
        answer(punter, table, "ask_croupier")
        after = chemin_of(table)
        assert (after.question, after.deadline, after.move) == (before.question, before.deadline, before.move + 1)
        assert refusal_of(punter, table, "ask_croupier") is Refusal.ALREADY_ADVISED

    @pytest.mark.sweep
    def test_that_a_rule_forbids_is_recorded_nowhere(self):
        """The record would reveal the punter's hand to readers of the log."""
        table = a_chemin_table()
        seated_players(table, 3)
        banker = a_bank(table, 10_000)
        while state_of(table).phase is Phase.CALLS:
            let_pass(table)
        while state_of(table).phase is Phase.STAKES:
            answer(asked_at(table), table, "lay_stake", 1_000)
        answer(banker, table, "deal_cards")
        if state_of(table).phase is Phase.PUNTER and (total := state_of(table).dealt_hands.punter.pair_total) != 5:
            assert refusal_of(asked_at(table), table, "stand" if total < 5 else "draw_card") is Refusal.RULE_BINDS
        assert events("play.refused") == []
        assert refusal_of(banker, table, "lay_stake", 1_000) in {Refusal.NOT_NOW, Refusal.NOT_YOUR_TURN}
        (refused,) = events("play.refused")
        assert refused["data"] == {
            "action": "lay_stake",
            "question": chemin_of(table).question,
            "reason": "CheminRefused",
        }

    def test_that_would_pass_a_limit(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        limits.set_limit(player=first, kind=LimitKind.STAKE, period=Period.DAY, amount=9_999, by=str(first))
        with pytest.raises(OverLimit):
            answer(first, table, "take_bank", 10_000)
        answer(first, table, "take_bank", 9_999)

    def test_where_the_player_may_not_play_any_more_has_them_get_up(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        a_seated_player(table, 3)
        exclusions.pause(player=first, by=str(first))
        with pytest.raises(NotEligible):
            answer(first, table, "take_bank", 10_000)
        assert CheminSeat.objects.get(player=first).why_left == WhyLeft.SESSION
        assert events("play.refused")[0]["data"]["ineligibility"] == "excluded"

    def test_waits_for_a_reality_check(self):
        table, player = a_chemin_table(), a_player(real=MONEY)
        session = a_session(player)
        play_sessions.read_session(player, session)
        sit(player, table, 1, session)
        a_seated_player(table, 2)
        as_owner("UPDATE players_playsession SET checked_at = clock_timestamp() - interval '2 hours'")
        with pytest.raises(NotEligible):
            answer(player, table, "take_bank", 10_000, session=session)
        assert CheminSeat.objects.get(player=player).left_at is None
        play_sessions.answer_check(player=player, session=session, goes_on=True)
        answer(player, table, "take_bank", 10_000, session=session)

    def test_at_one_table_where_another_has_been_opened_since(self):
        table = a_chemin_table(currency="EUR")
        first, other = (a_player("DE", real=50_000) for _ in range(2))
        sit(first, table, 1)
        sit(other, table, 2)
        assert not first.jurisdiction.may_play_in_parallel
        elsewhere = a_chemin_live_table("EUR", slug="elsewhere")
        sit_at(first, elsewhere.pk, Mode.REAL)
        with pytest.raises(TableWaits):
            answer(first, table, "take_bank", 10_000)
        sit_at(first, table.table_id, Mode.REAL)
        answer(first, table, "take_bank", 10_000)


class TestAClosedTable:
    def test_begins_nothing(self):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        close_table(table_id=table.table_id, reason="for a test", by="staff:test")
        with pytest.raises(TableClosed):
            answer(first, table, "take_bank", 10_000)

    @pytest.mark.sweep
    def test_plays_the_coup_in_progress_to_its_end(self):
        table = a_chemin_table()
        seated_players(table, 2)
        banker, _ = a_staked_coup(table)
        close_table(table_id=table.table_id, reason="for a test", by="staff:test")
        answer(banker, table, "deal_cards")
        step_to(table, Phase.CHOICE, Phase.OFFER, Phase.ALONE)
        assert Round.objects.exists()


def spoil(table: LiveTable) -> None:
    """Make the shoe and the state disagree about the number of dealt cards."""
    update_as_owner(Shoe.objects.filter(live_table=table), gone=3)


class TestAFaultThatIsFound:
    def test_at_a_click_stops_the_table_and_tells_the_player(self):
        table = a_chemin_table()
        seated_players(table, 2)
        banker, _ = a_staked_coup(table)
        spoil(table)
        with pytest.raises(TableStopped):
            answer(banker, table, "deal_cards")
        incident = Incident.objects.get()
        assert (incident.kind, incident.live_round) == (IncidentKind.WRONG_CARD, LiveRound.objects.get())
        assert LiveTable.objects.get(pk=table.pk).stopped_by == incident
        assert LiveRound.objects.get().phase == RoundPhase.CLOSED

    def test_at_a_table_without_a_coup_is_nobodys_to_hide(self):
        table = a_chemin_table()
        update_as_owner(CheminTable.objects.filter(pk=table.pk), state={})
        with pytest.raises(KeyError):
            sit(a_player(real=MONEY), table)


def report(table: LiveTable) -> None:
    """Let staff report an error in the latest coup of the table."""
    live_round = LiveRound.objects.filter(live_table=table).latest("opened_at")
    malfunction.report(round_id=live_round.pk, cause="A card lay face up.", by="staff:test")


class TestAStoppedTable:
    def test_moves_no_coup_that_awaits_a_ruling(self):
        table = a_chemin_table()
        seated_players(table, 2)
        banker, punter = a_staked_coup(table)
        report(table)
        with pytest.raises(TableStopped):
            answer(banker, table, "deal_cards")
        with pytest.raises(TableStopped):
            sit(a_player(real=MONEY), table)
        play.leave(player=punter, live_table_id=table.pk)  # when the coup is over

    def test_a_player_asked_for_a_stake_cannot_close_the_stakes_by_leaving(self):
        table = a_chemin_table()
        seated_players(table, 3)
        a_bank(table)
        report(table)
        for leaves in (play.leave, play.step_away):
            with pytest.raises(TableStopped):
                leaves(player=asked_at(table), live_table_id=table.pk)

    def test_nor_by_answering_when_they_may_not_play_any_more(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_bank(table)
        while state_of(table).phase is Phase.CALLS:
            let_pass(table)
        report(table)
        last = asked_at(table)
        exclusions.pause(player=last, by=str(last))
        with pytest.raises(NotEligible):
            answer(last, table, "pass")
        assert state_of(table).phase is Phase.STAKES
        assert CheminSeat.objects.get(player=last).why_left == ""

    def test_begins_nothing_between_coups_but_lets_everybody_go(self):
        table = a_chemin_table()
        first, second = seated_players(table, 2)
        a_bank(table)
        while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
            let_pass(table)
        report(table)
        with pytest.raises(TableStopped):
            answer(first, table, "keep_bank")
        play.leave(player=first, live_table_id=table.pk)
        play.leave(player=second, live_table_id=table.pk)
        assert cash(first).balance == MONEY


def test_too_little_balance_is_reported_where_the_ledger_says_so(monkeypatch):
    table = a_chemin_table()
    first, _ = seated_players(table, 2)

    def refuse(*_asked: object) -> None:
        raise ledger.InsufficientFunds

    monkeypatch.setattr(moves, "begin_tenure", refuse)
    with pytest.raises(NotEnoughBalance):
        answer(first, table, "take_bank", 10_000)
