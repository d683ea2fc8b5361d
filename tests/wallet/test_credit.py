"""No deposits by credit where the jurisdiction forbids it; and none of money that is known to be borrowed."""

import pytest
from django.conf import settings
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import translation

from audit import approvals, log
from players.models import BorrowedMoney, Player
from players.protection import borrowed_money, eligibility
from tests.builders import a_player
from tests.people import a_member_of_staff, events
from tests.wallet import wholeness
from tests.wallet.at_the_bank import a_payment, balance, call_back, statement
from wallet.models import Payment
from wallet.payments import deposits, held_deposits, notifications
from wallet.payments.held_deposits import Action
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank.orders import seal

pytestmark = pytest.mark.django_db

FORBIDDEN, ALLOWED = ["SE", "GB"], ["DK", "RO", "DE"]


def pay(payment: Payment, funding: str, language: str = "en") -> str:
    """Approve the payment at the bank with a card of this kind, and return the page of the deposit."""
    visitor = Client()
    visitor.force_login(payment.player.user)
    page = f"/en/sandbox-bank/{seal(request_for(payment), settings.SANDBOX_BANK_KEY)}/"
    visitor.post(page, {"answer": "approve", "behaviour": "never", "funding": funding})
    notifications.ask_about(payment.pk)
    payment.refresh_from_db()
    return visitor.get(f"/{language}/cashier/deposit/{payment.pk}/").text


@pytest.mark.parametrize("jurisdiction", FORBIDDEN)
def test_a_credit_card_is_declined_with_a_sentence_that_helps(jurisdiction):
    payment = a_payment(a_player(jurisdiction))
    assert "Pay with a debit card or from a bank account." in pay(payment, "credit")
    assert (payment.state, payment.decline_reason, balance(payment.player)) == ("declined", "credit", 0)


@pytest.mark.parametrize("funding", ["debit", "prepaid", ""])
def test_any_other_card_pays(funding):
    payment = a_payment(a_player("SE"))
    pay(payment, funding)
    assert (payment.state, payment.funding, balance(payment.player)) == ("credited", funding, 50_000)


@pytest.mark.parametrize("jurisdiction", ALLOWED)
def test_credit_is_credited_where_nothing_forbids_it(jurisdiction):
    payment = a_payment(a_player(jurisdiction))
    pay(payment, "credit")
    assert (payment.state, payment.funding) == ("credited", "credit")


def test_a_provider_that_pays_by_credit_is_not_offered(monkeypatch):
    player, other = a_player("SE"), a_player("DK")
    monkeypatch.setattr(settings, "PAYMENT_CREDIT_VARIANTS", ["sandbox"])
    with translation.override("sv"), pytest.raises(deposits.NoDeposits, match="inte tillåtna i ditt land"):
        a_payment(player)
    assert a_payment(other).state == "waiting"
    more = {"invoice": settings.PAYMENT_VARIANTS["sandbox"]} | settings.PAYMENT_VARIANTS
    monkeypatch.setattr(settings, "PAYMENT_VARIANTS", more)
    monkeypatch.setattr(settings, "PAYMENT_CREDIT_VARIANTS", ["invoice"])
    assert [a_payment(each).variant for each in (player, other)] == ["sandbox", "invoice"]


def test_money_that_arrives_by_credit_all_the_same_is_held_and_sent_back():
    payment = a_payment(a_player("SE"))
    call_back(statement(payment, funding="credit"))
    payment.refresh_from_db()
    assert (payment.state, payment.held_because, balance(payment.player)) == ("held", "credit", 0)
    assert events("deposit.held", on=str(payment.player))[0]["data"]["because"] == "credit"
    first, second = a_member_of_staff("finance"), a_member_of_staff("compliance")
    with pytest.raises(held_deposits.CannotDecide, match="paid on credit"):
        held_deposits.ask(payment.pk, action=Action.CREDIT, reference="", reason="he is rich", by=first)
    request: dict[str, log.Json] = {
        "payment": str(payment.pk),
        "player": payment.player_id,
        "amount": payment.amount,
        "currency": payment.currency,
        "action": Action.CREDIT.value,
        "reference": "",
    }
    asked = approvals.ask(
        kind=held_deposits.KIND, on=str(payment), request=request, by=str(first), person=first.person, reason="rich"
    )
    with pytest.raises(approvals.CannotExecute, match="paid on credit"):
        approvals.decide(
            approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="", may=second.user.has_perm
        )
    assert wholeness.broken() == {}


def block(player: Player) -> None:
    borrowed_money.block_deposits(player=player, reason="a friend told us", by=a_member_of_staff("support"))


def remove(player: Player) -> None:
    first, second = a_member_of_staff("support"), a_member_of_staff("compliance")
    asked = borrowed_money.ask_removal(player=player, reason="a payslip", by=first)
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=second.user.has_perm
    )


@pytest.mark.parametrize(
    ("jurisdiction", "language", "said", "help_at"),
    [
        ("SE", "sv", "lånade pengar", "stodlinjen.se"),
        ("GB", "en", "borrowed money", "gamcare.org.uk"),
        ("DE", "de", "geliehenes Geld", "check-dein-spiel.de"),
        ("DK", "da", "lånte penge", "stopspillet.dk"),
        ("RO", "ro", "bani împrumutați", "jocresponsabil.ro"),
    ],
)
def test_a_player_known_to_borrow_cannot_deposit_and_reads_where_to_ask(jurisdiction, language, said, help_at):
    player = a_player(jurisdiction)
    block(player)
    with pytest.raises(deposits.DepositNotEligible):
        a_payment(player)
    visitor = Client()
    visitor.force_login(player.user)
    page = visitor.get(f"/{language}/cashier/").text
    assert said in page
    assert help_at in page
    assert f'href="/{language}/service/"' in page
    assert eligibility.check_play(player, real=True) is None


def test_borrowed_money_that_arrives_all_the_same_is_held():
    payment = a_payment(a_player("SE"))
    block(payment.player)
    call_back(statement(payment))
    payment.refresh_from_db()
    assert (payment.state, payment.held_because) == ("held", "borrowed")


def test_the_block_is_removed_by_two_people_and_not_by_one():
    player = a_player("SE")
    block(player)
    with pytest.raises(borrowed_money.BorrowedMoneyError):
        block(player)
    staff = a_member_of_staff("compliance")
    with pytest.raises(DatabaseError, match="alone"), transaction.atomic():
        BorrowedMoney.objects.create(player=player, is_marked=False, reason="mine", by=staff)
    with pytest.raises(DatabaseError, match="alone"), transaction.atomic():
        BorrowedMoney.objects.create(
            player=a_player("SE"), is_marked=True, reason="not mine", by=a_member_of_staff("finance")
        )
    remove(player)
    assert a_payment(player).state == "waiting"
    assert [len(events(kind, on=str(player))) for kind in ("borrowed.marked", "borrowed.removed")] == [1, 1]


def test_staff_block_deposits_and_ask_for_the_removal_on_one_page():
    player, support = a_player("SE"), Client()
    support.force_login(a_member_of_staff("support").user)
    page = reverse("staff_player_borrowed", args=[player.pk])
    assert "can no longer deposit" in support.post(page, {"reason": "a friend told us"}, follow=True).text
    assert "a friend told us" in support.get(page).text
    again = support.post(page, {"reason": "a friend told us"}, follow=True).text
    assert "This has been done already." in again  # and no removal is requested by the second press
    assert not approvals.waiting().exists()
    removal = {"reason": "a payslip", "removes": "True"}
    assert 'name="removes" value="True"' in support.get(page).text
    assert "A second person must approve it." in support.post(page, removal, follow=True).text
