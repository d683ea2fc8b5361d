"""Payouts at the sandbox bank: requested once, decided by the bank, reported by unreliable
messages.

Messages may be late, repeated, out of order or lost.
"""

import json

import pytest
from django.db.models.functions import Now
from django.urls import reverse

from audit.models import Personal
from players.models import Duplicate, Ground, Submission
from tests.builders import a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_visitor, events
from tests.wallet import wholeness
from tests.wallet.payout_builders import IBAN, MONEY, a_withdrawal, approve
from wallet import payouts
from wallet.ledger import accounts
from wallet.models import BankPayout, BankPayoutNotice, Mode, PayoutNotice, Withdrawal, WithdrawalStatus
from wallet.payouts import Order, PayoutFailed
from wallet.payouts import accounts as payout_accounts
from wallet.sandbox_bank import payouts as bank
from wallet.sandbox_bank.orders import HEADER, seconds_now, sign
from wallet.tasks import send_payouts

pytestmark = pytest.mark.django_db


def approved(iban=IBAN):
    player = a_verified_player(real=MONEY)
    return player, approve(a_withdrawal(player, iban=iban))


def the_bank_decides():
    """Make every order due without sending messages; the bank's messages wait in its table."""
    BankPayout.objects.update(due_at=Now())
    while bank._decide_next():
        pass


def post(body, *, signature=None, settings=None):
    return a_visitor().post(
        reverse("payout_callback"),
        body,
        content_type="application/json",
        headers={HEADER: signature or sign(body.encode(), settings.SANDBOX_BANK_KEY, at=seconds_now())},
    )


def notices():
    return list(BankPayoutNotice.objects.order_by("due_at", "pk").values_list("body", flat=True))


def status(withdrawal):
    return Withdrawal.objects.get(pk=withdrawal.pk).status


def test_an_approved_withdrawal_is_sent_once_with_all_the_bank_needs():
    player, withdrawal = approved()
    send_payouts()
    send_payouts()
    order = BankPayout.objects.get(pk=withdrawal.reference)
    assert (order.iban, order.amount, order.currency) == (IBAN, 50_000, "SEK")
    assert status(withdrawal) == WithdrawalStatus.SENDING
    who = Submission.objects.get(player=player)
    assert payouts._order(withdrawal).holder == f"{who.given_names} {who.family_name}"


def test_the_iban_is_stored_encrypted_and_known_again():
    player = a_verified_player(real=MONEY)
    kept = payout_accounts.keep(player=player, iban=IBAN)
    assert IBAN.encode() not in bytes(kept.sealed) + bytes(kept.fingerprint)
    assert payout_accounts.reveal(kept) == IBAN
    assert payout_accounts.keep(player=player, iban=IBAN) == kept
    assert str(kept) == "SE\u00a0…\u00a07466"
    assert not Personal.objects.filter(value__contains=IBAN).exists(), "nor next to the event log"


@pytest.mark.sweep
def test_two_players_who_are_paid_to_one_account_are_flagged():
    for _ in range(2):
        payout_accounts.keep(player=a_verified_player(), iban=IBAN)
    assert Duplicate.objects.get(ground=Ground.PAYOUT)


@pytest.mark.parametrize(
    ("iban", "message"),
    [
        ("SE45 5000 0000 0583 9825 7467", "not a valid IBAN"),
        ("nonsense", "not a valid IBAN"),
        ("", "not a valid IBAN"),
        ("SA0380000000608010167519", "Single Euro Payments Area"),
    ],
    ids=["check digit", "nonsense", "empty", "far away"],
)
def test_what_is_no_account_to_pay_to_is_refused(iban, message):
    with pytest.raises(payout_accounts.IbanError, match=message):
        payout_accounts.read_iban(iban, "SE")


@pytest.mark.parametrize("jurisdiction", payout_accounts.EXAMPLES)
def test_the_example_is_of_the_player_s_own_country(jurisdiction):
    with pytest.raises(payout_accounts.IbanError) as refused:
        payout_accounts.read_iban("nonsense", jurisdiction)
    example = payout_accounts.EXAMPLES[jurisdiction]
    assert example.replace(" ", "\u00a0") in str(refused.value)
    assert payout_accounts.read_iban(example, jurisdiction).startswith(jurisdiction)


@pytest.mark.parametrize(
    "iban", ["se45 5000 0000 0583 9825 7466", "DE89370400440532013000", "RO49AAAA1B31007593840000"]
)
def test_an_iban_is_read_however_it_is_spaced(iban):
    assert payout_accounts.read_iban(iban, "DE") == iban.replace(" ", "").upper()


@pytest.mark.parametrize(
    ("iban", "after", "cash"),
    sample(
        [
            (IBAN, "paid", 50_000),
            (bank.CLOSED, "returned", MONEY),
            (bank.TWICE, "paid", 50_000),
            (bank.SHUFFLED, "paid", 50_000),
            (bank.LATE, "paid", 50_000),
        ],
        1,
    ),
    ids=["paid", "closed account", "told twice", "told out of order", "told late"],
)
def test_the_banks_messages_decide_it_once(settings, iban, after, cash):
    player, withdrawal = approved(iban)
    send_payouts()
    the_bank_decides()
    for body in notices():
        assert post(body, settings=settings).status_code == 200
    assert (status(withdrawal), accounts.balance(player.pk, Mode.REAL)) == (after, cash)
    assert not any(check.rows for check in wholeness.checks())


@pytest.mark.sweep
def test_a_bank_that_says_nothing_is_asked():
    player, withdrawal = approved(bank.SILENT)
    send_payouts()
    the_bank_decides()
    assert notices() == []
    send_payouts()
    assert status(withdrawal) == WithdrawalStatus.PAID
    assert PayoutNotice.objects.get(withdrawal=withdrawal).path == "query"
    assert accounts.balance(player.pk, Mode.REAL) == 50_000


def test_a_message_that_nobody_signed_moves_nothing(settings):
    _, withdrawal = approved()
    send_payouts()
    the_bank_decides()
    before = len(events("payout.notice_refused"))  # those of other tests are committed
    for body in notices():
        assert post(body, signature="t=1,v1=00").status_code == 400
        forged = json.dumps(json.loads(body) | {"amount": 1})
        genuine = sign(body.encode(), settings.SANDBOX_BANK_KEY, at=seconds_now())
        assert post(forged, signature=genuine).status_code == 400
    assert status(withdrawal) == WithdrawalStatus.SENDING
    assert len(events("payout.notice_refused")) - before == 2 * len(notices())


@pytest.mark.parametrize(
    ("changes", "outcome"),
    sample(
        [
            ({"amount": 49_999}, "another amount or currency"),
            ({"amount": -50_000}, "another amount or currency"),
            ({"currency": "EUR"}, "another amount or currency"),
            ({"reference": "00000000-0000-4000-8000-000000000000"}, "unknown reference"),
        ],
        1,
    ),
    ids=["smaller amount", "negative amount", "currency", "unknown reference"],
)
def test_a_signed_message_about_other_money_moves_nothing_and_is_on_record(settings, changes, outcome):
    player, withdrawal = approved()
    send_payouts()
    the_bank_decides()
    answer = post(json.dumps(json.loads(notices()[-1]) | changes), settings=settings)
    assert (answer.status_code, answer.json()["outcome"]) == (200, outcome)
    assert (status(withdrawal), accounts.balance(player.pk, Mode.REAL)) == (WithdrawalStatus.SENDING, 50_000)
    (event,) = events("payout.notice_refused", by="bank:sandbox")
    assert event["data"]["outcome"] == outcome
    assert not any(check.rows for check in wholeness.checks())


@pytest.mark.sweep
@pytest.mark.parametrize("body", ["", "{}", "[]", "null", '{"reference": 7}'])
def test_a_signed_message_without_sense_is_refused(settings, body):
    assert post(body, settings=settings).status_code == 400


class Unreachable:
    """A bank with a broken connection, which may or may not have received the order."""

    name = "unreachable"

    def send(self, order: Order) -> None:
        raise PayoutFailed("the wire is cut")

    def ask(self, reference):
        return None


class DeafAfterwards(bank.SandboxPayouts):
    """A bank that takes the order, and whose answer is lost."""

    def send(self, order: Order) -> None:
        super().send(order)
        raise PayoutFailed("the answer is lost")


class Stumbling(bank.SandboxPayouts):
    """A bank whose library raises an unexpected error at the first order."""

    def send(self, order: Order) -> None:
        if order.reference == Withdrawal.objects.earliest("pk").reference:
            raise KeyError("no such field")
        super().send(order)


@pytest.mark.sweep
def test_one_payout_that_breaks_keeps_no_other_waiting(settings):
    settings.PAYOUT_PROVIDER = f"{__name__}.{Stumbling.__name__}"
    _, broken = approved()
    _, whole = approved(bank.LATE)
    send_payouts()
    assert BankPayout.objects.get().pk == whole.reference
    assert status(broken) == WithdrawalStatus.SENDING


@pytest.mark.parametrize("first", sample([Unreachable, DeafAfterwards], 1), ids=["order lost", "answer lost"])
def test_what_is_lost_on_the_way_is_sent_again_and_paid_once(settings, first):
    settings.PAYOUT_PROVIDER = f"{__name__}.{first.__name__}"
    player, withdrawal = approved()
    send_payouts()
    assert status(withdrawal) == WithdrawalStatus.SENDING
    settings.PAYOUT_PROVIDER = "wallet.sandbox_bank.payouts.SandboxPayouts"
    send_payouts()
    the_bank_decides()
    send_payouts()
    send_payouts()
    assert status(withdrawal) == WithdrawalStatus.PAID
    assert BankPayout.objects.count() == 1
    assert accounts.balance(player.pk, Mode.REAL) == 50_000


@pytest.mark.sweep
def test_without_a_bank_approved_withdrawals_wait(settings):
    settings.PAYOUT_PROVIDER = ""
    _, withdrawal = approved()
    send_payouts()
    assert status(withdrawal) == WithdrawalStatus.APPROVED
