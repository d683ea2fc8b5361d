"""Messages of a bank: money is credited once, and exactly as requested."""

import hashlib
import json
from itertools import permutations

import pytest
from django.db import connection
from django.utils import translation
from payments import PaymentStatus

from games.errors import BalanceTooLow
from tests.builders import a_player, a_round, a_table
from tests.harness.sweeps import sample
from tests.people import a_visitor, events, last_mail
from tests.wallet import wholeness
from tests.wallet.at_the_bank import CALLBACK, a_payment, at_the_bank, balance, call_back, deliver_owed, statement
from wallet.models import Behaviour, Entry, Journal, NoticePath, OrderState, Payment, PaymentNotice, PaymentState
from wallet.payments import notifications
from wallet.payments.notifications import Decision, Known, decide
from wallet.payments.providers import StatusReport
from wallet.sandbox_bank.orders import HEADER, SECONDS_GOOD, Answer, BadNotice, check, sign

pytestmark = pytest.mark.django_db

APPROVED, DECLINED, CANCELLED, OPEN = (
    OrderState.APPROVED,
    OrderState.DECLINED,
    OrderState.CANCELLED,
    OrderState.OPEN,
)


@pytest.fixture
def player():
    return a_player()


@pytest.fixture
def payment(player):
    return a_payment(player)


def state_of(payment: Payment) -> str:
    return Payment.objects.get(pk=payment.pk).state


def decisions(payment: Payment) -> list[str]:
    return list(payment.notices.order_by("id").values_list("decision", flat=True))


def whole() -> bool:
    return not [check.invariant.name for check in wholeness.checks() if check.rows]


class TestAnApproval:
    def test_gli19_2_5_6_credits_the_money_with_its_authorisation_number(self, player, payment):
        assert balance(player) == 0
        assert call_back(statement(payment)) == 200
        assert balance(player) == 50_000
        credited = Payment.objects.get(pk=payment.pk)
        assert (credited.state, credited.authorisation) == ("credited", "SB0123456789")
        lines = Entry.objects.filter(journal=credited.journal).values_list("account__kind", "amount", "mode")
        assert set(lines) == {("cashier", -50_000, "R"), ("cash", 50_000, "R")}
        assert whole()

    def test_gli19_2_5_6_nothing_can_be_played_with_before(self, player, payment):
        at_the_bank(payment)
        assert balance(player) == 0
        assert Journal.objects.filter(kind="deposit").count() == 0
        table = a_table()
        with pytest.raises(BalanceTooLow):
            a_round(player, table, player=1000)
        call_back(statement(payment))
        assert a_round(player, table, player=1000)

    def test_gli19_2_8_5_is_on_record_with_authorisation_and_balances(self, player, payment):
        call_back(statement(payment))
        (event,) = events("deposit.posted", on=str(player))
        assert event["data"] == {
            "payment": str(payment.pk),
            "provider": "sandbox",
            "amount": 50_000,
            "currency": "SEK",
            "authorisation": "SB0123456789",
            "journal": Payment.objects.get(pk=payment.pk).journal_id,
            "mode": "R",
            "balance_before": 0,
            "balance_after": 50_000,
            "method": "sandbox",
        }

    def test_gli19_2_5_6_a_deposit_is_mailed(self, player, payment):
        call_back(statement(payment))
        body = last_mail(player.user.email, "deposit_credited").body
        assert "SB0123456789" in body
        assert "500.00" in body

    def test_the_notice_is_kept_with_its_hash(self, payment):
        said = statement(payment)
        call_back(said)
        notice = PaymentNotice.objects.get(payment=payment)
        assert bytes(notice.raw_hash) == hashlib.sha256(json.dumps(said).encode()).digest()
        assert (notice.is_authentic, notice.word, notice.sequence) == (True, "confirmed", 2)
        assert (notice.path, notice.decision) == ("callback", "credited")


class TestTwice:
    @pytest.mark.parametrize("times", [2, 5])
    def test_credits_once(self, player, payment, times):
        for _ in range(times):
            assert call_back(statement(payment)) == 200
        assert balance(player) == 50_000
        assert decisions(payment) == ["credited"] + ["repeated"] * (times - 1)
        assert len(events("deposit.posted", on=str(player))) == 1

    def test_as_the_sandbox_bank_does_it(self, player, payment):
        at_the_bank(payment, behaviour=Behaviour.TWICE)
        deliver_owed(payment.pk)
        assert balance(player) == 50_000
        assert decisions(payment) == ["credited", "repeated"]


class TestOutOfOrder:
    def test_what_was_received_earlier_changes_nothing_afterwards(self, player, payment):
        at_the_bank(payment, behaviour=Behaviour.SHUFFLED)
        deliver_owed(payment.pk)
        assert state_of(payment) == PaymentState.CREDITED
        assert decisions(payment) == ["credited", "outdated"]
        assert balance(player) == 50_000

    @pytest.mark.sweep
    @pytest.mark.parametrize("order", sample([list(each) for each in permutations((1, 2, 3))], 2), ids=str)
    def test_a_first_refusal_and_a_later_approval_end_as_the_bank_has_it_in_any_order(self, player, payment, order):
        at_the_bank(payment)  # the bank's answer to a query: approved
        said = {
            1: statement(payment, OPEN, sequence=1),
            2: statement(payment, DECLINED, sequence=2),
            3: statement(payment, APPROVED, sequence=3),
        }
        for number in order:
            call_back(said[number])
        notifications.ask_undecided()
        # Money of a payment that was over when it arrived is held.
        is_over = order.index(2) < order.index(3)
        assert state_of(payment) == (PaymentState.HELD if is_over else PaymentState.CREDITED)
        assert balance(player) == (0 if is_over else 50_000)
        assert whole()


class TestWhatDoesNotFit:
    @pytest.mark.parametrize(
        "changes", [{"amount": 60_000}, {"amount": 50_001}, {"amount": -50_000}, {"currency": "EUR"}], ids=str
    )
    def test_another_amount_or_currency_credits_nothing(self, player, payment, changes):
        call_back(statement(payment, **changes))
        assert balance(player) == 0
        assert state_of(payment) == PaymentState.WAITING
        assert decisions(payment) == ["mismatched"]
        (event,) = events("payment.mismatched", on=str(player))
        assert event["data"]["amount"] == 50_000

    def test_then_the_bank_is_asked_and_what_fits_is_credited(self, player, payment):
        at_the_bank(payment)
        call_back(statement(payment, amount=60_000))
        notifications.ask_undecided()
        assert balance(player) == 50_000
        assert decisions(payment) == ["mismatched", "credited"]

    def test_a_bank_that_insists_on_another_amount_is_for_people(self, player, payment):
        at_the_bank(payment)
        call_back(statement(payment, amount=60_000))
        with connection.cursor() as cursor:
            cursor.execute("UPDATE wallet_bank_order SET amount = 60000 WHERE reference = %s", [payment.pk])
        notifications.ask_undecided()
        assert balance(player) == 0
        assert state_of(payment) == PaymentState.ERROR

    def test_a_wrong_signature_is_not_believed(self, player, payment):
        assert call_back(statement(payment), key="not the bank's key") == 400
        assert balance(player) == 0
        assert PaymentNotice.objects.get().decision == Decision.REFUSED
        assert not PaymentNotice.objects.get().is_authentic

    @pytest.mark.parametrize(
        "header", sample(["", "t=1,v1=", "t=x,v1=0", "t=٣,v1=0", "nonsense", "v1=0,t=", "t=1,v1=é"], 1), ids=repr
    )
    def test_neither_is_a_garbled_one(self, player, payment, header):
        answer = a_visitor().post(
            CALLBACK, json.dumps(statement(payment)), content_type="application/json", headers={HEADER: header}
        )
        assert answer.status_code == 400
        assert balance(player) == 0

    @pytest.mark.parametrize("age", [SECONDS_GOOD + 1, 3600, -3600], ids=str)  # it ages on its way
    def test_an_old_message_played_again_is_not_believed(self, player, payment, age):
        assert call_back(statement(payment), age=age) == 400
        assert balance(player) == 0

    @pytest.mark.parametrize("way", [1, -1], ids=["old", "of the future"])
    def test_a_message_is_of_now_for_five_minutes_and_not_a_second_longer(self, way):
        now, body = 1_800_000_000, b"{}"
        check(body, sign(body, "key", at=now - way * 300), "key", now=now)
        with pytest.raises(BadNotice, match="not of now"):
            check(body, sign(body, "key", at=now - way * 301), "key", now=now)

    def test_a_message_without_a_field_is_not_believed(self, player, payment):
        said = statement(payment)
        del said["amount"]
        assert call_back(said) == 400
        assert call_back(statement(payment, amount=None)) == 400
        assert balance(player) == 0

    def test_an_unknown_payment_is_not_found(self, player, payment):
        assert call_back(statement(payment, reference="00000000-0000-4000-8000-000000000000")) == 404
        assert PaymentNotice.objects.get().decision == Decision.UNKNOWN
        assert balance(player) == 0

    def test_an_unknown_provider_is_not_found(self):
        assert a_visitor().post("/pay/callback/nobody/", b"{}", content_type="application/json").status_code == 404

    def test_one_payment_s_message_does_not_count_for_another(self, player, payment):
        other = a_payment(player)
        body = json.dumps(statement(other)).encode()
        assert call_back(statement(other)) == 200
        answer = a_visitor().post(f"/pay/return/{payment.token}/", body, content_type="application/json")
        assert answer.status_code == 400
        assert state_of(payment) == PaymentState.WAITING


class TestRefusals:
    def test_a_declined_payment_moves_nothing_and_is_mailed(self, player, payment):
        call_back(statement(payment, DECLINED))
        assert state_of(payment) == PaymentState.DECLINED
        assert balance(player) == 0
        assert "declined" in last_mail(player.user.email, "deposit_declined").subject
        assert len(events("payment.declined", on=str(player))) == 1

    def test_an_abandoned_one_neither(self, player, payment):
        call_back(statement(payment, CANCELLED))
        assert state_of(payment) == PaymentState.ABANDONED
        assert balance(player) == 0

    def test_a_player_who_returns_from_the_bank_brings_no_message(self, player, payment):
        answer = a_visitor().get(f"/pay/return/{payment.token}/?state=approved&authorisation=1")
        assert (answer.status_code, answer["Location"]) == (302, f"/en/cashier/deposit/{payment.pk}/")
        assert balance(player) == 0


class TestContradictions:
    def test_an_approval_after_a_refusal_is_held_when_the_bank_confirms_it(self, player, payment):
        at_the_bank(payment, Answer.APPROVE)
        call_back(statement(payment, DECLINED, sequence=1))
        call_back(statement(payment, APPROVED, sequence=2))
        assert balance(player) == 0
        assert len(events("payment.contradicted", on=str(player))) == 1
        notifications.ask_undecided()
        assert (state_of(payment), balance(player)) == (PaymentState.HELD, 0)
        assert decisions(payment) == ["declined", "contradicted", "held"]

    def test_and_not_when_the_bank_denies_it(self, player, payment):
        at_the_bank(payment, Answer.DECLINE)
        call_back(statement(payment, DECLINED, sequence=1))
        call_back(statement(payment, APPROVED, sequence=2))
        notifications.ask_undecided()
        assert balance(player) == 0
        assert state_of(payment) == PaymentState.DECLINED

    def test_a_refusal_after_an_approval_takes_nothing_back_by_itself(self, player, payment):
        at_the_bank(payment, Answer.DECLINE)
        call_back(statement(payment, APPROVED, sequence=2))
        call_back(statement(payment, DECLINED, sequence=3))
        notifications.ask_undecided()
        assert balance(player) == 50_000
        assert decisions(payment) == ["credited", "contradicted", "contradicted"]
        assert not Payment.objects.get(pk=payment.pk).is_disputed
        first, second = events("payment.contradicted", on=str(player))
        assert (first["data"]["path"], second["data"]["path"]) == ("callback", "query")

    def test_a_second_authorisation_number_is_reviewed(self, player, payment):
        call_back(statement(payment))
        call_back(statement(payment, authorisation="SB9999999999"))
        assert balance(player) == 50_000
        assert decisions(payment) == ["credited", "contradicted"]


WAITING = Known("waiting", 100, "SEK", 0, "")
TABLE = [
    (WAITING, PaymentStatus.CONFIRMED, 1, NoticePath.CALLBACK, Decision.CREDITED),
    (WAITING, PaymentStatus.PREAUTH, 1, NoticePath.CALLBACK, Decision.NOTED),
    (WAITING, PaymentStatus.WAITING, 1, NoticePath.QUERY, Decision.NOTED),
    (WAITING, PaymentStatus.INPUT, 1, NoticePath.RETURN, Decision.NOTED),
    (WAITING, PaymentStatus.REJECTED, 1, NoticePath.CALLBACK, Decision.DECLINED),
    (WAITING, PaymentStatus.ERROR, 1, NoticePath.CALLBACK, Decision.DECLINED),
    (WAITING, PaymentStatus.CANCELLED, 1, NoticePath.CALLBACK, Decision.ABANDONED),
    (Known("expired", 100, "SEK", 0, ""), PaymentStatus.CONFIRMED, 0, NoticePath.CALLBACK, Decision.LATE),
    (Known("error", 100, "SEK", 0, ""), PaymentStatus.CONFIRMED, 0, NoticePath.CALLBACK, Decision.LATE),
    (Known("expired", 100, "SEK", 0, ""), PaymentStatus.REJECTED, 0, NoticePath.CALLBACK, Decision.DECLINED),
    (Known("declined", 100, "SEK", 0, ""), PaymentStatus.CONFIRMED, 0, NoticePath.CALLBACK, Decision.CONTRADICTED),
    (Known("declined", 100, "SEK", 0, ""), PaymentStatus.CONFIRMED, 0, NoticePath.QUERY, Decision.LATE),
    (Known("abandoned", 100, "SEK", 0, ""), PaymentStatus.CONFIRMED, 0, NoticePath.RETURN, Decision.CONTRADICTED),
    (Known("declined", 100, "SEK", 0, ""), PaymentStatus.CANCELLED, 0, NoticePath.QUERY, Decision.ABANDONED),
    (Known("declined", 100, "SEK", 3, ""), PaymentStatus.CONFIRMED, 2, NoticePath.CALLBACK, Decision.OUTDATED),
    (Known("declined", 100, "SEK", 3, ""), PaymentStatus.CONFIRMED, 2, NoticePath.QUERY, Decision.LATE),
    (Known("credited", 100, "SEK", 3, "A"), PaymentStatus.CONFIRMED, 3, NoticePath.CALLBACK, Decision.REPEATED),
    (Known("credited", 100, "SEK", 3, "B"), PaymentStatus.CONFIRMED, 3, NoticePath.CALLBACK, Decision.CONTRADICTED),
    (Known("credited", 100, "SEK", 3, "A"), PaymentStatus.REJECTED, 4, NoticePath.QUERY, Decision.CONTRADICTED),
    (Known("credited", 100, "SEK", 3, "A"), PaymentStatus.REFUNDED, 4, NoticePath.QUERY, Decision.CONTRADICTED),
    (Known("held", 100, "SEK", 3, "A"), PaymentStatus.CONFIRMED, 3, NoticePath.CALLBACK, Decision.REPEATED),
    (Known("held", 100, "SEK", 3, "A"), PaymentStatus.REFUNDED, 4, NoticePath.CALLBACK, Decision.RETURNED),
    (Known("held", 100, "SEK", 3, "A"), PaymentStatus.REJECTED, 4, NoticePath.QUERY, Decision.CONTRADICTED),
    (Known("returned", 100, "SEK", 4, "A"), PaymentStatus.REFUNDED, 4, NoticePath.CALLBACK, Decision.REPEATED),
    (Known("declined", 100, "SEK", 3, ""), PaymentStatus.REJECTED, 3, NoticePath.CALLBACK, Decision.REPEATED),
    (Known("waiting", 101, "SEK", 0, ""), PaymentStatus.CONFIRMED, 1, NoticePath.QUERY, Decision.MISMATCHED),
    (Known("waiting", 100, "DKK", 0, ""), PaymentStatus.CONFIRMED, 1, NoticePath.QUERY, Decision.MISMATCHED),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("known", "word", "sequence", "path", "decision"), TABLE)
def test_the_meaning_of_each_message(known, word, sequence, path, decision):
    assert decide(known, StatusReport(word, 100, "SEK", "A", sequence), path) is decision


@pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
def test_mails_are_in_the_player_s_language(player, payment, language):
    player.user.language = language
    player.user.save()
    with translation.override("en"):
        call_back(statement(payment))
    assert last_mail(player.user.email, "deposit_credited").language == language
