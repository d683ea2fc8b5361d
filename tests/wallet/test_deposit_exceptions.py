"""Doubtful deposits: which they are, what staff see and can do.

No action of staff credits money.
"""

import hashlib
from uuid import uuid4

import pytest
from django.db.models import F, Value

from backoffice.money import deposits
from backoffice.money.deposits import Doubt
from tests.builders import a_player
from tests.people import a_member_of_staff, a_visitor, events
from tests.staff_lists import asked_for
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back, statement
from wallet.models import BankOrder, Journal, OrderState, Payment
from wallet.payments.notifications import ask_about, ask_undecided

pytestmark = pytest.mark.django_db
BOX = "Mark as settled"


@pytest.fixture
def finance():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("finance").user)
    return visitor


def of_another_amount() -> Payment:
    """The provider insists on a larger amount than requested."""
    payment = a_payment(a_player())
    at_the_bank(payment)
    BankOrder.objects.update(amount=F("amount") + Value(100))
    return ask_about(payment.pk)


def contradicted() -> Payment:
    """Return a credited deposit that the provider then declines."""
    payment = a_payment(a_player())
    at_the_bank(payment)
    credited = ask_about(payment.pk)
    call_back(statement(credited, OrderState.DECLINED, sequence=9))
    return Payment.objects.get(pk=payment.pk)


def listed(doubt: Doubt, **options: str) -> list[Payment]:
    return list(asked_for(deposits.Exceptions, doubt=str(doubt), **options).shown)


class TestTheList:
    def test_has_what_waits_long_and_not_what_has_just_begun(self, settings):
        payment = a_payment(a_player())
        assert listed(Doubt.OPEN) == []
        # A player may be at the bank for minutes: the house asks the provider, and nobody has to do anything.
        settings.PAYMENT_ASK_SECONDS = 0
        assert listed(Doubt.OPEN) == []
        settings.PAYMENT_GIVE_UP_SECONDS = 0
        assert listed(Doubt.OPEN) == [payment]

    def test_has_what_a_provider_contradicted_before_it_was_asked(self):
        payment = a_payment(a_player())
        assert call_back(statement(payment, amount=payment.amount + 1)) == 200
        assert listed(Doubt.OPEN) == [payment]

    def test_has_what_ended_with_another_amount(self):
        payment = of_another_amount()
        assert listed(Doubt.AMOUNT) == [payment]
        assert balance(payment.player) == 0

    @pytest.mark.sweep
    def test_has_what_was_credited_and_said_otherwise_afterwards(self):
        payment = contradicted()
        ask_about(payment.pk)
        assert payment in listed(Doubt.CONTRADICTED)
        assert balance(payment.player) == payment.amount

    @pytest.mark.sweep
    def test_counts_each_kind(self):
        of_another_amount()
        assert [(doubt, count) for doubt, _name, count, _more in deposits.counted()] == [
            (Doubt.OPEN, 0),
            (Doubt.AMOUNT, 1),
            (Doubt.HELD, 0),
            (Doubt.CONTRADICTED, 0),
        ]

    @pytest.mark.sweep
    def test_is_walked_through_page_by_page(self, monkeypatch):
        made = [of_another_amount() for _ in range(3)]
        monkeypatch.setattr(deposits.Exceptions, "size", 2)
        first = asked_for(deposits.Exceptions, doubt="amount").page
        rest = asked_for(deposits.Exceptions, doubt="amount", after=first.newer).page
        assert [*first.rows, *rest.rows] == made
        assert rest.newer == ""


class TestANote:
    @pytest.mark.sweep
    def test_that_settles_takes_it_off_the_list_until_something_new_is_said(self):
        payment = contradicted()
        ask_about(payment.pk)
        deposits.note(payment.pk, text="their mistake", settles=True, by="staff:1")
        assert listed(Doubt.CONTRADICTED) == []
        assert payment in listed(Doubt.CONTRADICTED, settled="on")

    def test_that_settles_nothing_leaves_it_there(self):
        payment = of_another_amount()
        deposits.note(payment.pk, text="asked them", settles=False, by="staff:1")
        assert listed(Doubt.AMOUNT) == [payment]

    def test_moves_no_money(self):
        payment = of_another_amount()
        before = Journal.objects.count()
        deposits.note(payment.pk, text="settled", settles=True, by="staff:1")
        assert Journal.objects.count() == before
        assert Payment.objects.get(pk=payment.pk).state == "error"
        (event,) = events("deposit.noted", on=str(payment.player))
        assert event["data"]["payment"] == str(payment.pk)

    def test_cannot_settle_what_the_provider_has_not_decided(self, settings):
        payment = a_payment(a_player())
        settings.PAYMENT_GIVE_UP_SECONDS = 0
        with pytest.raises(deposits.CannotSettle, match="leaves the list when the provider answers"):
            deposits.note(payment.pk, text="they never had it", settles=True, by="staff:1")
        assert deposits.note(payment.pk, text="they never had it", settles=False, by="staff:1")
        assert listed(Doubt.OPEN) == [payment]

    def test_cannot_settle_what_is_not_in_doubt_nor_settle_twice(self):
        sound, odd = a_payment(a_player()), of_another_amount()
        deposits.note(odd.pk, text="settled", settles=True, by="staff:1")
        for payment in (sound, odd):
            with pytest.raises(deposits.CannotSettle, match=r"Nothing to settle\."):
                deposits.note(payment.pk, text="again", settles=True, by="staff:1")

    @pytest.mark.sweep
    def test_can_settle_again_after_another_contradiction(self):
        payment = contradicted()
        ask_about(payment.pk)
        deposits.note(payment.pk, text="their mistake", settles=True, by="staff:1")
        call_back(statement(payment, OrderState.DECLINED, sequence=12))
        ask_about(payment.pk)
        assert payment in listed(Doubt.CONTRADICTED)
        deposits.note(payment.pk, text="their mistake again", settles=True, by="staff:1")
        assert listed(Doubt.CONTRADICTED) == []


class TestThePage:
    @pytest.mark.sweep
    def test_offers_to_settle_only_what_a_note_settles(self, finance, settings):
        odd, undecided, sound = of_another_amount(), a_payment(a_player()), a_payment(a_player())
        at_the_bank(sound)
        ask_about(sound.pk)
        settings.PAYMENT_GIVE_UP_SECONDS = 0
        pages = {each: finance.get(f"/staff/deposits/{each.pk}/").text for each in (odd, undecided, sound)}
        assert [BOX in pages[each] for each in (odd, undecided, sound)] == [True, False, False]
        assert "It cannot be settled manually" in pages[undecided]
        said = finance.post(f"/staff/deposits/{undecided.pk}/note/", {"text": "x", "settles": "on"}).text
        assert "Nothing was saved." in said
        assert not undecided.notes.exists()
        settled = finance.post(f"/staff/deposits/{odd.pk}/note/", {"text": "x", "settles": "on"}, follow=True).text
        assert BOX not in settled
        assert 'badge--off">open' not in settled

    def test_says_after_how_long_a_deposit_is_in_doubt(self, finance, settings):
        settings.PAYMENT_ASK_SECONDS, settings.PAYMENT_GIVE_UP_SECONDS = 90, 1800
        page = finance.get("/staff/deposits/").text
        assert "without an answer after 90 seconds" in page
        assert "After 30 minutes the deposit is cancelled" in page

    @pytest.mark.sweep
    def test_says_when_the_provider_was_asked_by_hand_and_what_nobody_has_said(self, finance):
        payment = a_payment(a_player())
        before = finance.get(f"/staff/deposits/{payment.pk}/").text
        assert "<dt>Last queried (UTC)</dt><dd>not yet</dd>" in before
        assert "Last provider status</dt><dd>none yet</dd>" in before
        at_the_bank(payment)
        after = finance.post(f"/staff/deposits/{payment.pk}/ask/", follow=True).text
        assert "<dt>Last queried (UTC)</dt><dd><time" in after
        assert "Last provider status</dt><dd>none yet</dd>" not in after

    @pytest.mark.sweep
    def test_shows_no_hash_of_a_message_that_never_was(self, finance, settings):
        settings.PAYMENT_ASK_SECONDS = settings.PAYMENT_GIVE_UP_SECONDS = 0
        payment = a_payment(a_player())
        settings.PAYMENT_VARIANTS = {}
        ask_undecided()
        page = finance.get(f"/staff/deposits/{payment.pk}/").text
        assert hashlib.sha256(b"").hexdigest()[:8] not in page
        assert 'data-label="SHA-256">no message<' in page

    @pytest.mark.sweep
    def test_lists_deposits_by_the_beginning_of_their_ids(self, finance):
        payment = of_another_amount()
        page = finance.get("/staff/deposits/?doubt=amount").text
        assert f'<a class="link num" href="/staff/deposits/{payment.pk}/">{str(payment.pk)[:8]}…</a>' in page

    @pytest.mark.sweep
    def test_tells_step_by_step_what_the_provider_said(self, finance):
        payment = contradicted()
        page = finance.get(f"/staff/deposits/{payment.pk}/").text
        assert page.index("Credited</td>") < page.index("Contradicts an earlier message</td>")
        assert ">Query</td>" in page
        assert ">Callback</td>" in page
        assert f"player:{payment.player_id}" in page

    @pytest.mark.sweep
    def test_has_the_provider_asked_now_and_does_what_it_says(self, finance):
        payment = a_payment(a_player())
        at_the_bank(payment)
        page = finance.post(f"/staff/deposits/{payment.pk}/ask/", follow=True).text
        assert "The provider answered. The deposit is credited." in page
        assert balance(payment.player) == payment.amount
        assert events("deposit.asked_about", on=str(payment.player))

    @pytest.mark.sweep
    def test_says_that_there_was_no_answer(self, finance, settings):
        payment = a_payment(a_player())
        settings.PAYMENT_VARIANTS = {}
        page = finance.post(f"/staff/deposits/{payment.pk}/ask/", follow=True).text
        assert "The provider did not answer." in page
        assert balance(payment.player) == 0

    def test_takes_a_note_and_reports_an_empty_one_at_the_field(self, finance):
        payment = of_another_amount()
        address = f"/staff/deposits/{payment.pk}/note/"
        assert "Enter a note." in finance.post(address, {"settles": "on"}).text
        assert "Settled." in finance.post(address, {"text": "wrong <b>amount</b>", "settles": "on"}, follow=True).text
        assert "wrong &lt;b&gt;amount" in finance.get(f"/staff/deposits/{payment.pk}/").text
        assert f"/staff/deposits/{payment.pk}/" not in finance.get("/staff/deposits/?doubt=amount").text
        assert f"/staff/deposits/{payment.pk}/" in finance.get("/staff/deposits/?doubt=amount&settled=on").text

    @pytest.mark.sweep
    @pytest.mark.parametrize("way", ["ask", "note"])
    def test_without_a_deposit_is_not_found(self, finance, way):
        assert finance.post(f"/staff/deposits/{uuid4()}/{way}/", {"text": "x"}).status_code == 404

    def test_lets_compliance_read_and_do_nothing(self):
        payment = of_another_amount()
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("compliance").user)
        page = visitor.get(f"/staff/deposits/{payment.pk}/").text
        assert "Query provider" not in page
        assert visitor.post(f"/staff/deposits/{payment.pk}/ask/").status_code == 403

    def test_offers_no_way_to_credit(self, finance):
        payment = of_another_amount()
        page = finance.get(f"/staff/deposits/{payment.pk}/").text
        actions = {part.split('"')[0] for part in page.split("<form")[1:] for part in part.split('action="')[1:2]}
        assert actions >= {f"/staff/deposits/{payment.pk}/ask/", f"/staff/deposits/{payment.pk}/note/"}
        assert {action for action in actions if "deposit" in action} == {
            f"/staff/deposits/{payment.pk}/ask/",
            f"/staff/deposits/{payment.pk}/note/",
        }
