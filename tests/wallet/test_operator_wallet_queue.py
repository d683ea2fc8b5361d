"""Messages to operators: repeated in order until accepted, or settled by staff."""

from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError, connection
from django.db.models import F

from audit.significant import detection
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE, agreed
from tests.harness.reference_host import Fault
from tests.operator_wallet import MONEY, an_operator, make_due
from tests.people import a_member_of_staff, events
from tests.voiding import void_unreproduced
from tests.wallet import wholeness
from wallet.models import MessageKind, MessageState, OperatorMessage
from wallet.operator_wallet import operators, queue

NEVER = 60  # attempts during weeks without the operator


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def table(cloned_db):
    return a_table()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(operators, "SECONDS_TO_ANSWER", 0.5)


def played(operator, table):
    """Return a round whose win message waits."""
    visitor = operator.visit()
    visitor.plays(table, banker=STAKE)
    return visitor, OperatorMessage.objects.get(bet__player=visitor.player)


def waits(message):
    message.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return (message.due_at - now).total_seconds()


class TestSending:
    @pytest.mark.sweep
    def test_waits_double_up_to_an_hour_and_never_end(self, operator, table):
        _, message = played(operator, table)
        for tries in range(6):
            operator.host.fail("win", Fault.ERROR)
            queue.send_due()
            assert 2**tries - 30 < waits(message) <= 2**tries
            make_due()
        OperatorMessage.objects.update(tries=NEVER)
        operator.host.fail("win", Fault.ERROR)
        queue.send_due()
        assert 3_500 < waits(message) <= 3_600
        make_due()
        queue.send_due()
        message.refresh_from_db()
        assert (message.state, message.said) == (MessageState.TAKEN, "HTTP 500")
        agreed(operator)

    def test_a_booking_without_an_answer_is_sent_again_and_booked_once(self, operator, table):
        played(operator, table)
        operator.host.fail("win", Fault.HANG_UP_AFTER, Fault.ERROR_AFTER, Fault.GARBAGE, Fault.TWICE)
        for _ in range(4):
            queue.send_due()
            make_due()
        assert len(operator.host.named("win")) == 4
        assert len(operator.host.accepted("win")) == 1
        agreed(operator)

    @pytest.mark.sweep
    def test_an_operator_that_is_away_holds_up_no_other(self, operator, table):
        played(operator, table)
        with an_operator() as other:
            played(other, table)
            operator.host.fail("win", Fault.ERROR)
            queue.send_due()
            assert len(other.host.accepted("win")) == 1
        make_due()
        queue.send_due()
        assert len(operator.host.accepted("win")) == 1

    def test_nor_does_one_whose_answer_cannot_be_stored(self, operator, table):
        _, message = played(operator, table)
        operator.host.fail("win", Fault.HOSTILE)
        with an_operator() as other:
            played(other, table)
            queue.send_due()
            assert len(other.host.accepted("win")) == 1
        message.refresh_from_db()
        assert (message.state, message.tries) == (MessageState.WAITING, 1)
        make_due()
        queue.send_due()
        assert len(operator.host.accepted("win")) == 1

    @pytest.mark.sweep
    def test_an_operator_that_is_silent_is_asked_once_and_left_for_the_next_time(self, operator, table):
        for _ in range(3):
            played(operator, table)
        operator.host.fail("win", Fault.SILENT_AFTER)
        with an_operator() as other:
            played(other, table)
            queue.send_due()
            assert len(operator.host.named("win")) == 1
            assert len(other.host.accepted("win")) == 1
        make_due()
        queue.send_due()
        assert not OperatorMessage.objects.filter(state=MessageState.WAITING).exists()

    def test_and_by_one_worker_alone(self, operator, table, cloned_db):
        played(operator, table)
        operator.host.fail("win", Fault.ERROR_AFTER)
        queue.send_due()
        make_due()
        with psycopg.connect(cloned_db.web_url) as worker:
            worker.execute(queue.ALONE, [operator.partner.pk])
            with an_operator() as other:
                played(other, table)
                queue.send_due()
                assert len(other.host.accepted("win")) == 1
            assert len(operator.host.named("win")) == 1
        queue.send_due()
        assert len(operator.host.named("win")) == 2
        assert not OperatorMessage.objects.filter(state=MessageState.WAITING).exists()

    @pytest.mark.sweep
    def test_silence_for_an_hour_is_reported_to_staff_once(self, operator, table, monkeypatch):
        monkeypatch.setattr(queue, "LOUD_AFTER", timedelta(0))
        for _ in range(3):
            played(operator, table)
        operator.host.fail("win", *[Fault.ERROR] * 2)
        for _ in range(2):
            queue.send_due()
            make_due()
        (shown,) = events("operator_message.unanswered")
        assert shown["data"]["operator"] == operator.partner.code
        assert detection.kinds()["operator_message.unanswered"]
        queue.send_due()
        agreed(operator)


class TestExceptions:
    @pytest.mark.sweep
    def test_what_is_refused_is_kept_for_staff_who_have_it_sent_again(self, operator, table):
        _, message = played(operator, table)
        operator.host.refuse("win", "no-bet")
        queue.send_due()
        message.refresh_from_db()
        assert (message.state, message.said) == (MessageState.DOUBT, "no-bet")
        queue.send_due()
        assert len(operator.host.named("win")) == 1  # there is no automatic attempt
        queue.try_again(message.pk, by=a_member_of_staff("finance"))
        queue.send_due()
        message.refresh_from_db()
        assert message.state == MessageState.TAKEN
        assert [each["data"]["what"] for each in events("operator_message.refused")] == ["win"]
        agreed(operator)

    @pytest.mark.sweep
    def test_or_settle_it_by_hand_once_and_with_a_note(self, operator, table):
        _, message = played(operator, table)
        operator.host.refuse("win", "no-bet")
        queue.send_due()
        finance = a_member_of_staff("finance")
        queue.settle(message.pk, note="Paid by their support.", by=finance)
        message.refresh_from_db()
        assert (message.state, message.settled_by, message.note) == (
            MessageState.SETTLED,
            finance,
            "Paid by their support.",
        )
        with pytest.raises(queue.NotInDoubt):
            queue.settle(message.pk, note="x", by=finance)
        with pytest.raises(queue.NotInDoubt):
            queue.try_again(message.pk, by=finance)
        (said,) = events("operator_message.settled")
        assert said["by"] == str(finance)
        assert not [each for each in wholeness.checks() if each.rows]

    def test_the_database_lets_nobody_settle_who_may_not(self, operator, table):
        _, message = played(operator, table)
        operator.host.refuse("win", "no-bet")
        queue.send_due()
        with pytest.raises(DatabaseError, match="does not change like this"):
            queue.settle(message.pk, note="x", by=a_member_of_staff("support"))

    @pytest.mark.sweep
    def test_what_follows_of_the_same_bet_waits(self, operator, table):
        visitor, message = played(operator, table)
        operator.host.refuse("win", "no-bet")
        queue.send_due()
        void_unreproduced(message.bet.round_id)
        queue.send_due()
        assert not operator.host.named("rollback")
        queue.try_again(message.pk, by=a_member_of_staff("finance"))
        queue.send_due()
        assert len(operator.host.accepted("rollback")) == 2
        assert operator.host.balances[visitor.name] == MONEY
        agreed(operator)

    @pytest.mark.sweep
    def test_winnings_that_were_spent_there_are_a_doubt(self, operator, table):
        visitor = operator.visit()
        while not (won := OperatorMessage.objects.filter(kind=MessageKind.WIN, amount__gt=F("bet__amount")).first()):
            visitor.plays(table, banker=STAKE)
        queue.send_due()
        operator.host.balances[visitor.name] = 0
        void_unreproduced(won.bet.round_id)
        queue.send_due()
        doubt = OperatorMessage.objects.get(takes_back=won.transaction)
        assert (doubt.state, doubt.said) == (MessageState.DOUBT, "insufficient-funds")
        assert OperatorMessage.objects.get(takes_back=won.bet_id).state == MessageState.WAITING
