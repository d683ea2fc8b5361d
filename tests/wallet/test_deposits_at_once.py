"""Concurrent messages and deposits: the race is shown first, then prevented."""

from threading import Barrier
from uuid import uuid4

from django.db import connection
from django.db.models import Sum

from tests.builders import a_player
from tests.wallet import wholeness
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back, statement
from tests.wallet.test_at_once import at_once
from wallet.ledger import LimitReached
from wallet.models import BankOrder, Payment, PaymentState
from wallet.payments import deposits, notifications

THREADS = 16


def is_whole() -> bool:
    return not any(check.rows for check in wholeness.checks())


class TestTheSameMessage:
    def test_checking_first_credits_the_same_payment_many_times(self, cloned_db, owner):
        """The race on an unguarded table: all see a waiting payment, and all credit it."""
        owner.execute("CREATE TABLE unguarded AS SELECT 'waiting' AS state, 0 AS balance")
        owner.execute("GRANT SELECT, UPDATE ON unguarded TO sabot_app")
        have_read = Barrier(THREADS)

        def check_then_credit() -> bool:
            with connection.cursor() as cursor:
                cursor.execute("SELECT state FROM unguarded")
                (state,) = cursor.fetchone()
                have_read.wait(timeout=60)
                if state != "waiting":
                    return False
                cursor.execute("UPDATE unguarded SET state = 'credited', balance = balance + 50000")
            return True

        assert at_once([check_then_credit] * THREADS) == [True] * THREADS
        assert owner.execute("SELECT balance FROM unguarded").fetchone() == (THREADS * 50_000,)

    def test_credits_once(self, cloned_db):
        player = a_player()
        payment = a_payment(player)
        said = statement(payment)
        assert at_once([lambda: call_back(said)] * THREADS) == [200] * THREADS
        assert balance(player) == 50_000
        assert payment.notices.filter(decision="credited").count() == 1
        assert payment.notices.filter(decision="repeated").count() == THREADS - 1
        assert is_whole()

    def test_neither_do_a_call_back_and_an_answer_credit_twice(self, cloned_db):
        player = a_player()
        payment = a_payment(player)
        at_the_bank(payment)
        said = statement(payment, authorisation=BankOrder.objects.get().authorisation)
        jobs = [lambda: call_back(said), lambda: notifications.ask_about(payment.pk)] * (THREADS // 2)
        at_once(jobs)
        assert balance(player) == 50_000
        assert is_whole()


class TestBeginning:
    def test_one_form_sent_many_times_at_once_begins_one_deposit(self, cloned_db):
        player, key = a_player(), uuid4()
        begun = at_once([lambda: deposits.begin(player=player, amount=50_000, key=key).pk] * THREADS)
        assert len(set(begun)) == 1
        assert Payment.objects.count() == 1

    def test_deposits_begun_at_once_never_pass_the_limit(self, cloned_db):
        player = a_player("DE")  # has a legal monthly limit
        most = player.jurisdiction.highest_month_deposit
        assert most is not None
        amount = most // 4

        def begin() -> bool:
            try:
                a_payment(player, amount)
            except LimitReached:
                return False
            return True

        begun = at_once([begin] * THREADS)
        assert begun.count(True) == 4
        for payment in Payment.objects.all():
            assert call_back(statement(payment)) == 200
        assert balance(player) == most
        assert Payment.objects.filter(state=PaymentState.CREDITED).aggregate(Sum("amount"))["amount__sum"] == most
        assert is_whole()
