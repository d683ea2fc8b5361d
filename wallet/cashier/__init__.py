"""The cashier: its forms, context of its page, free-money top-ups, limits of a single deposit.

Deposits are in `wallet.payments`. Error messages are sentences in the active language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

from django import forms
from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from audit import log
from players.models import Player
from players.protection import eligibility
from players.protection.limits import should_review
from wallet import house_stop, ledger
from wallet.ledger import accounts
from wallet.models import AccountKind, Currency, Mode, Payment, PaymentState
from wallet.money import LONGEST, MoneyError, format_amount, format_money, parse_money
from wallet.operator_wallet.operators import funds

STALE = {
    "required": gettext_lazy("This form was incomplete. Try again."),
    "invalid": gettext_lazy("This form was incomplete. Try again."),
}


class MoneyField(forms.CharField):
    """An amount in the reader's number notation.

    The cleaned value is in minor units of ``currency``.

    The form sets the currency, usually through `MoneyForm`. If *required* is false, an empty field
    is None. Errors are the sentences of `parse_money`.
    """

    currency: str = ""

    def __init__(self, *, required: bool = True, **kwargs: Any) -> None:
        attributes = {"inputmode": "decimal", "autocomplete": "off", "maxlength": LONGEST}
        kwargs.setdefault("label", gettext_lazy("Amount"))
        # parse_money reports a missing amount with an example. The browser's own message would be
        # in the browser's language.
        super().__init__(required=False, widget=forms.TextInput(attrs=attributes), **kwargs)
        self.may_be_empty = not required

    def prepare_value(self, value: Any) -> Any:
        """Format minor units in the reader's notation. Typed text stays as it is."""
        return format_amount(value, self.currency, get_language() or "en") if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Parse the amount."""
        text = super().clean(value)
        if self.may_be_empty and not text:
            return None
        try:
            return parse_money(text, self.currency, get_language() or "en")
        except MoneyError as error:
            raise forms.ValidationError(str(error), code="amount") from error


class KeyForm(forms.Form):
    """Base of forms whose action is executed once, however often they are sent."""

    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, error_messages=STALE)


class MoneyForm(forms.Form):
    """Base of forms whose amounts are all in one *currency*."""

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.currency = currency
        for field in self.fields.values():
            if isinstance(field, MoneyField):
                field.currency = currency


class AmountForm(MoneyForm, KeyForm):
    """Form with one amount."""

    amount = MoneyField()


class StatementForm(forms.Form):
    """Query of the statement: mode, and the movement before which the page begins."""

    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode])
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


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

# Amounts that a deposit form offers as buttons, in minor units. None is chosen beforehand.
PRESETS: Mapping[str, tuple[int, ...]] = {
    Currency.SEK: (100_00, 200_00, 500_00, 1_000_00),
    Currency.DKK: (100_00, 200_00, 500_00, 1_000_00),
    Currency.RON: (50_00, 100_00, 200_00, 500_00),
    Currency.EUR: (10_00, 20_00, 50_00, 100_00),
    Currency.GBP: (10_00, 20_00, 50_00, 100_00),
}

# The free-money balance after a top-up, in minor units; wallet_free_money in the database has the same.
FREE_MONEY: Mapping[str, int] = {
    Currency.SEK: 10_000_00,
    Currency.DKK: 10_000_00,
    Currency.RON: 5_000_00,
    Currency.EUR: 1_000_00,
    Currency.GBP: 1_000_00,
}


class CashierError(Exception):
    """Base error: the cashier refused and nothing moved. The message is for the player."""


class NotEligible(CashierError):
    """The player is not eligible to play, not even with free money."""


class FreeMoneyStopped(CashierError):
    """The house is stopped, which includes free play."""


class NothingToTopUp(CashierError):
    """The free-money balance is already at or above the standard amount."""


@transaction.atomic
def top_up_free(*, player: Player, key: UUID) -> ledger.Posted:
    """Raise the player's free money to the standard amount. The same *key* pays once.

    Raises NotEligible, FreeMoneyStopped, NothingToTopUp.
    """
    ineligibility = eligibility.check_play(player, real=False)
    if ineligibility:
        raise NotEligible(ineligibility.message)
    is_stopped = house_stop.is_stopped()
    key = uuid5(key, f"top_up:{player.pk}")
    account = accounts.lock_account(player.pk, Mode.FREE)
    before = ledger.find(key)
    if before is not None:
        return before
    if is_stopped:
        raise FreeMoneyStopped(
            _("All play is stopped at the moment, including free play. Your play money has not changed.")
        )
    try:
        journal_id, amount, after = ledger.top_up(player.pk, key=key)
    except ledger.EnoughPlayMoney as error:
        standard = format_money(FREE_MONEY[player.currency], player.currency, get_language() or "en")
        raise NothingToTopUp(_("You already have at least %(amount)s of play money.") % {"amount": standard}) from error
    _record_top_up(player, journal_id, amount, after)
    return ledger.Posted(journal_id, False, {account.pk: after})


@transaction.atomic
def give_first_free_money(player: Player) -> None:
    """Give a new player the standard amount of free money, so that they can play for free at once.

    Does nothing while the house is stopped: the player can top up later.
    """
    if house_stop.is_stopped():
        return
    journal_id, amount, after = ledger.top_up(player.pk, key=uuid4())
    _record_top_up(player, journal_id, amount, after)


def _record_top_up(player: Player, journal_id: int, amount: int, after: int) -> None:
    data: dict[str, log.Json] = {
        "journal": journal_id,
        "amount": amount,
        "currency": player.currency,
        "mode": Mode.FREE.value,
        "balance_before": after - amount,
        "balance_after": after,
        "method": "free",
    }
    log.record("top_up.posted", by=str(player), on=str(player), data=data)


def _presets(currency: str, left: int | None) -> list[tuple[str, int]]:
    """Return the amounts of the buttons that a player's limits leave room for: as typed, and in minor units."""
    language = get_language() or "en"
    offered = [amount for amount in PRESETS[currency] if left is None or amount <= left]
    return [(format_amount(amount, currency, language), amount) for amount in offered]


MOST_SHOWN = 10  # maximum of pending and held deposits shown
# Bars that the player cannot lift. The page shows how long they last instead of the forms.
STOPPED = (
    eligibility.Code.LOCKED,
    eligibility.Code.EXCLUDED,
    eligibility.Code.OTHER_ACCOUNT,
    eligibility.Code.REGISTER,
    eligibility.Code.CLOSING,
)
NO_DEPOSITS = (eligibility.Code.OPERATOR_PLAYER, eligibility.Code.LICENCE)  # bars on deposits alone


def what_a_player_has(player: Player) -> dict[str, Any]:
    """Return a player's balances, and the bar on deposits if the player cannot lift it."""
    ineligibility = eligibility.check_deposit(player)
    found = accounts.totals(player.pk)
    cash, purses, in_play, banks = found.balances(), found.balances(AccountKind.PURSE), found.held, found.in_banks
    real = funds(player, Mode.REAL) if player.uses_operator_wallet else cash[Mode.REAL]
    undecided = Payment.objects.filter(player=player, state__in=(PaymentState.WAITING, PaymentState.HELD))
    payments = undecided.order_by("-begun_at")[:MOST_SHOWN]
    room = ledger.room(player.pk, "deposit")
    return {
        "currency": player.currency,
        "real": real,
        "real_balance": real,  # of the header
        "free": cash[Mode.FREE],
        "in_play": in_play.get(Mode.REAL, 0),
        "free_in_play": in_play.get(Mode.FREE, 0),
        "bank": banks.get(Mode.REAL, 0),
        "free_bank": banks.get(Mode.FREE, 0),
        "purse": purses.get(Mode.REAL, 0),
        "pending": found.balances(AccountKind.PENDING).get(Mode.REAL, 0),
        "refund": found.balances(AccountKind.REFUND).get(Mode.REAL, 0),
        "held": [each for each in payments if each.state == PaymentState.HELD],
        "free_purse": purses.get(Mode.FREE, 0),
        "free_standard": FREE_MONEY[player.currency],
        "limits": DEPOSIT_LIMITS[player.currency],
        "deposit_room": room,
        "presets": _presets(player.currency, room.left if room else None),
        "limits_to_review": should_review(player),
        "top_up_form": KeyForm(auto_id=False),
        "elsewhere": ineligibility if ineligibility and ineligibility.code in NO_DEPOSITS else None,
        "stopped": ineligibility if ineligibility and ineligibility.code in STOPPED else None,
        "unknown": ineligibility if ineligibility and ineligibility.code is eligibility.Code.IDENTITY else None,
        "borrowed": ineligibility if ineligibility and ineligibility.code is eligibility.Code.BORROWED else None,
        "deposit_bar": ineligibility,
        "takes_deposits": bool(settings.PAYMENT_VARIANTS),
        "payments": [each for each in payments if each.state == PaymentState.WAITING],
    }


def topped_up(player: Player, posted: ledger.Posted) -> str:
    """Return the message about a top-up."""
    if posted.repeated:
        return _("This transaction was already booked. Nothing was booked twice.")
    currency, language = player.currency, get_language() or "en"
    (balance,) = posted.balances.values()
    return _("You now have %(amount)s of play money.") % {"amount": format_money(balance, currency, language)}
