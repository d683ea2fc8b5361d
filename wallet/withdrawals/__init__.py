"""Withdrawals: requested, approved by finance, sent to the bank, paid or returned.

A large withdrawal needs the approval of two people. Each step is one transaction that locks the
withdrawal's row before any account. It sets the status, stores the step, moves the money and mails
the player. `wallet.payouts` talks to the bank. Error messages for players are in the active
language, those for staff in English.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from uuid import UUID, uuid5

from celery import current_app
from django.db import DatabaseError, connection, transaction
from django.db.models import Sum
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from audit import approvals, log
from audit.models import Clock
from audit.raw_rows import sqlstate
from audit.staff_text import in_sentence
from players import mail
from players.identity.verification import is_verified
from players.models import Player
from players.protection import eligibility
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import AccountKind, Currency, Mode, PayoutAccount, Withdrawal, WithdrawalStatus, WithdrawalStep
from wallet.money import format_money

Result = TypeVar("Result")

STATUS: Mapping[str, Promise] = {
    WithdrawalStatus.REQUESTED: gettext_lazy("Under review"),
    WithdrawalStatus.SECONDING: gettext_lazy("Under review"),
    WithdrawalStatus.APPROVED: pgettext_lazy("withdrawal", "Approved"),
    WithdrawalStatus.SENDING: gettext_lazy("Sent to the bank"),
    WithdrawalStatus.PAID: pgettext_lazy("withdrawal", "Paid out"),
    WithdrawalStatus.RETURNED: gettext_lazy("Returned by the bank"),
    WithdrawalStatus.REFUSED: pgettext_lazy("withdrawal", "Refused"),
    WithdrawalStatus.CANCELLED: pgettext_lazy("withdrawal", "Cancelled"),
}

# Reasons for refusal by staff. The code is stored. The player reads the sentence in their language.
REASONS: Mapping[str, Promise] = {
    "details": gettext_lazy("The details of the bank account could not be confirmed."),
    "holder": gettext_lazy("The bank account does not belong to you. We pay only to your own account."),
    "identity": gettext_lazy("We need to verify your identity again before we can pay out."),
    "enquiry": gettext_lazy("We need an answer from you first. Customer service will write to you."),
}

UNDECIDED = gettext_lazy("Your withdrawal was not approved after a second review. Customer service can tell you more.")

# Reasons for a return by the bank, by the code in the provider's answer.
BANK_REASONS: Mapping[str, Promise] = {
    "account_closed": gettext_lazy("The bank says that this account is closed."),
    "account_unknown": gettext_lazy("The bank could not find this account."),
    "not_accepted": gettext_lazy("The bank did not accept the payment."),
}


def bank_reason(code: str) -> Promise:
    """Return the sentence for a bank's reason code, for lazy translation.

    Unknown codes get the general sentence.
    """
    return BANK_REASONS.get(code, BANK_REASONS["not_accepted"])


def reason_message(reason: str) -> str:
    """Return the sentence for the player from a stored reason (a code and a staff note)."""
    return str(REASONS.get(reason.partition(":")[0], UNDECIDED))


METHOD = "bank transfer"
HOUSE = "house"
HINT_EXPIRES = 60  # seconds; the periodic task finds what a dropped hint missed

TEMPLATES = {
    WithdrawalStatus.REQUESTED: "withdrawal_requested",
    WithdrawalStatus.APPROVED: "withdrawal_approved",
    WithdrawalStatus.PAID: "withdrawal_paid",
    WithdrawalStatus.RETURNED: "withdrawal_returned",
    WithdrawalStatus.REFUSED: "withdrawal_refused",
    WithdrawalStatus.CANCELLED: "withdrawal_cancelled",
}


@dataclass(frozen=True)
class Hand:
    """Record of the execution of a step: executor, method and reason.

    *message* is the reason that the player reads.
    """

    by: str
    handler: str = HOUSE
    method: str = METHOD
    reason: str = ""
    message: str | Promise = ""


def give_back(found: Withdrawal, after: WithdrawalStatus, hand: Hand) -> Withdrawal:
    """Return the pending money to the player's cash and set the status. *found* is locked."""
    cash, pending = accounts.lock_cash_and(AccountKind.PENDING, found.player_id, Mode.REAL)
    journal = post(found, "withdraw_returned", pending.pk, cash.pk)
    return move(found, after, hand, journal)


def post(withdrawal: Withdrawal, kind: str, source: int, target: int) -> int:
    """Move the amount under the step's idempotency key, and return the journal id."""
    lines = (
        ledger.Line(source, withdrawal.currency, Mode.REAL, -withdrawal.amount),
        ledger.Line(target, withdrawal.currency, Mode.REAL, withdrawal.amount),
    )
    (posted,) = ledger.post(ledger.Journal(ledger.system_key(withdrawal.reference, kind), kind, lines))
    return posted.journal_id


def move(found: Withdrawal, after: WithdrawalStatus, hand: Hand, journal: int | None = None) -> Withdrawal:
    """Set the status of a locked withdrawal to *after*."""
    before = found.status
    Withdrawal.objects.filter(pk=found.pk).update(status=after)
    found.status = after
    enter(found, before, hand, journal)
    return found


def enter(found: Withdrawal, before: str, hand: Hand, journal: int | None = None) -> None:
    """Store the step, record the event, and mail the player if the status has a mail."""
    after = WithdrawalStatus(found.status)
    step = WithdrawalStep.objects.create(
        withdrawal=found,
        before=before,
        after=after,
        by=hand.by,
        handler=hand.handler,
        method=hand.method,
        reason=hand.reason,
        journal_id=journal,
    )
    data: dict[str, log.Json] = {
        "player": str(found.player),
        "account": str(found.account_id),
        "amount": found.amount,
        "currency": found.currency,
        "step": step.pk,
        "before": before,
        "method": hand.method,
        "handler": hand.handler,
        "reason": hand.reason,
        "journal": journal,
    }
    log.record(f"withdrawal.{after.value}", by=hand.by, on=str(found), data=data)
    if after is WithdrawalStatus.APPROVED:
        transaction.on_commit(_ask_to_send)
    if after in TEMPLATES and before != after:
        context = {"withdrawal": found, "account": found.account, "reason": hand.message}
        mail.write(user=found.player.user, template=TEMPLATES[after], context=context)


def _ask_to_send() -> None:
    """Start the payout task. If the hint is lost, the periodic task sends the payout."""
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.send_payouts", retry=False, expires=HINT_EXPIRES)


KIND = "withdrawal"  # kind of the approval
UNCONFIRMED = gettext_lazy("The player’s identity is not verified.")

# The smallest withdrawal, in minor units. A player with less may withdraw all of it.
SMALLEST: Mapping[str, int] = {
    Currency.SEK: 100_00,
    Currency.DKK: 100_00,
    Currency.RON: 50_00,
    Currency.EUR: 10_00,
    Currency.GBP: 10_00,
}

# Above this amount in minor units, a withdrawal needs two people. The player's other withdrawals of
# the last 24 hours count too. The database enforces the same amounts (`wallet_two_people_above`).
TWO_PEOPLE_ABOVE: Mapping[str, int] = {
    Currency.SEK: 20_000_00,
    Currency.DKK: 20_000_00,
    Currency.RON: 10_000_00,
    Currency.EUR: 2_000_00,
    Currency.GBP: 2_000_00,
}
A_DAY = timedelta(days=1)
NOT_AGREED = "SB032"  # SQLSTATE of wallet_move_withdrawal, and the next two
IS_HELD = "SB137"
NOT_IN_ORDER = "23001"
HELD = gettext_lazy("This payout is held. Two people must release it first.")


class WithdrawalError(Exception):
    """Base error: nothing moved.

    The message is for the player or staff member who made the request.
    """


class PaidElsewhere(WithdrawalError):
    """The player's money is in an operator wallet."""


class TooSmall(WithdrawalError):
    """The amount is below the smallest withdrawal."""


class NotEnough(WithdrawalError):
    """The amount exceeds the available cash balance."""


class NotVerified(WithdrawalError):
    """The player's identity is not verified."""


class ForeignAccount(WithdrawalError):
    """The bank account belongs to another player."""


class FormUsed(WithdrawalError):
    """The form's idempotency key was used for another withdrawal."""


class MayNotCancel(WithdrawalError):
    """The player's jurisdiction or the withdrawal's status does not allow it."""


class Held(WithdrawalError):
    """A fact speaks against the payout that two people have not released."""


class NotOpen(WithdrawalError):
    """The withdrawal does not exist or has another status by now."""


def request(*, player: Player, amount: int, account: PayoutAccount, key: UUID) -> Withdrawal:
    """Move *amount* minor units from the player's cash to pending, for *account*.

    The same *key* does it once.

    Excluded players and players on a break can withdraw too.

    Raises NotVerified, TooSmall, NotEnough, ForeignAccount, FormUsed, PaidElsewhere. Each refusal
    is recorded.
    """
    try:
        return _request(player, amount, account, uuid5(key, f"withdraw:{player.pk}"))
    except WithdrawalError as refusal:
        data: dict[str, log.Json] = {"why": type(refusal).__name__, "amount": amount, "currency": player.currency}
        log.record_refusal("withdrawal.not_taken", by=str(player), on=str(player), data=data)
        raise


@transaction.atomic
def _request(player: Player, amount: int, account: PayoutAccount, key: UUID) -> Withdrawal:
    accounts.open_pending(player)
    cash, pending = accounts.lock_cash_and(AccountKind.PENDING, player.pk, Mode.REAL)
    before = Withdrawal.objects.filter(key=key).first()
    if before is not None:
        if (before.amount, before.account_id) != (amount, account.pk):
            raise FormUsed(
                _(
                    "This form has already been sent with a different amount. Check your balance before "
                    "you send it again."
                )
            )
        return before
    _check(player, amount, account, (cash.balance or 0) - cash.held)
    asked = Withdrawal.objects.create(
        player=player,
        account=account,
        key=key,
        amount=amount,
        currency=player.currency,
        takes_two=_takes_two(player, amount),
    )
    journal = post(asked, "withdraw", cash.pk, pending.pk)
    enter(asked, "", Hand(by=str(player)), journal)
    return asked


def _check(player: Player, amount: int, account: PayoutAccount, has: int) -> None:
    language = get_language() or "en"
    if player.uses_operator_wallet:
        raise PaidElsewhere(eligibility.explain(player, eligibility.Code.OPERATOR_PLAYER).message)
    if account.player_id != player.pk:
        raise ForeignAccount(_("We pay only to your own account."))
    if not is_verified(player):
        raise NotVerified(_("You must verify your identity before your first withdrawal."))
    if amount > has:
        message = _("You can withdraw up to %(amount)s.") % {"amount": format_money(has, player.currency, language)}
        if accounts.totals(player.pk).balances(AccountKind.PURSE).get(Mode.REAL, 0):
            message += " " + _("Your balance in Golden Baccarat returns to your account when you leave the game.")
        if accounts.totals(player.pk).in_banks.get(Mode.REAL, 0):
            message += " " + _(
                "The money in your bank at Chemin de Fer returns to your account when you give up the bank."
            )
        raise NotEnough(message)
    smallest = SMALLEST[player.currency]
    if amount < min(smallest, has):
        least = {"amount": format_money(smallest, player.currency, language)}
        raise TooSmall(_("The minimum withdrawal is %(amount)s, or your whole balance if it is lower.") % least)


def _takes_two(player: Player, amount: int) -> bool:
    """Return whether two people must approve.

    Requests of the last 24 hours are added, so splitting does not help.
    """
    gone = (WithdrawalStatus.RETURNED, WithdrawalStatus.REFUSED, WithdrawalStatus.CANCELLED)
    lately = Withdrawal.objects.filter(player=player, at__gt=Clock() - A_DAY).exclude(status__in=gone)
    asked = lately.aggregate(total=Sum("amount"))["total"] or 0
    return amount + asked > TWO_PEOPLE_ABOVE[player.currency]


def may_cancel(withdrawal: Withdrawal) -> bool:
    """Return whether the player may cancel: allowed by the jurisdiction and not approved yet."""
    return withdrawal.status == WithdrawalStatus.REQUESTED and withdrawal.player.jurisdiction.may_cancel_withdrawals


@transaction.atomic
def cancel(*, player: Player, withdrawal_id: int) -> Withdrawal:
    """Cancel the player's own withdrawal. A second call does nothing.

    Raises NotOpen, MayNotCancel.
    """
    found = lock(withdrawal_id)
    if found.player_id != player.pk:
        raise NotOpen(_("This withdrawal could not be found."))
    if found.status == WithdrawalStatus.CANCELLED:
        return found
    if not player.jurisdiction.may_cancel_withdrawals:
        raise MayNotCancel(_("In your country, a withdrawal cannot be cancelled once you have requested it."))
    if not may_cancel(found):
        raise MayNotCancel(_("This withdrawal has already been decided. It can no longer be cancelled."))
    return give_back(found, WithdrawalStatus.CANCELLED, Hand(by=str(player)))


@transaction.atomic
def approve(*, withdrawal_id: int, by: str, person: UUID, reason: str) -> Withdrawal:
    """Approve a withdrawal.

    For a large one this is the first of two approvals and asks for the second.

    Raises NotOpen, NotVerified, Held, and approvals.AskedTwice while the second approval is pending.
    """
    found = lock(withdrawal_id)
    if found.status not in (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING):
        raise NotOpen(
            gettext("This withdrawal is %(status)s. It can no longer be approved.")
            % {"status": in_sentence(found.get_status_display())}
        )
    if not is_verified(found.player):
        raise NotVerified(UNCONFIRMED)
    if not found.takes_two:
        return _unless_held(lambda: move(found, WithdrawalStatus.APPROVED, Hand(by=by, handler=by, reason=reason)))
    _refuse_held(found)
    asked = approvals.ask(kind=KIND, on=str(found), request=payment_of(found), by=by, person=person, reason=reason)
    hand = Hand(by=by, handler=by, method=f"approval {asked.pk}", reason=reason)
    if found.status == WithdrawalStatus.SECONDING:  # the previous request for approval has expired
        enter(found, found.status, hand)
        return found
    return move(found, WithdrawalStatus.SECONDING, hand)


@transaction.atomic
def refuse(*, withdrawal_id: int, by: str, code: str, note: str) -> Withdrawal:
    """Refuse a withdrawal that is not approved, or not approved by a second person in time, or held since.

    The money goes back.

    *code* is one of `REASONS`, which the player reads. *note* is for the event log only. Raises
    NotOpen.
    """
    found = lock(withdrawal_id)
    is_held = found.status == WithdrawalStatus.APPROVED and _is_held(found)
    if not (found.status == WithdrawalStatus.REQUESTED or _is_unseconded(found) or is_held):
        raise NotOpen(
            gettext("This withdrawal is %(status)s. It can no longer be refused here.")
            % {"status": in_sentence(found.get_status_display())}
        )
    hand = Hand(by=by, handler=by, reason=f"{code}: {note}", message=REASONS[code])
    try:
        with transaction.atomic():
            return give_back(found, WithdrawalStatus.REFUSED, hand)
    except DatabaseError as error:
        if sqlstate(error) != NOT_IN_ORDER:
            raise
        raise NotOpen(
            gettext("The hold on this payout has just ended. The payout is approved and can no longer be refused.")
        ) from error


def _is_unseconded(withdrawal: Withdrawal) -> bool:
    """Return whether one person approved it and the time for the second approval has passed."""
    awaited = approvals.waiting().filter(kind=KIND, on=str(withdrawal))
    return withdrawal.status == WithdrawalStatus.SECONDING and not awaited.exists()


def second(frozen: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Give the second approval, for exactly the payment that the first person approved.

    Raises CannotExecute.
    """
    found = lock(_number(frozen["withdrawal"]))
    if found.status != WithdrawalStatus.SECONDING or payment_of(found) != frozen:
        raise approvals.CannotExecute(gettext("The withdrawal has changed since this request."))
    if not is_verified(found.player):
        raise approvals.CannotExecute(UNCONFIRMED)
    try:
        with transaction.atomic():
            move(found, WithdrawalStatus.APPROVED, _hand_of(verdict))
    except DatabaseError as error:
        if sqlstate(error) == IS_HELD:
            raise approvals.CannotExecute(HELD) from error
        if sqlstate(error) != NOT_AGREED:
            raise
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error


def turn_down(frozen: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Return the money because the second person refused. Raises CannotExecute."""
    found = lock(_number(frozen["withdrawal"]))
    if found.status != WithdrawalStatus.SECONDING:
        raise approvals.CannotExecute(gettext("The withdrawal has changed since this request."))
    give_back(found, WithdrawalStatus.REFUSED, _hand_of(verdict, UNDECIDED))


def describe(frozen: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the payment for the approver."""
    amount = format_money(_number(frozen["amount"]), str(frozen["currency"]), get_language() or "en")
    return approvals.Description(
        gettext("Pay %(amount)s to %(player)s") % {"amount": amount, "player": f"player:{frozen['player']}"},
        (
            (gettext("Withdrawal"), f"withdrawal:{frozen['withdrawal']}"),
            (gettext("Amount"), amount),
            (gettext("Reference"), str(frozen["reference"])),
            (gettext("Player"), f"player:{frozen['player']}"),
            (gettext("Bank account"), str(frozen["account"])),
        ),
    )


def send(withdrawal_id: int, *, provider: str) -> bool:
    """Set an approved withdrawal to `SENDING` before the provider gets the order.

    Returns whether this call did it. One that is held stays approved until two people release it.
    """
    with suppress(Held):
        return _unless_held(lambda: _send(withdrawal_id, provider))
    return False


def _send(withdrawal_id: int, provider: str) -> bool:
    with transaction.atomic():
        found = Withdrawal.objects.filter(pk=withdrawal_id, status=WithdrawalStatus.APPROVED)
        row = found.select_for_update(skip_locked=True).first()
        if row is not None:
            move(row, WithdrawalStatus.SENDING, Hand(by="system", handler=provider))
        return row is not None


def _unless_held(action: Callable[[], Result]) -> Result:
    """Run *action* in a transaction. Raises Held."""
    try:
        with transaction.atomic():
            return action()
    except DatabaseError as error:
        if sqlstate(error) != IS_HELD:
            raise
        raise Held(HELD) from error


def _refuse_held(found: Withdrawal) -> None:
    """Raise Held unless two people have released what speaks against the payout."""
    if _is_held(found):
        raise Held(HELD)


def _is_held(found: Withdrawal) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_payout_is_held(w) FROM wallet_withdrawal AS w WHERE w.id = %s", [found.pk])
        (is_held,) = cursor.fetchone()
    return bool(is_held)


def pay(locked: Withdrawal, *, provider: str, number: str) -> None:
    """Record that the bank paid, under its *number*.

    *locked* is the locked row of a withdrawal being sent.
    """
    account = accounts.player_account(locked.player_id, Mode.REAL, AccountKind.PENDING)
    house = accounts.house_account(AccountKind.CASHIER, locked.currency, Mode.REAL)
    journal = post(locked, "withdraw_paid", account, house)
    move(locked, WithdrawalStatus.PAID, Hand(by="system", handler=provider, reason=number), journal)


def take_back(locked: Withdrawal, *, provider: str, code: str) -> None:
    """Record that the bank returned it, and why.

    *locked* is the locked row of a withdrawal being sent.
    """
    hand = Hand(by="system", handler=provider, reason=code, message=bank_reason(code))
    give_back(locked, WithdrawalStatus.RETURNED, hand)


def _hand_of(verdict: approvals.Verdicted, message: str | Promise = "") -> Hand:
    method = f"approval {verdict.approval_id}"
    return Hand(by=verdict.by, handler=verdict.by, method=method, reason=verdict.reason, message=message)


def payment_of(withdrawal: Withdrawal) -> dict[str, log.Json]:
    """Return the payment that two people approve, exactly as the bank will get it."""
    return {
        "withdrawal": withdrawal.pk,
        "player": withdrawal.player_id,
        "amount": withdrawal.amount,
        "currency": withdrawal.currency,
        "reference": str(withdrawal.reference),
        "account": str(withdrawal.account),
        "account_hash": bytes(withdrawal.account.fingerprint).hex(),
    }


def _number(value: log.Json) -> int:
    assert isinstance(value, int)  # noqa: S101  (as `payment_of` wrote it)
    return value


def lock(withdrawal_id: int) -> Withdrawal:
    """Lock a withdrawal until the transaction ends. Raises NotOpen."""
    found = Withdrawal.objects.select_for_update().filter(pk=withdrawal_id).first()
    if found is None:
        raise NotOpen(_("This withdrawal could not be found."))
    return found
