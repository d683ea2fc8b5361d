"""Money that goes out: withdrawals from the first form to the bank's last word, and the closing of accounts."""

from functools import partial
from uuid import uuid4

from django.conf import settings
from django.db.models.functions import Now
from django.urls import reverse

from accounts import closing
from audit import approvals
from audit.models import Approval
from players.account import closures
from players.models import Player, Staff
from tests.builders import a_player, a_purse, a_verified_player
from tests.concurrency.actions import NOTHING, Action, in_one, unless
from tests.concurrency.books import Counts, together
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.payout_builders import a_withdrawal, an_account, approve
from wallet import payouts, withdrawals
from wallet.models import BankPayout, BankPayoutNotice, Withdrawal
from wallet.sandbox_bank import payouts as bank
from wallet.sandbox_bank.orders import HEADER, seconds_now, sign

AMOUNT = 10_000
LARGE = withdrawals.TWO_PEOPLE_ABOVE["SEK"] + 1
MONEY = 100 * LARGE

SENT_TO_BANK: Counts = {"bank payout accepted": 1}


def entered(before: str, after: str, *, mail: bool = True) -> Counts:
    """Return a step of a withdrawal."""
    step = {f"withdrawal {after}": 1, f"step {after}": 1, f"event withdrawal.{after}": 1}
    return together(step, {f"withdrawal {before}": -1} if before else {}, {f"mail withdrawal_{after}": int(mail)})


def held(amount: int = AMOUNT) -> Counts:
    return {"cash R": -amount, "pending R": amount, "journal withdraw": 1}


def returned_amounts(amount: int = AMOUNT) -> Counts:
    return {"cash R": amount, "pending R": -amount, "journal withdraw_returned": 1}


ASKED = together(entered("", "requested"), held())
SENDING = entered("approved", "sending", mail=False)
PAID = together(entered("sending", "paid"), {"pending R": -AMOUNT, "journal withdraw_paid": 1})
RETURNED = together(entered("sending", "returned"), returned_amounts())


def asking_for_a_withdrawal():
    player = a_verified_player(real=MONEY)
    account = an_account(player)

    def action() -> Action:
        asking = partial(withdrawals.request, player=player, amount=AMOUNT, account=account, key=uuid4())
        return in_one(asking, ASKED, partial(refuse_all, player))

    return action


def refuse_all(player: Player) -> None:
    """Return all money, so that the sum of parts does not reach the threshold for two approvals."""
    for each in Withdrawal.objects.filter(player=player, status="requested"):
        withdrawals.refuse(withdrawal_id=each.pk, by="staff:1", code="holder", note="")


def cancelling():
    player = a_verified_player(real=MONEY)

    def action() -> Action:
        withdrawal = a_withdrawal(player, AMOUNT)
        effect = together(entered("requested", "cancelled"), returned_amounts())
        return in_one(partial(withdrawals.cancel, player=player, withdrawal_id=withdrawal.pk), effect)

    return action


def refusing():
    player = a_verified_player(real=MONEY)

    def action() -> Action:
        withdrawal = a_withdrawal(player, AMOUNT)
        refuse = partial(withdrawals.refuse, withdrawal_id=withdrawal.pk, by="staff:1", code="holder", note="seen")
        effect = together(entered("requested", "refused"), returned_amounts())
        return in_one(unless(withdrawals.NotOpen, refuse), effect)

    return action


def approving():
    player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")

    def action() -> Action:
        withdrawal = a_withdrawal(player, AMOUNT)
        approving = unless(withdrawals.NotOpen, partial(approve, withdrawal, staff))
        return in_one(approving, entered("requested", "approved"), pay_everything)

    return action


def approving_as_the_first():
    player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")

    def action() -> Action:
        withdrawal = a_withdrawal(player, LARGE)
        asked = {"approval": 1, "event approval.asked": 1}
        effect = together(entered("requested", "seconding", mail=False), asked)
        return in_one(unless(approvals.AskedTwice, partial(approve, withdrawal, staff)), effect)

    return action


def decide(approval: Approval, staff: Staff, *, yes: bool) -> None:
    approvals.decide(
        approval_id=approval.pk, yes=yes, by=str(staff), person=staff.person, reason="seen", may=staff.user.has_perm
    )


def seconded(*, yes: bool, effect: Counts):
    player, first, second = a_verified_player(real=MONEY), a_member_of_staff("finance"), a_member_of_staff("finance")

    def action() -> Action:
        asked = Approval.objects.get(on=str(approve(a_withdrawal(player, LARGE), first)))
        deciding = unless(approvals.AlreadyDecided, partial(decide, asked, second, yes=yes))
        return in_one(deciding, together(effect, {"event approval.decided": 1}), pay_everything)

    return action


def approving_as_the_second():
    return seconded(yes=True, effect=together(entered("seconding", "approved"), {"decision approved": 1}))


def refusing_as_the_second():
    effect = together(entered("seconding", "refused"), returned_amounts(LARGE), {"decision refused": 1})
    return seconded(yes=False, effect=effect)


def pay_everything() -> None:
    """Send what is approved, have the bank decide, and ask it."""
    payouts.send_due()
    decide_at_the_bank()
    payouts.send_due()


def decide_at_the_bank() -> None:
    """Make every order due and decide it; the bank stores the notices to send."""
    BankPayout.objects.filter(state="accepted").update(due_at=Now())
    while bank._decide_next():
        pass


def sending():
    player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")

    def action() -> Action:
        approve(a_withdrawal(player, AMOUNT), staff)
        stages = (NOTHING, SENDING, together(SENDING, SENT_TO_BANK))
        return Action(payouts.send_due, stages, pay_everything)

    return action


def the_bank_pays():
    """The bank decides and notifies a running house by HTTP, which may have received that when the bank is killed."""
    player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")
    decided = {"bank payout accepted": -1, "bank payout paid": 1, "bank payout notice owed": 2}
    sent = {"bank payout notice sent": 1}

    def action() -> Action:
        approve(a_withdrawal(player, AMOUNT), staff)
        payouts.send_due()
        BankPayout.objects.filter(state="accepted").update(due_at=Now())
        notified = together(decided, sent)
        stages = (NOTHING, decided, notified, together(notified, PAID), together(notified, sent, PAID))
        return Action(bank.decide_due, stages)

    return action


def notified(withdrawal: Withdrawal) -> None:
    """Send the last of the bank's messages, signed, to the house."""
    body = BankPayoutNotice.objects.filter(payout_id=withdrawal.reference).latest("pk").body
    signature = sign(body.encode(), settings.SANDBOX_BANK_KEY, at=seconds_now())
    answer = a_visitor().post(
        reverse("payout_callback"), body, content_type="application/json", headers={HEADER: signature}
    )
    assert answer.status_code == 200


def a_payout_notice(iban: str, effect: Counts):
    player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")

    def action() -> Action:
        withdrawal = approve(a_withdrawal(player, AMOUNT, iban=iban), staff)
        payouts.send_due()
        decide_at_the_bank()
        return in_one(partial(notified, withdrawal), effect)

    return action


def paid_by_call_back():
    return a_payout_notice(bank.TWICE, PAID)


def returned_by_call_back():
    return a_payout_notice(bank.CLOSED, RETURNED)


def paid_when_asked():
    player, staff = a_verified_player(real=MONEY), a_member_of_staff("finance")

    def action() -> Action:
        approve(a_withdrawal(player, AMOUNT, iban=bank.SILENT), staff)
        payouts.send_due()
        decide_at_the_bank()
        return in_one(payouts.send_due, PAID)

    return action


def closing_with_money():
    """Withdraw the balances of account and purse together."""
    in_purse = AMOUNT // 2
    back = {"journal leave": 1, "event purse.returned": 1, "purse R": -in_purse, "cash R": in_purse}
    effect = together(ASKED, back, {"account closing": 1, "event account.closing": 1})

    def action() -> Action:
        player = a_verified_player(real=AMOUNT)
        a_purse(player, in_purse)
        close = partial(closing.close, player=player, account=an_account(player), key=uuid4(), ip="10.0.0.1")
        return in_one(unless(closures.AlreadyClosing, close), effect)

    return action


def closing_without_money():
    effect = {
        "account closing": 1,
        "account closed": 1,
        "event account.closing": 1,
        "event account.closed": 1,
        "mail account_closed": 1,
    }

    def action() -> Action:
        close = partial(closing.close, player=a_player(), account=None, key=uuid4(), ip="10.0.0.1")
        return in_one(unless(closures.AlreadyClosing, close), effect)

    return action


def closing_after_the_payout():
    staff = a_member_of_staff("finance")
    effect = {"account closed": 1, "event account.closed": 1, "mail account_closed": 1}

    def action() -> Action:
        player = a_verified_player(real=AMOUNT)
        closing.close(player=player, account=an_account(player), key=uuid4(), ip="10.0.0.1")
        approve(Withdrawal.objects.get(player=player), staff)
        pay_everything()
        return in_one(closing.finish_closing, effect)

    return action
