"""Withdrawals: requested, approved by one or two people, paid or returned; each step recorded and
reported.
"""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction
from django.utils.translation import gettext, override

from audit import approvals
from audit.models import Approval
from players.models import Mail, Staff
from players.protection import exclusions
from tests.builders import a_player, a_purse, a_submission, a_verified_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet import wholeness
from tests.wallet.money_moves import settle, stake, write
from tests.wallet.payout_builders import MONEY, a_withdrawal, an_account, approve, in_the_banks_hands
from wallet import payouts, withdrawals
from wallet.ledger import accounts, round_reversal, statements
from wallet.models import AccountKind, Entry, Mode, Withdrawal, WithdrawalStatus
from wallet.money import format_money
from wallet.withdrawals import BANK_REASONS, REASONS

pytestmark = pytest.mark.django_db

LARGE = withdrawals.TWO_PEOPLE_ABOVE["SEK"] + 1


def permanently(*, player, by):

    exclusions.exclude_self(player=player, months=None, by=by)


def money(player):
    """Return cash and pending money, in minor units."""
    pending = accounts.totals(player.pk).balances(AccountKind.PENDING).get(Mode.REAL, 0)
    return accounts.balance(player.pk, Mode.REAL), pending


def mails(player):
    written = Mail.objects.filter(user=player.user, template__startswith="withdrawal").order_by("pk")
    return list(written.values_list("template", flat=True))


def is_whole():
    return not any(check.rows for check in wholeness.checks())


def word(withdrawal, state, **changes):
    said = {"amount": withdrawal.amount, "currency": withdrawal.currency, "number": "SP1", "reason": ""} | changes
    return payouts.BankAnswer(withdrawal.reference, state, **said)


def hear(withdrawal, state, **changes):
    return payouts.hear(word(withdrawal, state, **changes), provider="test", path="callback", raw=b"raw")


def sent(player=None, amount=50_000):
    """Return a withdrawal that the bank processes."""
    return in_the_banks_hands(a_withdrawal(player or a_verified_player(real=MONEY), amount))


class TestRequesting:
    def test_gli19_2_5_6_takes_the_money_out_of_play_and_says_so(self):
        player = a_verified_player(real=MONEY)
        withdrawal = a_withdrawal(player, 60_000)
        assert withdrawal.status == WithdrawalStatus.REQUESTED
        assert money(player) == (40_000, 60_000)
        assert mails(player) == ["withdrawal_requested"]
        (event,) = events("withdrawal.requested", on=str(withdrawal))
        assert (event["by"], event["data"]["amount"]) == (str(player), 60_000)
        assert is_whole()

    def test_twice_with_one_form_is_one(self):
        player, key = a_verified_player(real=MONEY), uuid4()
        account = an_account(player)
        one = withdrawals.request(player=player, amount=MONEY, account=account, key=key)
        assert withdrawals.request(player=player, amount=MONEY, account=account, key=key) == one
        assert (money(player), len(mails(player))) == ((0, MONEY), 1)

    def test_twice_with_one_form_and_another_amount_is_refused(self):
        player, key = a_verified_player(real=MONEY), uuid4()
        withdrawals.request(player=player, amount=20_000, account=an_account(player), key=key)
        with pytest.raises(withdrawals.FormUsed, match="already been sent with a different amount"):
            withdrawals.request(player=player, amount=30_000, account=an_account(player), key=key)

    def test_before_anybody_confirmed_the_identity_is_refused(self):
        player = a_player(real=MONEY)
        with pytest.raises(withdrawals.NotVerified, match="You must verify your identity before your first withdrawal"):
            a_withdrawal(player)
        assert money(player) == (MONEY, 0)
        (event,) = events("withdrawal.not_taken", on=str(player))
        assert event["data"]["why"] == "NotVerified"

    def test_of_more_than_there_is_is_refused(self):
        with pytest.raises(withdrawals.NotEnough, match=r"up to SEK\s1,000\.00"):
            a_withdrawal(a_verified_player(real=MONEY), MONEY + 1)

    def test_of_money_in_a_purse_is_refused_with_the_way_out(self):
        player = a_verified_player(real=MONEY)
        a_purse(player, 60_000)
        with pytest.raises(withdrawals.NotEnough, match="returns to your account when you leave the game"):
            a_withdrawal(player, MONEY)

    def test_of_less_than_the_smallest_is_refused_unless_it_is_everything(self):
        with pytest.raises(withdrawals.TooSmall, match=r"minimum withdrawal is SEK\s100\.00"):
            a_withdrawal(a_verified_player(real=MONEY), 9_999)
        assert a_withdrawal(a_verified_player(real=5_000), 5_000).amount == 5_000

    def test_to_another_players_account_is_refused(self):
        player, other = a_verified_player(real=MONEY), a_verified_player(real=MONEY)
        with pytest.raises(withdrawals.ForeignAccount, match="only to your own account"):
            withdrawals.request(player=player, amount=50_000, account=an_account(other), key=uuid4())

    def test_leaves_nothing_to_stake(self):
        player = a_verified_player(real=MONEY)
        a_withdrawal(player, MONEY)
        with pytest.raises(withdrawals.NotEnough):
            a_withdrawal(player, 10_000)

    @pytest.mark.parametrize("keep_out", [exclusions.pause, permanently], ids=["paused", "excluded"])
    def test_gli19_a_3_8_is_open_to_a_player_who_may_not_play(self, keep_out):
        player = a_verified_player(real=MONEY)
        keep_out(player=player, by=str(player))
        assert exclusions.in_force(player)
        assert a_withdrawal(player, MONEY).status == WithdrawalStatus.REQUESTED


class TestDeciding:
    def test_one_person_approves_an_ordinary_one(self):
        player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")
        withdrawal = approve(a_withdrawal(player), staff)
        assert (withdrawal.status, money(player)) == (WithdrawalStatus.APPROVED, (50_000, 50_000))
        assert mails(player) == ["withdrawal_requested", "withdrawal_approved"]
        (event,) = events("withdrawal.approved", by=str(staff))
        assert event["data"]["reason"] == "all in order"
        assert is_whole()

    def test_gli19_2_5_6_a_refusal_gives_the_money_back_and_says_why(self):
        player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")
        withdrawal = a_withdrawal(player)
        withdrawals.refuse(withdrawal_id=withdrawal.pk, by=str(staff), code="holder", note="another name")
        assert money(player) == (MONEY, 0)
        mail = Mail.objects.get(template="withdrawal_refused")
        assert "does not belong to you" in mail.body
        assert "another name" not in mail.body
        assert f"Withdrawal {withdrawal.pk}" in mail.body
        assert "500.00" in mail.body
        assert is_whole()

    def test_waits_during_another_identity_review(self):
        player = a_verified_player(real=MONEY)
        withdrawal = a_withdrawal(player)
        a_submission(player)
        with pytest.raises(withdrawals.NotVerified, match="identity is not verified"):
            approve(withdrawal)

    def test_happens_once(self):
        withdrawal = approve(a_withdrawal(a_verified_player(real=MONEY)))
        with pytest.raises(withdrawals.NotOpen, match="approved"):
            approve(withdrawal)
        with pytest.raises(withdrawals.NotOpen, match="approved"):
            withdrawals.refuse(withdrawal_id=withdrawal.pk, by="staff:1", code="holder", note="late")

    def test_of_what_is_not_there_is_an_error(self):
        with pytest.raises(withdrawals.NotOpen, match="could not be found"):
            approve(Withdrawal(pk=404))

    def test_gli19_2_8_5_every_step_has_its_handler_method_and_status(self):
        withdrawal = sent()
        hear(withdrawal, "paid")
        steps = withdrawal.steps.order_by("pk").values_list("before", "after", "handler", "method")
        staff = Staff.objects.order_by("-pk").first()
        assert list(steps) == [
            ("", "requested", "house", "bank transfer"),
            ("requested", "approved", str(staff), "bank transfer"),
            ("approved", "sending", "test", "bank transfer"),
            ("sending", "paid", "test", "bank transfer"),
        ]
        asked, paid = withdrawal.steps.exclude(journal=None).order_by("pk")
        changed = Entry.objects.filter(account__owner=withdrawal.player, account__kind=AccountKind.CASH)
        (line,) = changed.filter(journal=asked.journal)
        assert (line.balance_after, line.amount) == (MONEY - 50_000, -50_000)
        assert not changed.filter(journal=paid.journal)
        assert asked.at <= paid.at


class TestTwoPeople:
    def test_gli19_b_2_3_the_first_approves_and_the_second_decides(self):
        player = a_verified_player(real=LARGE)
        withdrawal = approve(a_withdrawal(player, LARGE))
        assert withdrawal.status == WithdrawalStatus.SECONDING
        assert decide(withdrawal, a_member_of_staff("supervisor")).status == WithdrawalStatus.APPROVED
        assert mails(player) == ["withdrawal_requested", "withdrawal_approved"]
        assert is_whole()

    def test_exactly_the_threshold_takes_one(self):
        player = a_verified_player(real=LARGE)
        assert approve(a_withdrawal(player, LARGE - 1)).status == WithdrawalStatus.APPROVED

    def test_parts_of_a_large_sum_take_two_like_the_whole(self):
        player = a_verified_player(real=LARGE)
        assert not a_withdrawal(player, LARGE - 10_000).takes_two
        assert a_withdrawal(player, 10_000).takes_two

    def test_the_first_is_not_the_second_not_even_with_another_account(self):
        first = a_member_of_staff("finance")
        withdrawal = approve(a_withdrawal(a_verified_player(real=LARGE), LARGE), first)
        twin = a_member_of_staff("finance", person=first.person)
        for staff in (first, twin):
            with pytest.raises(approvals.OwnRequest):
                decide(withdrawal, staff)

    @pytest.mark.sweep
    def test_the_second_waits_too_during_another_identity_review(self):
        player = a_verified_player(real=LARGE)
        withdrawal = approve(a_withdrawal(player, LARGE))
        a_submission(player)
        with pytest.raises(approvals.CannotExecute, match="identity is not verified"):
            decide(withdrawal, a_member_of_staff("finance"))
        withdrawal.refresh_from_db()
        assert withdrawal.status == WithdrawalStatus.SECONDING

    @pytest.mark.sweep
    def test_the_second_refuses_and_the_money_comes_back(self):
        player = a_verified_player(real=LARGE)
        withdrawal = approve(a_withdrawal(player, LARGE))
        assert decide(withdrawal, a_member_of_staff("finance"), yes=False).status == WithdrawalStatus.REFUSED
        assert money(player) == (LARGE, 0)
        assert "after a second review" in Mail.objects.get(template="withdrawal_refused").body
        assert is_whole()

    def test_nobody_asks_twice_while_the_second_is_waited_for(self):
        withdrawal = approve(a_withdrawal(a_verified_player(real=LARGE), LARGE))
        with pytest.raises(approvals.AskedTwice):
            approve(withdrawal)

    def test_one_person_cannot_pay_it_even_past_the_code(self):
        withdrawal = a_withdrawal(a_verified_player(real=LARGE), LARGE)
        with pytest.raises(DatabaseError, match="takes two people"), transaction.atomic():
            Withdrawal.objects.filter(pk=withdrawal.pk).update(status="approved")


def decide(withdrawal, staff, *, yes=True):
    asked = Approval.objects.get(on=str(withdrawal))
    approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(staff), person=staff.person, reason="seen", may=staff.user.has_perm
    )
    withdrawal.refresh_from_db()
    return withdrawal


class TestCancelling:
    def test_gives_the_money_back_where_the_law_allows_it(self):
        player = a_verified_player("SE", real=MONEY)
        withdrawal = a_withdrawal(player)
        withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)
        withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)
        assert money(player) == (MONEY, 0)
        assert mails(player) == ["withdrawal_requested", "withdrawal_cancelled"]
        assert is_whole()

    def test_is_refused_where_the_law_forbids_it(self):
        player = a_verified_player("GB", real=MONEY)
        withdrawal = a_withdrawal(player)
        with pytest.raises(withdrawals.MayNotCancel, match="In your country"):
            withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)
        assert money(player) == (50_000, 50_000)

    @pytest.mark.parametrize("amount", [50_000, LARGE], ids=["approved", "approved by the first of two"])
    def test_is_refused_once_somebody_has_approved_it(self, amount):
        player = a_verified_player(real=LARGE)
        withdrawal = approve(a_withdrawal(player, amount))
        with pytest.raises(withdrawals.MayNotCancel, match="already been decided"):
            withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)

    def test_is_for_ones_own(self):
        withdrawal = a_withdrawal(a_verified_player(real=MONEY))
        with pytest.raises(withdrawals.NotOpen, match="could not be found"):
            withdrawals.cancel(player=a_verified_player(real=MONEY), withdrawal_id=withdrawal.pk)


class TestTheBanksWord:
    def test_paid_moves_the_money_out_of_the_house(self):
        player = a_verified_player(real=MONEY)
        withdrawal = sent(player)
        assert hear(withdrawal, "paid") == payouts.Outcome.PAID
        assert money(player) == (50_000, 0)
        assert mails(player)[-1] == "withdrawal_paid"
        assert withdrawal.steps.get(after="paid").reason == "SP1"
        assert is_whole()

    @pytest.mark.sweep
    def test_refused_brings_it_back_and_says_why(self):
        player = a_verified_player(real=MONEY)
        assert hear(sent(player), "refused", reason="account_closed") == payouts.Outcome.RETURNED
        assert money(player) == (MONEY, 0)
        assert "account is closed" in Mail.objects.get(template="withdrawal_returned").body
        assert is_whole()

    @pytest.mark.parametrize("state", ["paid", "refused"])
    def test_twice_or_late_changes_nothing_more(self, state):
        player = a_verified_player(real=MONEY)
        withdrawal = sent(player)
        hear(withdrawal, state)
        before = money(player)
        assert hear(withdrawal, state) == payouts.Outcome.NOTHING_NEW
        assert hear(withdrawal, "accepted") == payouts.Outcome.NOTHING_NEW
        assert money(player) == before

    @pytest.mark.sweep
    def test_against_what_was_decided_is_an_alarm(self):
        withdrawal = sent()
        hear(withdrawal, "paid")
        assert hear(withdrawal, "refused") == payouts.Outcome.CONTRADICTION
        assert len(events("payout.notice_refused", on=str(withdrawal))) == 1

    @pytest.mark.parametrize(
        "changes", sample([{"amount": 49_999}, {"currency": "EUR"}], 1), ids=["amount", "currency"]
    )
    def test_about_other_money_is_an_alarm_and_moves_nothing(self, changes):
        player = a_verified_player(real=MONEY)
        assert hear(sent(player), "paid", **changes) == payouts.Outcome.MISMATCH
        assert money(player) == (50_000, 50_000)

    def test_about_nothing_the_house_asked_for_is_an_alarm(self):
        stranger = Withdrawal(reference=uuid4(), amount=1, currency="SEK")
        assert hear(stranger, "paid") == payouts.Outcome.UNKNOWN

    @pytest.mark.sweep
    def test_before_it_was_asked_is_an_alarm(self):
        assert hear(approve(a_withdrawal(a_verified_player(real=MONEY))), "paid") == payouts.Outcome.CONTRADICTION


class TestTheDatabase:
    @pytest.mark.parametrize(
        ("before", "after"),
        sample([("requested", "paid"), ("requested", "sending"), ("sending", "cancelled"), ("paid", "requested")], 1),
    )
    def test_lets_no_status_jump_or_go_back(self, before, after):
        withdrawal = sent() if before in ("sending", "paid") else a_withdrawal(a_verified_player(real=MONEY))
        if before == "paid":
            hear(withdrawal, "paid")
        with pytest.raises(DatabaseError, match="does not become"), transaction.atomic():
            Withdrawal.objects.filter(pk=withdrawal.pk).update(status=after)

    @pytest.mark.parametrize(
        "change", sample([{"amount": 1}, {"key": uuid4}, {"takes_two": True}], 1), ids=["amount", "key", "two"]
    )
    def test_lets_nobody_change_what_was_asked_for(self, change):
        withdrawal = a_withdrawal(a_verified_player(real=MONEY))
        values = {name: value() if callable(value) else value for name, value in change.items()}
        with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
            Withdrawal.objects.filter(pk=withdrawal.pk).update(**values)


def test_what_the_house_owes_says_what_is_pending():
    a_withdrawal(a_verified_player(real=MONEY), 60_000)
    (line,) = [each for each in statements.liabilities() if each.mode is Mode.REAL]
    assert (line.available, line.held, line.pending, line.total) == (40_000, 0, 60_000, MONEY)


@pytest.mark.usefixtures("without_voids")
def test_a_void_takes_nothing_of_what_waits_to_be_paid_out():
    player = a_verified_player(real=1_000)
    round_id = uuid4()
    write(stake(player, 1_000, round_id=round_id), settle(player, 1_000, MONEY, round_id=round_id))
    a_withdrawal(player, MONEY)
    (undone,) = round_reversal.undo_round(round_id)
    assert undone.shortfall == MONEY - 1_000
    assert money(player) == (0, MONEY)
    assert is_whole()


STEPS: dict[str, Callable[[Withdrawal], object]] = {
    "requested": lambda withdrawal: None,
    "approved": approve,
    "paid": lambda withdrawal: hear(in_the_banks_hands(withdrawal), "paid"),
    "returned": lambda withdrawal: hear(in_the_banks_hands(withdrawal), "refused", reason="account_closed"),
    "refused": lambda withdrawal: withdrawals.refuse(
        withdrawal_id=withdrawal.pk, by="staff:1", code="holder", note="x"
    ),
    "cancelled": lambda withdrawal: withdrawals.cancel(player=withdrawal.player, withdrawal_id=withdrawal.pk),
}
WHY = {"returned": lambda: BANK_REASONS["account_closed"], "refused": lambda: REASONS["holder"]}


@pytest.mark.sweep
@pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
@pytest.mark.parametrize("step", sample(STEPS, 1))
def test_gli19_2_5_6_every_mail_says_what_how_much_and_why(step, language):
    player = a_verified_player(real=MONEY)
    player.user.language = language
    player.user.save()
    withdrawal = a_withdrawal(player)
    STEPS[step](withdrawal)
    mail = Mail.objects.get(user=player.user, template=f"withdrawal_{step}")
    with override(language):
        assert f"{gettext('Withdrawal')} {withdrawal.pk}" in mail.body
        assert format_money(50_000, "SEK", language) in mail.body
        if step in WHY:
            assert str(WHY[step]()) in mail.body
        else:
            assert gettext("Why:") not in mail.body


@pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
def test_the_mails_speak_the_players_language(language):
    player = a_verified_player(real=MONEY)
    player.user.language = language
    player.user.save()
    withdrawal = a_withdrawal(player)
    withdrawals.refuse(withdrawal_id=withdrawal.pk, by="staff:1", code="holder", note="x")
    mail = Mail.objects.get(user=player.user, template="withdrawal_refused")
    with override(language):
        assert str(REASONS["holder"]) in mail.body
        assert format_money(50_000, "SEK", language) in mail.body
