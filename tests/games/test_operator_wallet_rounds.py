"""Rounds with the money of an operator's player: the operator's accounts and our ledger agree."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError
from django.db.models import Sum
from django.utils import timezone

from audit.reports.kinds import Interval
from games.errors import (
    BetUnderWay,
    OperatorBalanceTooLow,
    OperatorRefuses,
    OperatorSilent,
    OverLimit,
    TableClosed,
    VisitOver,
)
from games.models import Participation, Void
from games.reports.reconciliation import reconcile
from games.solo.operator_money import play
from games.tables.status import close_table
from players.models import ClosureState, LimitKind, Period
from players.protection.limits import set_limit
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE, agreed
from tests.harness.owner import as_owner
from tests.harness.reference_host import Fault
from tests.harness.sweeps import sample
from tests.operator_wallet import MONEY, an_operator, make_due
from tests.people import events
from tests.voiding import void_unreproduced
from wallet.models import BetState, MessageState, Mode, OperatorBet, OperatorLaunch, OperatorMessage, OperatorPlayer
from wallet.operator_wallet import bets, operators, queue


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def table(cloned_db):
    return a_table()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Shortens the timeout for answers."""
    monkeypatch.setattr(operators, "SECONDS_TO_ANSWER", 0.6)


class TestPlayed:
    def test_a_round_is_played_with_the_operators_money(self, operator, table):
        visitor = operator.visit()
        played = visitor.plays(table, banker=STAKE)
        part = Participation.objects.get(round_id=played.round_id)
        assert (part.staked, part.balance_before, part.balance_after) == (STAKE, STAKE, part.paid)
        (bet,) = operator.host.named("bet")
        assert bet["amount"] == STAKE
        assert bet["round"] == str(played.round_id)
        assert bet["game"] == "baccarat"
        queue.send_due()
        (win,) = operator.host.named("win")
        assert win["amount"] == part.paid
        assert operator.host.balances[visitor.name] == MONEY - STAKE + part.paid
        assert operators.funds(visitor.player, Mode.REAL) == operator.host.balances[visitor.name]
        agreed(operator)

    @pytest.mark.sweep
    def test_a_lost_round_is_closed_with_a_win_of_nothing(self, operator, table):
        visitor = operator.visit()
        while not Participation.objects.filter(player=visitor.player, paid=0).exists():
            visitor.plays(table, player=1_000)
        queue.send_due()
        assert 0 in {said["amount"] for said in operator.host.named("win")}
        assert len(operator.host.named("win")) == Participation.objects.filter(player=visitor.player).count()
        agreed(operator)

    @pytest.mark.sweep
    def test_the_same_click_again_finds_the_round(self, operator, table):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        first, second = play(click), play(click)
        assert second.repeated
        assert second.round_id == first.round_id
        assert len(operator.host.named("bet")) == 1
        queue.send_due()
        agreed(operator)

    @pytest.mark.sweep
    def test_players_come_back_as_the_same(self, operator, table):
        first = operator.visit("anna")
        again = operator.visit("anna")
        assert again.player == first.player
        assert again.player.uses_operator_wallet
        assert not again.player.user.has_usable_password()


class TestRefused:
    def test_a_balance_that_does_not_cover_the_bet(self, operator, table):
        visitor = operator.visit(money=MONEY)
        click = visitor.click(table, banker=STAKE)
        operator.host.balances[visitor.name] = STAKE - 1
        with pytest.raises(OperatorBalanceTooLow):
            play(click)
        assert OperatorBet.objects.get().state == BetState.REFUSED
        assert not OperatorMessage.objects.exists()
        assert events("round.refused")[-1]["data"]["reason"] == "OperatorBalanceTooLow"

    @pytest.mark.sweep
    def test_other_refusals(self, operator, table):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        operator.host.refuse("bet", "session-over", "not-eligible", "limit-reached")
        with pytest.raises(VisitOver):
            play(click)
        for _ in range(2):
            with pytest.raises(OperatorRefuses):
                play(click)
        assert not play(click).repeated  # the round has not been played yet
        queue.send_due()
        agreed(operator)

    def test_what_the_table_refuses_is_never_asked(self, operator, table):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        close_table(table_id=table.pk, reason="for a test", by="staff:test")
        with pytest.raises(TableClosed):
            play(click)
        assert not OperatorBet.objects.exists()

    def test_no_visit_no_bet(self, operator, table):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        with pytest.raises(VisitOver):
            play(type(click)(**(vars(click) | {"session": uuid4()})))

    def test_limits_of_the_player_hold(self, operator, table):
        visitor = operator.visit()
        set_limit(player=visitor.player, kind=LimitKind.STAKE, period=Period.DAY, amount=STAKE - 1, by="player:1")
        click = visitor.click(table, banker=STAKE)
        with pytest.raises(OverLimit):
            play(click)
        assert not operator.host.named("bet")

    def test_what_the_round_refuses_after_the_answer_is_rolled_back(self, operator, table, monkeypatch):
        """The table closes while the request to the operator is pending."""
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        ask = operators.ask

        def closing(*asked):
            close_table(table_id=table.pk, reason="for a test", by="staff:test")
            return ask(*asked)

        monkeypatch.setattr(operators, "ask", closing)
        with pytest.raises(TableClosed):
            play(click)
        monkeypatch.undo()
        assert operator.host.balances[visitor.name] == MONEY - STAKE
        queue.send_due()
        assert operator.host.balances[visitor.name] == MONEY
        agreed(operator)


LOST = [
    Fault.ERROR,
    Fault.HANG_UP_BEFORE,
    Fault.HANG_UP_AFTER,
    Fault.ERROR_AFTER,
    Fault.SILENT_AFTER,
    Fault.DRIP,
    Fault.GARBAGE,
    Fault.HOSTILE,
    Fault.OTHER,
    Fault.ENDLESS,
    Fault.REDIRECT,
    Fault.TEAPOT,
]


class TestUnanswered:
    @pytest.mark.parametrize("fault", sample(LOST, 1), ids=[each.name for each in LOST])
    def test_a_bet_without_an_answer_plays_no_round(self, operator, table, fault):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        operator.host.fail("bet", fault)
        with pytest.raises(OperatorSilent):
            play(click)
        assert not Participation.objects.exists()
        assert OperatorBet.objects.get().state == BetState.GIVEN_UP
        queue.send_due()
        assert operator.host.balances[visitor.name] == MONEY
        assert not play(click).repeated
        queue.send_due()
        agreed(operator)

    @pytest.mark.sweep
    def test_a_rollback_is_repeated_until_the_operator_accepts(self, operator, table):
        visitor = operator.visit()
        operator.host.fail("bet", Fault.ERROR_AFTER)
        operator.host.fail("rollback", Fault.ERROR, Fault.HANG_UP_AFTER, Fault.GARBAGE)
        with pytest.raises(OperatorSilent):
            visitor.plays(table, banker=STAKE)
        for tries in (1, 2, 3):
            queue.send_due()
            message = OperatorMessage.objects.get()
            assert (message.state, message.tries) == (MessageState.WAITING, tries)
            assert message.due_at > message.at
            make_due()
        queue.send_due()
        assert len(operator.host.accepted("rollback")) == 1
        assert operator.host.balances[visitor.name] == MONEY
        agreed(operator)

    def test_what_a_dead_process_asked_is_swept(self, operator, table, monkeypatch):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        monkeypatch.setattr("games.solo.operator_money._play", lambda *_: 1 / 0)
        monkeypatch.setattr(bets, "give_up", lambda *_: False)  # nobody is left to do it
        with pytest.raises(ZeroDivisionError):
            play(click)
        monkeypatch.undo()
        assert bets.sweep() == 0  # somebody might still wait for the answer
        monkeypatch.setattr(bets, "LOST_AFTER", bets.LOST_AFTER * 0)
        assert bets.sweep() == 1
        queue.send_due()
        assert operator.host.balances[visitor.name] == MONEY
        agreed(operator)


class TestVoids:
    @pytest.mark.parametrize("is_announced", sample([True, False], 1), ids=["told", "not yet told"])
    def test_a_voided_round_is_taken_back_at_the_operator(self, operator, table, is_announced):
        visitor = operator.visit()
        won, lost = None, None
        while won is None or lost is None:
            played = visitor.plays(table, player=STAKE)
            part = Participation.objects.get(round_id=played.round_id)
            won, lost = (part if part.paid > STAKE else won), (part if part.paid == 0 else lost)
        if is_announced:
            queue.send_due()
        for part in (won, lost):
            void_unreproduced(part.round_id)
            (done,) = Void.objects.get(pk=part.round_id).parts.all()
            assert (done.returned, done.shortfall) == (STAKE - part.paid, 0)
        queue.send_due()
        said = [each["takes_back"] for each in operator.host.named("rollback")]
        assert len(said) == 4
        for part in (won, lost):
            bet = OperatorBet.objects.get(round_id=part.round_id)
            win = bet.messages.get(kind="win")
            assert said.index(str(win.transaction)) < said.index(str(bet.pk))
            assert operator.host.booked[str(bet.pk)].taken_back
            assert operator.host.booked[str(win.transaction)].taken_back
        agreed(operator)


class TestAtOnce:
    def test_a_second_click_on_the_same_round_asks_nothing(self, operator, table, monkeypatch):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        ask, refused = operators.ask, []

        def asking(*what):
            monkeypatch.setattr(operators, "ask", ask)
            with pytest.raises(BetUnderWay):
                play(click)
            refused.append(click)
            return ask(*what)

        monkeypatch.setattr(operators, "ask", asking)
        assert not play(click).repeated
        assert refused
        assert len(operator.host.named("bet")) == 1
        queue.send_due()
        agreed(operator)


class TestReports:
    @pytest.mark.sweep
    def test_the_reconciliation_differs_in_nothing(self, operator, table):
        visitor = operator.visit()
        rounds = [visitor.plays(table, banker=STAKE).round_id for _ in range(3)]
        void_unreproduced(rounds[0])
        now = timezone.now()
        _opening, lines, closing = reconcile(Interval(now - timedelta(hours=1), now + timedelta(hours=1)))
        assert [line.name for line in lines if line.records is not None and line.ledger != line.records] == []
        (brought,) = [line for line in lines if line.name.startswith("Stakes of operators")]
        current = Participation.objects.exclude(round_id=rounds[0]).aggregate(staked=Sum("staked"), paid=Sum("paid"))
        assert brought.ledger["SEK", "R"] == current["staked"] - current["paid"]
        assert closing["SEK", "R"] == 0


class TestForgetting:
    def test_is_refused_while_the_account_is_not_closed(self, operator, table):
        visitor = operator.visit()
        with pytest.raises(DatabaseError, match="stays whose they are"):
            operators.forget(visitor.player)

    def test_leaves_neither_name_nor_session_of_the_operator(self, operator, table):
        visitor = operator.visit("anna")
        visitor.plays(table, banker=STAKE)
        queue.send_due()
        for state in ClosureState:
            as_owner(
                "INSERT INTO players_closure (player_id, state, by) VALUES (%s, %s, 'system')",
                [visitor.player.pk, state.value],
            )
        operators.forget(visitor.player)
        assert OperatorPlayer.objects.get().name == f"forgotten:{visitor.player.pk}"
        assert OperatorLaunch.objects.get().token == ""
