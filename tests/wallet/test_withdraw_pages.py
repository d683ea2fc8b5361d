"""Pages of withdrawals: a player's form and list, the queue of finance, the page of approvals."""

import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import Approval
from backoffice.money import withdrawals as views
from tests.builders import a_player, a_purse, a_submission, a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.staff_lists import asked_for
from tests.wallet.payout_builders import IBAN, MONEY, a_withdrawal, an_account, approve, paid, returned
from wallet import withdrawals
from wallet.models import PayoutAccount, Withdrawal, WithdrawalStatus
from wallet.sandbox_bank import payouts as bank

pytestmark = pytest.mark.django_db

LARGE = withdrawals.TWO_PEOPLE_ABOVE["SEK"] + 1
PAGE = "/en/cashier/withdraw/"
QUEUE, APPROVALS = "/staff/withdrawals/", "/staff/approvals/"


def visitor_as(user):
    visitor = a_visitor()
    visitor.force_login(user)
    return visitor


def ask(visitor, **changes):
    data = {"amount": "500", "iban": IBAN, "mine": "on", "key": uuid4()} | changes
    return visitor.post(PAGE, data, follow=True)


def chosen(page):
    found = re.search(r'<option value="([^"]+)" selected', page)
    assert found, "no account is chosen"
    return found[1]


def page_of(withdrawal):
    return reverse("staff_withdrawal", args=[withdrawal.pk])


def decide(staff, withdrawal, **data):
    address = reverse("staff_withdrawal_decide", kwargs={"withdrawal_id": withdrawal.pk})
    return visitor_as(staff.user).post(address, data, follow=True).text


def second(staff, asked, **data):
    address = reverse("staff_approval_decide", kwargs={"approval_id": asked.pk})
    return visitor_as(staff.user).post(address, data, follow=True).text


class TestThePlayer:
    def test_asks_and_finds_it_in_the_list(self):
        player = a_verified_player(real=MONEY)
        page = ask(visitor_as(player.user)).text
        assert "We have received your withdrawal request" in page
        assert "Under review" in page
        withdrawal = Withdrawal.objects.get(player=player)
        assert (withdrawal.amount, str(withdrawal.account)[-4:]) == (50_000, IBAN[-4:])

    @pytest.mark.sweep
    def test_is_asked_which_account_next_to_a_known_one(self):
        player = a_verified_player(real=MONEY)
        visitor = visitor_as(player.user)
        ask(visitor)
        kept = PayoutAccount.objects.get(player=player)
        page = ask(visitor, account=kept.pk, iban=bank.CLOSED).text
        assert "To be paid to this IBAN, choose “Another account” above." in page
        assert f'value="{bank.CLOSED}"' in page
        assert Withdrawal.objects.filter(player=player).count() == 1
        ask(visitor, account="new", iban=bank.CLOSED, amount="100")
        assert str(Withdrawal.objects.latest("pk").account)[-4:] == bank.CLOSED[-4:]

    @pytest.mark.sweep
    def test_of_a_demo_reads_of_an_account_that_is_paid(self, settings):
        settings.DEMO = True
        assert bank.PAID in visitor_as(a_verified_player(real=MONEY).user).get(PAGE).text

    @pytest.mark.sweep
    def test_is_not_led_to_an_account_that_the_bank_says_is_closed(self):
        player = a_verified_player(real=MONEY)
        visitor = visitor_as(player.user)
        other, closed = an_account(player), an_account(player, bank.CLOSED)
        assert chosen(visitor.get(PAGE).text) == str(closed.pk)
        returned(a_withdrawal(player, 10_000, iban=bank.CLOSED))
        page = visitor.get(PAGE).text
        assert chosen(page) == str(other.pk)
        assert f"{closed} – The bank says that this account is closed.</option>" in page
        paid(a_withdrawal(player, 10_000, iban=bank.CLOSED))
        assert chosen(visitor.get(PAGE).text) == str(closed.pk)

    @pytest.mark.sweep
    def test_with_no_other_account_is_asked_for_another(self):
        player = a_verified_player(real=MONEY)
        returned(a_withdrawal(player, 10_000, iban=bank.CLOSED))
        assert chosen(visitor_as(player.user).get(PAGE).text) == "new"

    @pytest.mark.sweep
    def test_asks_again_for_a_known_account(self):
        player = a_verified_player(real=MONEY)
        visitor = visitor_as(player.user)
        ask(visitor)
        kept = Withdrawal.objects.get(player=player).account
        ask(visitor, account=kept.pk, iban="", amount="100")
        assert list(Withdrawal.objects.filter(player=player).values_list("account", flat=True)) == [kept.pk] * 2

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "message"),
        sample(
            [
                ({"amount": "1e9"}, "This is not a valid amount"),
                ({"amount": "-5"}, "must be more than zero"),
                ({"amount": "5000"}, "You can withdraw up to"),
                ({"amount": "5"}, "The minimum withdrawal is"),
                ({"iban": "SE00 1234"}, "This is not a valid IBAN"),
                ({"mine": ""}, "Confirm that this account is yours"),
            ],
            2,
        ),
        ids=["nonsense", "negative", "too much", "too little", "no IBAN", "not mine"],
    )
    def test_reads_the_reason_of_a_refusal_at_the_field(self, changes, message):
        page = ask(visitor_as(a_verified_player(real=MONEY).user), **changes)
        assert re.search(rf'class="errorlist[^>]*>.*?{message}', page.text, re.S)
        assert not Withdrawal.objects.exists()

    def test_who_is_not_verified_is_led_to_the_identity_page(self):
        visitor = visitor_as(a_player(real=MONEY).user)
        for page in (visitor.get(PAGE).text, ask(visitor).text):
            assert page.count("You must verify your identity before your first withdrawal.") == 1
            assert re.search(r'class="button button--go" href="[^"]*/identity/"', page)
            assert 'id="withdraw"' not in page

    @pytest.mark.sweep
    def test_a_player_who_has_sent_everything_reads_that_it_is_under_review(self):
        player = a_player(real=MONEY)
        a_submission(player)
        page = visitor_as(player.user).get(PAGE).text
        assert "We are reviewing what you sent" in page
        assert 'id="withdraw"' not in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "changes", sample([{"amount": "5000"}, {"amount": "5"}], 1), ids=["too much", "too little"]
    )
    def test_is_offered_no_bank_account_from_a_refused_request(self, changes):
        player = a_verified_player(real=MONEY)
        visitor = visitor_as(player.user)
        ask(visitor, **changes)
        assert not PayoutAccount.objects.filter(player=player).exists()
        assert "Another account" not in visitor.get(PAGE).text
        assert events("withdrawal.not_taken", on=str(player))
        assert not events("payout_account.added", on=str(player))
        ask(visitor)
        assert PayoutAccount.objects.filter(player=player).count() == 1

    @pytest.mark.sweep
    def test_reads_that_a_purse_comes_back_first(self):
        player = a_verified_player(real=MONEY)
        a_purse(player, 60_000)
        assert "In Golden Baccarat" in visitor_as(player.user).get(PAGE).text

    @pytest.mark.sweep
    def test_cancels_where_it_is_allowed(self):
        player = a_verified_player(real=MONEY)
        withdrawal, visitor = a_withdrawal(player), visitor_as(player.user)
        assert f"Cancel withdrawal {withdrawal.pk}" in visitor.get(PAGE).text
        page = visitor.post(f"{PAGE}cancel/", {"withdrawal": withdrawal.pk}, follow=True).text
        assert "Your withdrawal is cancelled" in page

    @pytest.mark.sweep
    def test_has_no_button_where_the_law_forbids_it_and_reads_so(self):
        player = a_verified_player("GB", real=MONEY)
        withdrawal, visitor = a_withdrawal(player), visitor_as(player.user)
        page = visitor.get(PAGE).text
        assert "In your country, a withdrawal cannot be cancelled once you have requested it." in page
        assert "Cancel withdrawal" not in page
        page = visitor.post(f"{PAGE}cancel/", {"withdrawal": withdrawal.pk}, follow=True).text
        assert 'role="alert"' in page
        assert Withdrawal.objects.get().status == WithdrawalStatus.REQUESTED

    @pytest.mark.sweep
    def test_gli19_2_5_6_reads_why_staff_refused(self):
        player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")
        decide(staff, a_withdrawal(player), action="refuse", code="identity", reason="the passport")
        page = visitor_as(player.user).get(PAGE).text
        assert "We need to verify your identity again" in page
        assert "the passport" not in page

    def test_sees_nothing_of_others(self):
        a_withdrawal(a_verified_player(real=MONEY))
        assert "You have not requested a withdrawal yet." in visitor_as(a_player().user).get(PAGE).text


class TestFinance:
    @pytest.mark.sweep
    def test_sees_whose_money_it_is_at_a_glance(self):
        player = a_verified_player(real=MONEY)
        withdrawal = a_withdrawal(player)
        page = visitor_as(a_member_of_staff("finance").user).get(page_of(withdrawal)).text
        for word in (f"player:{player.pk}", "verified", "SEK\u00a01,000.00", "one person"):
            assert word in page

    @pytest.mark.sweep
    def test_sees_since_when_an_account_is_used_and_what_its_bank_sent_back(self):
        player = a_verified_player(real=MONEY)
        finance = visitor_as(a_member_of_staff("finance").user)
        returned(a_withdrawal(player, 12_300))
        waiting = a_withdrawal(player, 10_000)
        page = finance.get(page_of(waiting)).text
        card = page[page.index("<dt>Bank account</dt>") : page.index("Jurisdiction</dt>")]
        assert f"used since {waiting.account.at:%Y-%m-%d %H:%M} UTC" in card
        assert "no payout to it yet" in card
        assert "<dt>Returned payouts</dt>" in card
        assert "1; latest" in card
        assert "SEK\u00a0123.00" in card
        assert "The bank says that this account is closed." in card
        paid(waiting)
        after = finance.get(page_of(a_withdrawal(player, 10_000))).text
        assert "no payout to it yet" not in after
        assert "1; paid since; latest" in after

    @pytest.mark.sweep
    def test_sees_nothing_of_what_other_accounts_sent_back(self):
        player = a_verified_player(real=MONEY)
        returned(a_withdrawal(player, 10_000, iban=bank.CLOSED))
        returned(a_withdrawal(a_verified_player(real=MONEY), 10_000))
        page = page_of(a_withdrawal(player, 10_000))
        assert "Returned payouts" not in visitor_as(a_member_of_staff("finance").user).get(page).text

    @pytest.mark.sweep
    def test_is_asked_of_the_database_alike_for_one_and_for_many(self, django_assert_num_queries):
        a_withdrawal(a_verified_player(real=MONEY))
        with CaptureQueriesContext(connection) as one:
            assert [case.facts.is_verified for case in views.cases(asked_for(views.Withdrawals).page.rows)] == [True]
        for _ in range(3):
            a_submission(a_withdrawal(a_verified_player(real=MONEY)).player)
        with django_assert_num_queries(len(one)):
            assert [case.facts.is_verified for case in views.cases(asked_for(views.Withdrawals).page.rows)] == [
                True,
                False,
                False,
                False,
            ]

    def test_chooses_a_currency_by_its_code(self):
        page = visitor_as(a_member_of_staff("finance").user).get(QUEUE).text
        assert '<option value="SEK">SEK</option>' in page

    def test_approves_with_a_reason(self):
        withdrawal, staff = a_withdrawal(a_verified_player(real=MONEY)), a_member_of_staff("finance")
        assert "is approved" in decide(staff, withdrawal, action="approve", reason="all in order")
        assert "It can no longer be approved." in decide(staff, withdrawal, action="approve", reason="again")

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("data", "message"),
        sample(
            [
                ({"action": "approve"}, "Enter a reason"),
                ({"action": "refuse", "reason": "no"}, "Choose the reason that is shown to the player."),
                ({"reason": "no"}, "Choose Approve or Refuse."),
            ],
            1,
        ),
        ids=["no reason", "no sentence for the player", "nothing chosen"],
    )
    def test_says_what_is_missing(self, data, message):
        withdrawal = a_withdrawal(a_verified_player(real=MONEY))
        assert message in decide(a_member_of_staff("finance"), withdrawal, **data)
        assert Withdrawal.objects.get().status == WithdrawalStatus.REQUESTED

    @pytest.mark.sweep
    def test_reads_every_step_of_what_is_decided(self):
        withdrawal, staff = a_withdrawal(a_verified_player(real=MONEY), iban=bank.CLOSED), a_member_of_staff("finance")
        page = decide(staff, withdrawal, action="refuse", code="holder", reason="another name")
        assert f"refused by {staff.name} ({staff}) (bank transfer): holder: another name" in page


class TestApprovals:
    def test_show_what_another_asked_and_take_the_decision(self):
        withdrawal = approve(a_withdrawal(a_verified_player(real=LARGE), LARGE))
        asked, staff = Approval.objects.get(), a_member_of_staff("supervisor")
        page = visitor_as(staff.user).get(APPROVALS).text
        for word in (f"player:{withdrawal.player_id}", asked.by, "all in order", "Expires"):
            assert word in page
        assert "Approved: " in second(staff, asked, yes="1", reason="seen")
        assert Withdrawal.objects.get().status == WithdrawalStatus.APPROVED

    @pytest.mark.parametrize(
        ("yes", "said", "unsaid"),
        [
            ("1", "The money is sent to this bank account.", "returns"),
            ("0", "The money returns to the player", "is sent"),
        ],
    )
    def test_the_message_about_a_decision_has_its_effect_alone(self, yes, said, unsaid):
        approve(a_withdrawal(a_verified_player(real=LARGE), LARGE))
        page = second(a_member_of_staff("supervisor"), Approval.objects.get(), yes=yes, reason="seen")
        (message,) = re.findall(r">Request \d+: .*", page)
        assert said in message
        assert unsaid not in message

    @pytest.mark.sweep
    def test_show_ones_own_without_a_button_and_say_why(self):
        staff = a_member_of_staff("finance")
        approve(a_withdrawal(a_verified_player(real=LARGE), LARGE), staff)
        page = visitor_as(staff.user).get(APPROVALS).text
        assert "Another person must decide it" in page
        assert f"Approve request {Approval.objects.get().pk}" not in page
        assert "Another person must decide it" in second(staff, Approval.objects.get(), yes="1", reason="mine")

    @pytest.mark.sweep
    def test_need_a_reason(self):
        approve(a_withdrawal(a_verified_player(real=LARGE), LARGE))
        assert "Enter a reason" in second(a_member_of_staff("finance"), Approval.objects.get(), yes="1", reason="")

    @pytest.mark.sweep
    def test_say_what_is_wrong_where_there_is_nothing(self):
        assert "Request not found." in second(a_member_of_staff("finance"), Approval(pk=404), yes="1", reason="x")
