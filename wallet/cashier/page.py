"""Context of the cashier, on its own page and next to a table."""

from typing import Any

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from players.models import Player
from players.protection import eligibility
from wallet import cashier, ledger
from wallet.cashier.forms import KeyForm
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, Payment, PaymentState
from wallet.money import format_money
from wallet.operator_wallet.operators import funds

MOST_SHOWN = 10  # maximum of pending deposits shown
# Bars that the player cannot lift. The page shows how long they last instead of the forms.
STOPPED = (eligibility.Code.LOCKED, eligibility.Code.EXCLUDED, eligibility.Code.REGISTER, eligibility.Code.CLOSING)


def what_a_player_has(player: Player) -> dict[str, Any]:
    """Return a player's balances, and the bar on deposits if the player cannot lift it."""
    bar = eligibility.bar_to_deposit(player)
    cash, purses = accounts.balances(player.pk), accounts.balances(player.pk, AccountKind.PURSE)
    in_play, banks = accounts.held(player.pk), accounts.in_banks(player.pk)
    return {
        "currency": player.currency,
        "real": funds(player, Mode.REAL),
        "free": cash[Mode.FREE],
        "in_play": in_play.get(Mode.REAL, 0),
        "free_in_play": in_play.get(Mode.FREE, 0),
        "bank": banks.get(Mode.REAL, 0),
        "free_bank": banks.get(Mode.FREE, 0),
        "purse": purses.get(Mode.REAL, 0),
        "pending": accounts.balances(player.pk, AccountKind.PENDING).get(Mode.REAL, 0),
        "free_purse": purses.get(Mode.FREE, 0),
        "free_standard": cashier.FREE_MONEY[player.currency],
        "limits": cashier.DEPOSIT_LIMITS[player.currency],
        "top_up_form": KeyForm(auto_id=False),
        "elsewhere": bar if bar and bar.code is eligibility.Code.REMOTE else None,
        "stopped": bar if bar and bar.code in STOPPED else None,
        "takes_deposits": bool(settings.PAYMENT_VARIANTS),
        "payments": Payment.objects.filter(player=player, state=PaymentState.WAITING).order_by("-begun_at")[
            :MOST_SHOWN
        ],
    }


def topped_up(player: Player, posted: ledger.Posted) -> str:
    """Return the message about a top-up."""
    if posted.replayed:
        return _("This was booked already. Nothing was booked twice.")
    currency, language = player.currency, get_language() or "en"
    (balance,) = posted.balances.values()
    return _("You now have %(amount)s of free money.") % {"amount": format_money(balance, currency, language)}
