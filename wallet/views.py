"""The cashier's page: balances, a deposit, free money, the latest movements. Thin: parse, call one service, render.

A form answers htmx with the fragment as it then stands; without JavaScript it leads back to the page, or shows it again
with what was wrong.
"""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from players.access import PlayerRequest, player_required
from players.rates import at_a_human_pace
from wallet import accounts, ledger, statements
from wallet import cashier as services
from wallet.forms import AmountForm, KeyForm, StatementForm
from wallet.models import AccountKind, Mode
from wallet.money import format_money


@player_required
@require_safe
def cashier(request: PlayerRequest) -> HttpResponse:
    """The page, or to htmx the fragment with another part of the movements."""
    asked = StatementForm(request.GET)
    mode, before = Mode.REAL, None
    if asked.is_valid():
        mode, before = Mode[asked.cleaned_data["mode"].upper()], asked.cleaned_data["before"]
    return _render(request, mode, before=before)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def cashier_deposit(request: PlayerRequest) -> HttpResponse:
    """Deposit sandbox money, or say why not: here, so the language switch may ask for this address by itself."""
    if request.method != "POST":
        return redirect("cashier")
    form = AmountForm(request.POST, currency=request.player.currency)
    if not form.is_valid():
        return _render(request, Mode.REAL, form=form)
    amount, key = form.cleaned_data["amount"], form.cleaned_data["key"]
    try:
        posted = services.sandbox_deposit(player=request.player, amount=amount, key=key)
    except services.FormUsed as error:
        return _render(request, Mode.REAL, error=str(error))
    except services.CashierError as error:
        form.add_error("amount", str(error))
        return _render(request, Mode.REAL, form=form)
    return _done(request, Mode.REAL, amount, posted)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def cashier_top_up(request: PlayerRequest) -> HttpResponse:
    """Fill up free money, or say why not: here, so the language switch may ask for this address by itself."""
    if request.method != "POST":
        return redirect("cashier")
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _render(request, Mode.FREE, error=str(form.errors["key"][0]))
    try:
        posted = services.top_up_free(player=request.player, key=form.cleaned_data["key"])
    except services.CashierError as error:
        return _render(request, Mode.FREE, error=str(error))
    return _done(request, Mode.FREE, None, posted)


def _done(request: PlayerRequest, mode: Mode, amount: int | None, posted: ledger.Posted) -> HttpResponse:
    sentence = _sentence(request, amount, posted)
    if request.htmx:
        return _render(request, mode, said=sentence)
    messages.success(request, sentence)
    return redirect(f"{reverse('cashier')}?mode={mode.name.lower()}")


def _sentence(request: PlayerRequest, amount: int | None, posted: ledger.Posted) -> str:
    if posted.replayed:
        return _("This was booked already. Nothing was booked twice.")
    currency, language = request.player.currency, get_language() or "en"
    if amount is not None:
        return _("%(amount)s was deposited.") % {"amount": format_money(amount, currency, language)}
    (balance,) = posted.balances.values()
    return _("You now have %(amount)s of free money.") % {"amount": format_money(balance, currency, language)}


def _render(
    request: PlayerRequest,
    mode: Mode,
    *,
    before: int | None = None,
    form: AmountForm | None = None,
    error: str = "",
    said: str = "",
) -> HttpResponse:
    player = request.player
    held, purses = accounts.balances(player.pk), accounts.balances(player.pk, AccountKind.PURSE)
    context = {
        "currency": player.currency,
        "real": held[Mode.REAL],
        "free": held[Mode.FREE],
        "purse": purses.get(Mode.REAL, 0),
        "free_purse": purses.get(Mode.FREE, 0),
        "free_standard": services.FREE_MONEY[player.currency],
        "limits": services.DEPOSIT_LIMITS[player.currency],
        "form": form or AmountForm(currency=player.currency),
        "top_up_form": KeyForm(auto_id=False),
        "statement": statements.statement(player.pk, mode, before=before),
        "mode_word": mode.name.lower(),
        "first": before is None,
        "error": error,
        "said": said,
    }
    return render(request, "wallet/_cashier.html" if request.htmx else "wallet/cashier.html", context)
