"""Deposits in doubt: which are, what staff read of them, and what they can do. Nothing they do credits money."""

from uuid import uuid4

import pytest
from django.db.models import F, Value

from tests.builders import a_player
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back, statement
from wallet.models import BankOrder, Journal, OrderState, Payment
from wallet.payments import doubts
from wallet.payments.asking import ask_about
from wallet.payments.doubts import Doubt

pytestmark = pytest.mark.django_db


@pytest.fixture
def finance():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("finance").user)
    return visitor


def of_another_amount() -> Payment:
    """The provider, asked, insists on more than was asked for."""
    payment = a_payment(a_player())
    at_the_bank(payment)
    BankOrder.objects.update(amount=F("amount") + Value(100))
    return ask_about(payment.pk)


def contradicted() -> Payment:
    """Credited, and then the provider says that it was declined."""
    payment = a_payment(a_player())
    at_the_bank(payment)
    credited = ask_about(payment.pk)
    call_back(statement(credited, OrderState.DECLINED, sequence=9))
    return Payment.objects.get(pk=payment.pk)


def listed(doubt: Doubt, **options: bool) -> list[Payment]:
    return list(doubts.find(doubt, **options).payments)


class TestTheList:
    def test_has_what_waits_long_and_not_what_has_just_begun(self, settings):
        payment = a_payment(a_player())
        assert listed(Doubt.OPEN) == []
        settings.PAYMENT_ASK_SECONDS = 0
        assert listed(Doubt.OPEN) == [payment]

    def test_has_what_a_provider_contradicted_before_it_was_asked(self):
        payment = a_payment(a_player())
        assert call_back(statement(payment, amount=payment.amount + 1)) == 200
        assert listed(Doubt.OPEN) == [payment]

    def test_has_what_ended_with_another_amount(self):
        payment = of_another_amount()
        assert listed(Doubt.AMOUNT) == [payment]
        assert balance(payment.player) == 0

    def test_has_what_was_credited_and_said_otherwise_afterwards(self):
        payment = contradicted()
        ask_about(payment.pk)
        assert payment in listed(Doubt.CONTRADICTED)
        assert balance(payment.player) == payment.amount

    def test_counts_each_kind(self):
        of_another_amount()
        assert [(doubt, count) for doubt, _name, count, _more in doubts.counted()] == [
            (Doubt.OPEN, 0),
            (Doubt.AMOUNT, 1),
            (Doubt.CONTRADICTED, 0),
        ]

    def test_is_walked_through_page_by_page(self, monkeypatch):
        made = [of_another_amount() for _ in range(3)]
        monkeypatch.setattr(doubts, "PAGE", 2)
        first = doubts.find(Doubt.AMOUNT)
        rest = doubts.find(Doubt.AMOUNT, mark=first.further)
        assert [*first.payments, *rest.payments] == made
        assert rest.further is None


class TestANote:
    def test_that_settles_takes_it_off_the_list_until_something_new_is_said(self):
        payment = contradicted()
        ask_about(payment.pk)
        doubts.note(payment.pk, words="their mistake", settles=True, by="staff:1")
        assert listed(Doubt.CONTRADICTED) == []
        assert payment in listed(Doubt.CONTRADICTED, settled_too=True)

    def test_that_settles_nothing_leaves_it_there(self):
        payment = of_another_amount()
        doubts.note(payment.pk, words="asked them", settles=False, by="staff:1")
        assert listed(Doubt.AMOUNT) == [payment]

    def test_moves_no_money(self):
        payment = of_another_amount()
        before = Journal.objects.count()
        doubts.note(payment.pk, words="settled", settles=True, by="staff:1")
        assert Journal.objects.count() == before
        assert Payment.objects.get(pk=payment.pk).state == "error"
        (event,) = events("deposit.noted", on=str(payment.player))
        assert event["data"]["payment"] == str(payment.pk)


class TestThePage:
    def test_lists_deposits_by_the_beginning_of_their_ids(self, finance):
        payment = of_another_amount()
        page = finance.get("/staff/deposits/?doubt=amount").text
        assert f'<a class="link num" href="/staff/deposits/{payment.pk}/">{str(payment.pk)[:8]}…</a>' in page

    def test_tells_step_by_step_what_the_provider_said(self, finance):
        payment = contradicted()
        page = finance.get(f"/staff/deposits/{payment.pk}/").text
        assert page.index("credited</td>") < page.index("contradicted</td>")
        assert "The house asked" in page
        assert "The provider called" in page
        assert f"player:{payment.player_id}" in page

    def test_has_the_provider_asked_now_and_does_what_it_says(self, finance):
        payment = a_payment(a_player())
        at_the_bank(payment)
        page = finance.post(f"/staff/deposits/{payment.pk}/ask/", follow=True).text
        assert "The provider answered. The deposit is credited." in page
        assert balance(payment.player) == payment.amount
        assert events("deposit.asked_about", on=str(payment.player))

    def test_says_that_there_was_no_answer(self, finance, settings):
        payment = a_payment(a_player())
        settings.PAYMENT_VARIANTS = {}
        page = finance.post(f"/staff/deposits/{payment.pk}/ask/", follow=True).text
        assert "gave no answer" in page
        assert balance(payment.player) == 0

    def test_takes_a_note_and_says_beside_the_field_where_it_is_empty(self, finance):
        payment = of_another_amount()
        address = f"/staff/deposits/{payment.pk}/note/"
        assert "Write what you found out" in finance.post(address, {"settles": "on"}).text
        assert "Settled." in finance.post(address, {"words": "wrong <b>amount</b>", "settles": "on"}, follow=True).text
        assert "wrong &lt;b&gt;amount" in finance.get(f"/staff/deposits/{payment.pk}/").text
        assert f"/staff/deposits/{payment.pk}/" not in finance.get("/staff/deposits/?doubt=amount").text
        assert f"/staff/deposits/{payment.pk}/" in finance.get("/staff/deposits/?doubt=amount&settled=on").text

    @pytest.mark.parametrize("way", ["ask", "note"])
    def test_of_no_deposit_is_not_there(self, finance, way):
        assert finance.post(f"/staff/deposits/{uuid4()}/{way}/", {"words": "x"}).status_code == 404

    def test_lets_compliance_read_and_do_nothing(self):
        payment = of_another_amount()
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("compliance").user)
        page = visitor.get(f"/staff/deposits/{payment.pk}/").text
        assert "Ask the provider now" not in page
        assert visitor.post(f"/staff/deposits/{payment.pk}/ask/").status_code == 403

    def test_offers_no_way_to_credit(self, finance):
        payment = of_another_amount()
        page = finance.get(f"/staff/deposits/{payment.pk}/").text
        deeds = {part.split('"')[0] for part in page.split("<form")[1:] for part in part.split('action="')[1:2]}
        assert deeds >= {f"/staff/deposits/{payment.pk}/ask/", f"/staff/deposits/{payment.pk}/note/"}
        assert {deed for deed in deeds if "deposit" in deed} == {
            f"/staff/deposits/{payment.pk}/ask/",
            f"/staff/deposits/{payment.pk}/note/",
        }
