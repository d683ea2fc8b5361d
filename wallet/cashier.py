"""Money in: sandbox deposits, which stand in for a payment provider, and free money whenever a player asks.

Every message of an error is a sentence in the active language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid5

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from audit import log
from players.models import Player
from wallet import accounts, ledger
from wallet.models import AccountKind, Currency, Mode
from wallet.money import format_money


@dataclass(frozen=True)
class DepositLimits:
    """The smallest and the largest single deposit, in minor units."""

    smallest: int
    largest: int


DEPOSIT_LIMITS: Mapping[str, DepositLimits] = {
    Currency.SEK: DepositLimits(100_00, 50_000_00),
    Currency.DKK: DepositLimits(100_00, 50_000_00),
    Currency.RON: DepositLimits(50_00, 25_000_00),
    Currency.EUR: DepositLimits(10_00, 5_000_00),
    Currency.GBP: DepositLimits(10_00, 5_000_00),
}

# What topping up brings free money to, in minor units.
FREE_MONEY: Mapping[str, int] = {
    Currency.SEK: 10_000_00,
    Currency.DKK: 10_000_00,
    Currency.RON: 5_000_00,
    Currency.EUR: 1_000_00,
    Currency.GBP: 1_000_00,
}


class CashierError(Exception):
    """The cashier refuses; nothing has moved. The message is for the player."""


class NoSandbox(CashierError):
    """Sandbox money in a house that is no demo."""


class DepositTooSmall(CashierError):
    """Below the smallest deposit."""


class DepositTooLarge(CashierError):
    """Above the largest deposit."""


class FormUsed(CashierError):
    """The form's key has paid another amount."""


class NothingToTopUp(CashierError):
    """There is as much free money as a top-up would bring."""


def sandbox_deposit(*, player: Player, amount: int, key: UUID) -> ledger.Posted:
    """Give the player *amount* minor units of real money that nobody has paid for. The same *key* pays once.

    Raises NoSandbox, DepositTooSmall, DepositTooLarge, FormUsed; each is recorded.
    """
    try:
        return _deposit(player, amount, uuid5(key, f"deposit:{player.pk}"))
    except CashierError as refusal:
        data: dict[str, log.Json] = {"reason": type(refusal).__name__, "amount": amount, "currency": player.currency}
        log.record_refusal("deposit.refused", by=str(player), on=str(player), data=data)
        raise


@transaction.atomic
def top_up_free(*, player: Player, key: UUID) -> ledger.Posted:
    """Bring the player's free money to the house's standard amount. The same *key* pays once.

    Raises NothingToTopUp.
    """
    key = uuid5(key, f"top_up:{player.pk}")
    account = accounts.lock_account(player.pk, Mode.FREE)
    before = ledger.find(key)
    if before is not None:
        return before
    standard = FREE_MONEY[player.currency]
    missing = standard - (account.balance or 0)
    if missing <= 0:
        raise NothingToTopUp(
            _("You have at least %(amount)s of free money already.")
            % {"amount": format_money(standard, player.currency, get_language() or "en")}
        )
    return _pay(player, Mode.FREE, missing, key)


@transaction.atomic
def _deposit(player: Player, amount: int, key: UUID) -> ledger.Posted:
    if not settings.DEMO:
        raise NoSandbox(_("This house has no sandbox money: deposits need a payment provider."))
    _check(amount, player.currency)
    try:
        return _pay(player, Mode.REAL, amount, key)
    except ledger.PostingConflict as conflict:
        raise FormUsed(
            _("This form has been sent before with another amount. Look at your balance before you send it again.")
        ) from conflict


def _check(amount: int, currency: str) -> None:
    limits, language = DEPOSIT_LIMITS[currency], get_language() or "en"
    if amount < limits.smallest:
        smallest = {"amount": format_money(limits.smallest, currency, language)}
        raise DepositTooSmall(_("The smallest deposit is %(amount)s.") % smallest)
    if amount > limits.largest:
        largest = {"amount": format_money(limits.largest, currency, language)}
        raise DepositTooLarge(_("The largest single deposit is %(amount)s.") % largest)


def _pay(player: Player, mode: Mode, amount: int, key: UUID) -> ledger.Posted:
    """Post *amount* from the house's side to the player's, and record it unless the key had done so before."""
    kind, source = ("deposit", AccountKind.CASHIER) if mode is Mode.REAL else ("top_up", AccountKind.MINT)
    cash = accounts.player_account(player.pk, mode)
    lines = (
        ledger.Line(accounts.house_account(source, player.currency, mode), player.currency, mode, -amount),
        ledger.Line(cash, player.currency, mode, amount),
    )
    (posted,) = ledger.post(ledger.Journal(key, kind, lines))
    if not posted.replayed:
        after = posted.balances[cash]
        log.record(
            f"{kind}.posted",
            by=str(player),
            on=str(player),
            data={
                "journal": posted.journal_id,
                "amount": amount,
                "currency": player.currency,
                "mode": mode.value,
                "balance_before": after - amount,
                "balance_after": after,
                "method": "sandbox" if mode is Mode.REAL else "free",
            },
        )
    return posted
