"""Balance adjustments: one staff member asks, a second decides, the database posts.

Only cash is adjusted, not money on hold for bets, in a purse or pending payout. An adjustment is
not a deposit, stake or win, so it does not count towards limits or revenue. Error messages are for
staff.
"""

from collections.abc import Mapping
from uuid import uuid4

from django.db import transaction
from django.utils.translation import get_language, gettext, override

from audit import approvals, log
from audit.models import Approval
from audit.staff_text import in_sentence
from players import mail
from players.account.closures import state_of
from players.models import ClosureState, Player, Staff
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Adjustment, Journal, Mode, PostingKey, Why
from wallet.money import format_money

KIND = "balance.adjust"
ASK = "wallet.ask_adjustment"
DECIDE = "wallet.decide_adjustment"


class CannotAdjust(Exception):
    """The balance cannot be adjusted in this way now. The message is a sentence for staff."""


@transaction.atomic
def ask(*, player: Player, mode: Mode, amount: int, why: Why, reason: str, by: Staff) -> Approval:
    """Ask for an adjustment of cash by *amount* minor units, negative to take money away.

    The player reads *why*. *reason* is for the event log.

    Raises CannotAdjust, and approvals.AskedTwice while another request for the same player is open.
    """
    account = accounts.lock_account(player.pk, mode)
    _refuse(player, account, amount)
    request: dict[str, log.Json] = {
        "player": player.pk,
        "currency": player.currency,
        "mode": mode.value,
        "amount": amount,
        "why": why.value,
        "key": str(uuid4()),
    }
    return approvals.ask(kind=KIND, on=str(player), request=request, by=str(by), person=by.person, reason=reason)


def execute(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Post the approved adjustment, record it and mail the player. Raises approvals.CannotExecute."""
    amount, mode, why = int(str(request["amount"])), Mode(str(request["mode"])), Why(str(request["why"]))
    player = Player.objects.select_related("user").get(pk=int(str(request["player"])))
    account = accounts.lock_account(player.pk, mode)
    try:
        _refuse(player, account, amount)
        posted = ledger.adjust(verdict.approval_id)
    except CannotAdjust as error:
        raise approvals.CannotExecute(str(error)) from error
    except ledger.NotApproved as error:
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error
    asked = Approval.objects.get(pk=verdict.approval_id)
    after = posted.balances[account.pk]
    data: dict[str, log.Json] = {
        "approval": asked.pk,
        "asked_by": asked.by,
        "reason": asked.reason,
        "why": why.value,
        "journal": posted.journal_id,
        "amount": amount,
        "currency": player.currency,
        "mode": mode.value,
        "balance_before": after - amount,
        "balance_after": after,
        "method": f"approval {asked.pk}",
    }
    log.record("balance.adjusted", by=verdict.by, on=str(player), data=data)
    with override(player.user.language):
        shown = {
            "change": amount,
            "currency": player.currency,
            "amount": format_money(after, player.currency, player.user.language),
            "reason": str(why.label),
            "number": posted.journal_id,
            "is_free": mode is Mode.FREE,
        }
    mail.write(user=player.user, template="balance_adjusted", context=shown)


def describe(request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the adjustment for the approver: player, amount, mode and reason.

    The reason is the one that the player reads.
    """
    mode, why = Mode(str(request["mode"])), Why(str(request["why"]))
    amount, currency = int(str(request["amount"])), str(request["currency"])
    size = format_money(abs(amount), currency, get_language() or "en")
    is_added, whose = amount > 0, {"size": size, "player": f"player:{request['player']}"}
    return approvals.Description(
        gettext("Add %(size)s to the balance of %(player)s") % whose
        if is_added
        else gettext("Take %(size)s from the balance of %(player)s") % whose,
        (
            (gettext("Amount"), (gettext("%(size)s, to add") if is_added else gettext("%(size)s, to deduct")) % whose),
            (gettext("Money"), in_sentence(mode.label)),
            (gettext("Text for the player"), str(why.label)),
        ),
    )


def current_facts(request: Mapping[str, log.Json]) -> approvals.Facts:
    """Return the player's available balance now and after the adjustment."""
    mode, currency = Mode(str(request["mode"])), str(request["currency"])
    account = Account.objects.get(owner=int(str(request["player"])), kind=AccountKind.CASH, mode=mode)
    at_hand = (account.balance or 0) - account.held
    after = at_hand + int(str(request["amount"]))
    would = (
        format_money(after, currency, get_language() or "en") if after >= 0 else gettext("below zero; not possible now")
    )
    return (
        (gettext("Available now"), format_money(at_hand, currency, get_language() or "en")),
        (gettext("Available afterwards"), would),
    )


def journal_of(asked: Approval) -> int | None:
    """Return the id of the journal that executed an approval, or None."""
    done = Adjustment.objects.filter(approval=asked).first()
    if done is None:
        return None
    return PostingKey.objects.filter(key=done.key).values_list("journal_id", flat=True).first()


def of_journal(journal: Journal) -> Adjustment | None:
    """Return the adjustment that a journal executed, with its approval, or None."""
    if journal.key_id is None:
        return None
    return Adjustment.objects.select_related("approval__decision").filter(key=journal.key_id).first()


def _refuse(player: Player, account: Account, amount: int) -> None:
    """Raise CannotAdjust if the locked account cannot be adjusted by *amount*."""
    state = state_of(player)
    if state is ClosureState.ERASED:
        raise CannotAdjust(gettext("This account was erased and has no owner."))
    if state is not None and account.mode == Mode.FREE:
        raise CannotAdjust(gettext("This account is closed. Free money cannot be adjusted."))
    if player.uses_operator_wallet and account.mode == Mode.REAL:
        raise CannotAdjust(gettext("This player uses an operator’s wallet. Adjust the balance at the operator."))
    if amount == 0:
        raise CannotAdjust(gettext("The amount must not be zero."))
    at_hand = (account.balance or 0) - account.held
    if at_hand + amount < 0:
        shown = format_money(at_hand, account.currency, get_language() or "en")
        raise CannotAdjust(
            gettext("The player has %(shown)s available, less than the amount to deduct. The balance is unchanged.")
            % {"shown": shown}
        )
