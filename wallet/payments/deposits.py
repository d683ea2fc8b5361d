"""Begin a deposit. Error messages are sentences in the active language."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID, uuid5

import psycopg
from django.db import DatabaseError, transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from audit import log
from players.models import Player
from players.protection import eligibility, registers, screening
from wallet import house_stop, limits
from wallet.cashier import DEPOSIT_LIMITS, CashierError
from wallet.ledger import LimitReached, accounts
from wallet.models import Mode, Payment
from wallet.money import format_money
from wallet.payments.notifications import journal_key
from wallet.payments.providers import NoProvider, OnlyCredit, first_variant, in_decimals

NOT_ELIGIBLE: Final = ("SB086", "SB145")  # SQLSTATEs of wallet_refuse_unknown and wallet_reserve; detail: the code


class NoDeposits(CashierError):
    """No payment provider is configured."""


class DepositTooSmall(CashierError):
    """The amount is below the smallest deposit."""


class DepositTooLarge(CashierError):
    """The amount is above the largest deposit."""


class FormUsed(CashierError):
    """The form's idempotency key was used for a deposit of another amount."""


class DepositNotEligible(CashierError):
    """The player is not eligible to deposit. *page* is the URL name of the page that helps."""

    def __init__(self, ineligibility: eligibility.Ineligibility) -> None:
        super().__init__(ineligibility.message)
        self.page = ineligibility.page


class DepositsStopped(CashierError):
    """The house is stopped."""


def begin(*, player: Player, amount: int, key: UUID) -> Payment:
    """Begin a deposit of *amount* minor units and return its payment. No money moves yet.

    The same *key* begins it once. Raises DepositsStopped, NoDeposits, DepositTooSmall,
    DepositTooLarge, FormUsed, DepositNotEligible, LimitReached. Each refusal is recorded.
    """
    registers.ask_where_due(player)
    if not Payment.objects.filter(player=player).exists():
        screening.screen(player)
    try:
        with _eligible_still(player):
            return _begin(player, amount, uuid5(key, f"deposit:{player.pk}"))
    except (CashierError, LimitReached) as refusal:
        data: dict[str, log.Json] = {"reason": type(refusal).__name__, "amount": amount, "currency": player.currency}
        log.record_refusal("deposit.refused", by=str(player), on=str(player), data=data)
        raise


@contextmanager
def _eligible_still(player: Player) -> Iterator[None]:
    """Raise DepositNotEligible for a reason that only the database knew: it came while the deposit was begun."""
    try:
        yield
    except DatabaseError as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error) or cause.sqlstate not in NOT_ELIGIBLE:
            raise
        reason = eligibility.Code(cause.diag.message_detail or "")
        raise DepositNotEligible(eligibility.explain(player, reason)) from error


@transaction.atomic
def _begin(player: Player, amount: int, payment_id: UUID) -> Payment:
    """Begin the deposit under the account's lock.

    Concurrent deposits count each other under the limits. Eligibility and house stop are read
    before that lock. A new account lock or exclusion waits for transactions that have read
    eligibility, and then returns money from games under the same account lock. A house stop waits
    in the same way.
    """
    ineligibility, is_stopped = eligibility.check_deposit(player), house_stop.is_stopped()
    accounts.lock_account(player.pk, Mode.REAL)
    before = Payment.objects.filter(pk=payment_id).first()
    if before is not None:
        if before.amount != amount:
            raise FormUsed(
                _(
                    "This form has already been sent with a different amount. Check your deposits before "
                    "you send it again."
                )
            )
        return before
    if is_stopped:
        raise DepositsStopped(
            _(
                "Play is stopped at the moment, and deposits are not possible. No money was taken. "
                "You can still withdraw."
            )
        )
    try:
        variant = first_variant(player)
    except OnlyCredit as error:
        raise NoDeposits(
            _("Deposits by credit are not allowed in your country, and there is no other way to deposit here.")
        ) from error
    except NoProvider as error:
        raise NoDeposits(_("Deposits are not possible here because there is no payment provider.")) from error
    _check(amount, player.currency)
    if ineligibility is not None:
        raise DepositNotEligible(ineligibility)
    limits.reserve_deposit(player=player, key=journal_key(payment_id), amount=amount)
    payment = Payment.objects.create(
        id=payment_id,
        token=str(payment_id),
        player=player,
        variant=variant,
        amount=amount,
        total=in_decimals(amount),
        currency=player.currency,
        description="Sabot",
    )
    data: dict[str, log.Json] = {
        "payment": str(payment_id),
        "provider": variant,
        "amount": amount,
        "currency": player.currency,
    }
    log.record("deposit.begun", by=str(player), on=str(player), data=data)
    return payment


def _check(amount: int, currency: str) -> None:
    single, language = DEPOSIT_LIMITS[currency], get_language() or "en"
    if amount < single.smallest:
        smallest = {"amount": format_money(single.smallest, currency, language)}
        raise DepositTooSmall(_("The minimum deposit is %(amount)s.") % smallest)
    if amount > single.largest:
        largest = {"amount": format_money(single.largest, currency, language)}
        raise DepositTooLarge(_("The maximum single deposit is %(amount)s.") % largest)
