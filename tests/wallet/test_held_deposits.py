"""Deposit limits and exclusions hold, however old a link to the bank is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from audit import approvals
from audit.models import Approval, Category, Significant
from audit.reports.requests import clock
from audit.sealing import sealer
from audit.significant import detection
from backoffice.dashboard.figures import Figures
from games.history.statement import figures
from players.identity import duplicates
from players.login import locks
from players.models import Ground, LimitKind, Period, Resolution
from players.protection import eligibility, exclusions, limits
from players.protection.eligibility import Code
from tests.builders import a_player, a_round, a_table, a_verified_player
from tests.people import a_member_of_staff, events, last_mail
from tests.wallet import wholeness
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back, statement
from tests.wallet.faults import Fault
from tests.wallet.payout_builders import an_account
from wallet import withdrawals
from wallet.ledger import LimitReached, NotPaid, accounts, credit_deposit, hourly_totals
from wallet.ledger.statements import liabilities
from wallet.models import AccountKind, BankOrder, Mode, Payment
from wallet.payments import held_deposits, notifications
from wallet.payments.held_deposits import Action
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank.orders import seal

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """No waiting time before and between status queries; the house gives up at once."""
    for name in ("PAYMENT_ASK_SECONDS", "PAYMENT_GIVE_UP_SECONDS"):
        monkeypatch.setattr(settings, name, 0)


@pytest.fixture
def player():
    """Return a player who may deposit 500.00 a month, of which 250.00 are used."""
    player = a_player("DE")
    limits.set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period.MONTH, amount=50_000, by=str(player))
    call_back(statement(a_payment(player, 25_000)))
    return player


def pay(payment: Payment) -> None:
    """Approve the payment on the bank's page, as a payer who has kept its address, and let the house hear of it."""
    page = f"/en/sandbox-bank/{seal(request_for(payment), settings.SANDBOX_BANK_KEY)}/"
    Client().post(page, {"answer": "approve", "behaviour": "never"})
    notifications.ask_about(payment.pk)


def to_send_back(player) -> int:
    return accounts.totals(player.pk).balances(AccountKind.REFUND).get(Mode.REAL, 0)


def of(payment: Payment) -> tuple[str, str]:
    payment.refresh_from_db()
    return payment.state, payment.held_because


def withdraw(asked: Approval) -> None:
    approvals.withdraw(approval_id=asked.pk, by=asked.by, person=asked.person, reason="not sent after all")


def is_whole() -> bool:
    return wholeness.broken() == {}


@contextmanager
def failing(function: str, payment: Payment) -> Iterator[None]:
    """Let statements fail that call *function* for this payment."""

    def execute_or_fail(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if function in sql and payment.pk in params:
            raise Fault(function)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(execute_or_fail):
        yield


def ask(payment: Payment, action: Action, reference: str = "") -> Approval:
    finance = a_member_of_staff("finance")
    return held_deposits.ask(payment.pk, action=action, reference=reference, reason="looked", by=finance)


def approve(asked: Approval) -> None:
    second = a_member_of_staff("compliance")
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="seen", may=second.user.has_perm
    )


class TestAnOldLink:
    def test_is_dead_at_the_bank_once_its_room_is_released(self, player):
        old = a_payment(player, 25_000)
        notifications.ask_undecided()
        assert of(old) == ("expired", "")
        new = a_payment(player, 25_000)
        pay(old)
        pay(new)
        assert BankOrder.objects.get(pk=old.pk).state == "cancelled"
        assert (of(old)[0], of(new)[0]) == ("expired", "credited")
        assert balance(player) == 50_000
        assert is_whole()

    def test_keeps_its_room_while_the_provider_cannot_cancel_it(self, player, monkeypatch):
        monkeypatch.delattr("wallet.payments.sandbox.SandboxBank.cancel")
        old = a_payment(player, 25_000)
        for _ in range(2):
            notifications.ask_undecided()
        assert of(old) == ("waiting", "")
        with pytest.raises(LimitReached):
            a_payment(player, 25_000)
        (event,) = events("payment.not_cancelled", on=str(player))
        assert event["data"]["payment"] == str(old.pk)
        pay(old)
        assert of(old) == ("credited", "")
        assert balance(player) == 50_000

    def test_leads_to_no_bank_any_more(self, player, monkeypatch):
        old = a_payment(player, 25_000)
        visitor = Client()
        visitor.force_login(player.user)
        assert visitor.get(f"/en/cashier/deposit/{old.pk}/bank/")["Location"] == f"/en/cashier/deposit/{old.pk}/"
        assert "This deposit is no longer possible." in visitor.get(f"/en/cashier/deposit/{old.pk}/").text
        monkeypatch.setattr(settings, "PAYMENT_GIVE_UP_SECONDS", 1800)
        assert "/sandbox-bank/" in visitor.get(f"/en/cashier/deposit/{old.pk}/bank/")["Location"]
        exclusions.pause(player=player, by=str(player))
        assert visitor.get(f"/en/cashier/deposit/{old.pk}/bank/")["Location"] == f"/en/cashier/deposit/{old.pk}/"

    def test_is_cancelled_when_a_pause_begins(self, player, monkeypatch):
        for name in ("PAYMENT_ASK_SECONDS", "PAYMENT_GIVE_UP_SECONDS"):
            monkeypatch.setattr(settings, name, 1800)
        payment = a_payment(player, 25_000)
        exclusions.pause(player=player, by=str(player))
        notifications.ask_undecided()
        assert of(payment) == ("expired", "")
        assert BankOrder.objects.get(pk=payment.pk).state == "cancelled"


class TestOneThatFails:
    def test_delays_no_answer_about_another(self, player):
        first, second = a_payment(player, 10_000), a_payment(player, 10_000)
        for each in (first, second):
            at_the_bank(each)
        with failing("wallet_credit_deposit", first):
            notifications.ask_undecided()
        assert (of(first)[0], of(second)[0]) == ("waiting", "credited")
        notifications.ask_undecided()
        assert of(first)[0] == "credited"

    def test_delays_no_return_of_another(self, player):
        first, second = a_payment(player, 10_000), a_payment(player, 10_000)
        exclusions.pause(player=player, by=str(player))
        for each in (first, second):
            pay(each)
        with failing("wallet_return_deposit", first):
            held_deposits.return_due()
        assert (of(first)[0], of(second)[0]) == ("held", "returned")
        held_deposits.return_due()
        assert of(first)[0] == "returned"
        assert is_whole()


class TestMoneyThatArrivesAllTheSame:
    def test_for_a_payment_that_is_over_is_held_and_an_alert(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        assert of(payment) == ("held", "over")
        assert (balance(player), to_send_back(player)) == (25_000, 25_000)
        (event,) = events("deposit.held", on=str(player))
        assert (event["data"]["because"], event["data"]["journal"]) == ("over", payment.held_journal_id)
        sealer.seal()
        detection.find()
        assert Significant.objects.get(on=str(player), title="Deposit arrived, but may not be credited").weight == 2
        assert is_whole()

    def test_during_a_pause_is_held(self, player):
        payment = a_payment(player, 25_000)
        exclusions.pause(player=player, by=str(player))
        pay(payment)
        assert of(payment) == ("held", "excluded")
        assert "while you were excluded" in last_mail(player.user.email, "deposit_held").body

    def test_during_an_exclusion_under_another_account_is_held_and_sent_back(self, player):
        stated, asked, other = a_payment(player, 10_000), a_payment(player, 10_000), a_player("DE")
        for each in (other, player):
            duplicates.note(player=each, ground=Ground.PAYOUT, value="SAME1234")
        flags = [flag.pk for pair in duplicates.pairs_of(player) for flag in pair.flags]
        first, second = sorted([player.pk, other.pk])
        duplicates.resolve(
            first_id=first,
            second_id=second,
            shown=flags,
            resolution=Resolution.SAME,
            note="seen",
            by=a_member_of_staff("support"),
        )
        exclusions.exclude_self(player=other, months=12, by=str(other))
        barred = eligibility.check_play(player, real=True)
        assert barred is not None
        assert barred.code is Code.OTHER_ACCOUNT
        assert call_back(statement(stated)) == 200
        at_the_bank(asked)
        notifications.ask_undecided()
        assert of(stated) == of(asked) == ("held", "excluded")
        held_deposits.return_due()
        assert of(asked) == ("returned", "excluded")
        assert is_whole()

    def test_above_a_limit_that_was_lowered_in_the_meantime_is_held(self, player):
        payment = a_payment(player, 25_000)
        limits.set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period.MONTH, amount=30_000, by=str(player))
        pay(payment)
        assert of(payment) == ("held", "limit")
        assert balance(player) == 25_000

    def test_is_held_too_if_a_login_role_gave_back_the_room(self, player):
        payment = a_payment(player, 25_000)
        with connection.cursor() as cursor:
            cursor.execute("SELECT wallet_release(%s)", [notifications.journal_key(payment.pk)])
        a_payment(player, 25_000)
        pay(payment)
        assert of(payment) == ("held", "over")

    def test_is_not_played_with(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        table = a_table()
        a_round(player, table, player=1_000)
        assert to_send_back(player) == 25_000
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT * FROM wallet_post(jsonb_build_array(jsonb_build_object('key', gen_random_uuid(),"
                " 'kind', 'leave', 'lines', jsonb_build_array(jsonb_build_array(%s::bigint, 'EUR', 'R', -100),"
                " jsonb_build_array(%s::bigint, 'EUR', 'R', 100)))))",
                [
                    accounts.player_account(player.pk, Mode.REAL, kind)
                    for kind in (AccountKind.REFUND, AccountKind.CASH)
                ],
            )

    def test_is_a_liability_and_in_the_statement(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        (line,) = [each for each in liabilities() if each.currency == "EUR" and each.mode is Mode.REAL]
        assert (line.available, line.refund, line.total) == (25_000, 25_000, 50_000)
        zone = player.jurisdiction.time_zone
        end = payment.begun_at + timedelta(hours=1)
        found = figures.figures_between(player, Mode.REAL, end - timedelta(hours=2), end, zone)
        assert (found.closing.cash, found.closing.refund, found.closing.total) == (25_000, 25_000, 50_000)
        assert found.total == 50_000
        assert hourly_totals.HELD_FOR_PLAYERS[-1] == AccountKind.REFUND


class TestSentBack:
    def test_through_the_provider(self, player):
        payment = a_payment(player, 25_000)
        exclusions.pause(player=player, by=str(player))
        pay(payment)
        for _ in range(2):
            held_deposits.return_due()
        assert of(payment) == ("returned", "excluded")
        assert BankOrder.objects.get(pk=payment.pk).state == "refunded"
        assert (balance(player), to_send_back(player)) == (25_000, 0)
        assert len(events("deposit.returned", on=str(player))) == 1
        assert "while you were excluded" in last_mail(player.user.email, "deposit_returned").body
        assert is_whole()

    def test_is_recorded_if_the_provider_did_it_by_itself(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        said = statement(payment)
        call_back(said)
        for _ in range(2):
            call_back(said | {"state": "refunded", "sequence": 3})
        assert of(payment) == ("returned", "over")
        assert list(payment.notices.order_by("pk").values_list("decision", flat=True))[-2:] == ["returned", "repeated"]

    def test_by_two_people_where_the_account_is_locked(self, player):
        payment = a_payment(player, 25_000)
        locks.lock(player=player, reason="a stolen card", by=a_member_of_staff("support"))
        pay(payment)
        held_deposits.return_due()
        assert of(payment) == ("held", "locked")
        with pytest.raises(held_deposits.CannotDecide):
            ask(payment, Action.RETURN)
        approve(ask(payment, Action.RETURN, "R-17"))
        assert of(payment) == ("returned", "locked")
        assert events("deposit.returned", on=str(player))[0]["data"]["reference"] == "R-17"
        assert is_whole()

    def test_not_through_the_provider_while_a_second_person_is_awaited(self, player):
        payment = a_payment(player, 25_000)
        exclusions.pause(player=player, by=str(player))
        pay(payment)
        asked = ask(payment, Action.RETURN, "R-17")
        held_deposits.return_due()
        assert of(payment) == ("held", "excluded")
        assert BankOrder.objects.get(pk=payment.pk).state == "approved"
        withdraw(asked)
        held_deposits.return_due()
        assert of(payment) == ("returned", "excluded")

    def test_by_nobody_without_proof_or_a_second_person(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        asked = ask(payment, Action.CREDIT)
        for statement_, values in (
            ("SELECT wallet_decide_deposit(%s)", [asked.pk]),
            ("SELECT wallet_return_deposit(%s, 'R1', 'proof')", [payment.pk]),
            ("SELECT wallet_end_held_deposit(%s, 'credited')", [payment.pk]),
            ("UPDATE wallet_payment SET state = 'returned', journal_id = 1 WHERE id = %s", [payment.pk]),
            ("UPDATE wallet_payment SET state = 'expired' WHERE id = %s", [payment.pk]),
        ):
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement_, values)
        with pytest.raises(NotPaid):
            credit_deposit(payment.pk, key=notifications.journal_key(payment.pk), authorisation="again")


class TestCreditedByTwo:
    def test_counts_under_the_limits(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        approve(ask(payment, Action.CREDIT))
        assert of(payment) == ("credited", "over")
        assert (balance(player), to_send_back(player)) == (50_000, 0)
        with pytest.raises(LimitReached):
            a_payment(player, 1_000)
        assert is_whole()
        shown = Figures.read([clock() - timedelta(hours=1), clock() + timedelta(hours=1)])
        assert shown.whole["EUR"].deposits == 50_000  # on the dashboard

    def test_counts_for_the_checks_of_money_laundering(self):
        player = a_verified_player("DE")
        payment = a_payment(player, 100_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        approve(ask(payment, Action.CREDIT))
        withdrawals.request(player=player, amount=90_000, account=an_account(player), key=uuid4())
        sealer.seal()
        detection.find()
        sign = Significant.objects.get(category=Category.LAUNDERING, on=str(player))
        assert f"payment {payment.pk}" in {row["Number"] for row in sign.rows}

    def test_not_above_a_limit_and_not_during_an_exclusion(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        call_back(statement(a_payment(player, 25_000)))
        asked = ask(payment, Action.CREDIT)
        with pytest.raises(approvals.CannotExecute, match="limit"):
            approve(asked)
        exclusions.pause(player=player, by=str(player))
        with pytest.raises(approvals.CannotExecute, match="is excluded or has a pause"):
            approve(asked)
        assert of(payment) == ("held", "over")


class TestAProviderThatNeitherCancelsNorAnswers:
    @pytest.fixture
    def stuck(self, player, monkeypatch):
        monkeypatch.delattr("wallet.payments.sandbox.SandboxBank.cancel")
        monkeypatch.setattr(settings, "PAYMENT_STUCK_SECONDS", 0)
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        assert of(payment) == ("waiting", "")
        return payment

    def test_leaves_room_again_when_two_people_decide_that_nothing_will_come(self, player, stuck):
        finance = Client()
        finance.force_login(a_member_of_staff("finance").user)
        page = reverse("staff_deposit_decide", args=[stuck.pk])
        assert "no money will arrive" in finance.get(reverse("staff_deposit", args=[stuck.pk])).text
        finance.post(page, {"action": "expire", "reason": "the provider closed down"})
        with pytest.raises(LimitReached):
            a_payment(player, 25_000)
        (asked,) = approvals.waiting()
        approve(asked)
        assert of(stuck) == ("expired", "")
        a_payment(player, 25_000)
        (event,) = events("payment.expired", on=str(player))
        assert event["data"]["because"] == f"approval {asked.pk}"
        assert event["by"] != "system"
        assert is_whole()

    def test_has_what_comes_all_the_same_held(self, player, stuck):
        approve(ask(stuck, Action.EXPIRE))
        pay(stuck)
        call_back(statement(stuck))
        assert of(stuck) == ("held", "over")
        assert (balance(player), to_send_back(player)) == (25_000, 25_000)

    def test_is_waited_for_and_one_that_cancels_is_asked_instead(self, player, stuck, monkeypatch):
        monkeypatch.setattr(settings, "PAYMENT_STUCK_SECONDS", 3600)
        with pytest.raises(held_deposits.CannotDecide, match="Wait until"):
            ask(stuck, Action.EXPIRE)
        monkeypatch.setattr(settings, "PAYMENT_STUCK_SECONDS", 0)
        asked = ask(stuck, Action.EXPIRE)
        call_back(statement(stuck))
        assert of(stuck) == ("credited", "")
        with pytest.raises(approvals.CannotExecute, match="has decided"):
            approve(asked)
        with pytest.raises(held_deposits.CannotDecide, match="has decided"):
            ask(stuck, Action.EXPIRE)


class TestThePages:
    @pytest.mark.parametrize("language", ["en", "sv", "da", "ro", "de"])
    def test_the_cashier_says_it_in_the_player_s_language(self, player, language):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        visitor = Client()
        visitor.force_login(player.user)
        said = {
            "en": "that we may not credit to your account",
            "sv": "som vi inte får sätta in",
            "da": "som vi ikke må sætte ind på din konto",
            "ro": "pe care nu avem voie",
            "de": "den wir nicht gutschreiben dürfen",
        }
        assert said[language] in visitor.get(f"/{language}/cashier/").text
        assert visitor.get(f"/{language}/cashier/deposit/{payment.pk}/").status_code == 200

    def test_staff_find_it_and_ask_for_a_second_person(self, player):
        payment = a_payment(player, 25_000)
        notifications.ask_undecided()
        call_back(statement(payment))
        finance = Client()
        finance.force_login(a_member_of_staff("finance").user)
        listed = finance.get(reverse("staff_deposits"), {"doubt": "held"}).text
        assert str(payment.pk)[:8] in listed
        page = reverse("staff_deposit_decide", args=[payment.pk])
        assert "Enter a reason." in finance.post(page, {"action": "credit"}).text
        answer = finance.post(page, {"action": "credit", "reason": "paid a minute late"}, follow=True).text
        assert "A second person must approve" in answer

    def test_staff_read_why_it_is_held_in_words_for_them_and_in_their_language(self, player):
        payment = a_payment(player, 25_000)
        locks.lock(player=player, reason="a stolen card", by=a_member_of_staff("support"))
        pay(payment)
        finance = Client()
        finance.force_login(a_member_of_staff("finance").user)
        finance.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
        listed = finance.get(reverse("staff_deposits"), follow=True).text
        assert str(payment.pk)[:8] in listed  # it opens with the first kind that has any
        page = finance.get(reverse("staff_deposit", args=[payment.pk])).text
        for said in ("Der Kontozugang ist gesperrt.", "Bestätigt", "Zurückgehalten"):
            assert said in page
        for said in ("Ihr Konto", "Confirmed", ">held<"):
            assert said not in page
        asked = {"action": "credit", "reason": "it is theirs"}
        answer = finance.post(reverse("staff_deposit_decide", args=[payment.pk]), asked).text
        assert "Kann jetzt nicht gutgeschrieben werden: Der Kontozugang ist gesperrt." in answer
