"""The cashier's page: balances, a deposit, free money, the latest movements. Thin: parse, call one service, render.

A form answers htmx with the fragment as it then stands; without JavaScript it leads back to the page, or shows it again
with what was wrong.
"""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from players import gate
from players.access import PlayerRequest, player_required
from players.rates import at_a_human_pace
from wallet import accounts, ledger, statements
from wallet import cashier as services
from wallet.forms import AmountForm, KeyForm, StatementForm
from wallet.ledger import LimitReached
from wallet.models import AccountKind, Mode, Payment, PaymentState
from wallet.money import format_money
from wallet.payments import beginning

MOST_SHOWN = 10  # deposits in progress
# Where the forms make way for until when that is so: there is nothing the player could do about it.
STOPPED = (gate.Code.EXCLUDED, gate.Code.REGISTER, gate.Code.CLOSING)


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
    """Begin a deposit and lead to the bank, or say why not: here, so the language switch may ask for this address by
    itself.

    htmx is led straight to the bank. A form without it may lead within the house alone (``form-action``): to the
    deposit's page, whose link goes on.
    """
    if request.method != "POST":
        return redirect("cashier")
    form = AmountForm(request.POST, currency=request.player.currency)
    if not form.is_valid():
        return _render(request, Mode.REAL, form=form)
    amount, key = form.cleaned_data["amount"], form.cleaned_data["key"]
    try:
        payment = beginning.begin(player=request.player, amount=amount, key=key)
    except beginning.FormUsed as error:
        return _render(request, Mode.REAL, error=str(error))
    except beginning.DepositBarred as error:
        return _render(request, Mode.REAL, form=form, error=str(error), error_link=reverse(error.page))
    except (services.CashierError, LimitReached) as error:
        form.add_error("amount", str(error))
        return _render(request, Mode.REAL, form=form)
    if request.htmx:
        return HttpResponseClientRedirect(reverse("cashier_payment_bank", kwargs={"payment_id": payment.pk}))
    return redirect("cashier_payment", payment_id=payment.pk)


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
    sentence = _sentence(request, posted)
    if request.htmx:
        return _render(request, Mode.FREE, said=sentence)
    messages.success(request, sentence)
    return redirect(f"{reverse('cashier')}?mode=free")


def _sentence(request: PlayerRequest, posted: ledger.Posted) -> str:
    if posted.replayed:
        return _("This was booked already. Nothing was booked twice.")
    currency, language = request.player.currency, get_language() or "en"
    (balance,) = posted.balances.values()
    return _("You now have %(amount)s of free money.") % {"amount": format_money(balance, currency, language)}


def _render(
    request: PlayerRequest,
    mode: Mode,
    *,
    before: int | None = None,
    form: AmountForm | None = None,
    error: str = "",
    error_link: str = "",
    said: str = "",
) -> HttpResponse:
    player = request.player
    bar = gate.bar_to_deposit(player)
    cash, purses = accounts.balances(player.pk), accounts.balances(player.pk, AccountKind.PURSE)
    in_play = accounts.held(player.pk)
    context = {
        "currency": player.currency,
        "real": cash[Mode.REAL],
        "free": cash[Mode.FREE],
        "in_play": in_play.get(Mode.REAL, 0),
        "free_in_play": in_play.get(Mode.FREE, 0),
        "purse": purses.get(Mode.REAL, 0),
        "pending": accounts.balances(player.pk, AccountKind.PENDING).get(Mode.REAL, 0),
        "free_purse": purses.get(Mode.FREE, 0),
        "free_standard": services.FREE_MONEY[player.currency],
        "limits": services.DEPOSIT_LIMITS[player.currency],
        "form": form or AmountForm(currency=player.currency),
        "top_up_form": KeyForm(auto_id=False),
        "statement": statements.statement(player.pk, mode, before=before),
        "mode_word": mode.name.lower(),
        "first": before is None,
        "error": error,
        "error_link": error_link,
        "stopped": bar if bar and bar.code in STOPPED else None,
        "takes_deposits": bool(settings.PAYMENT_VARIANTS),
        "payments": Payment.objects.filter(player=player, state=PaymentState.WAITING).order_by("-begun_at")[
            :MOST_SHOWN
        ],
        "said": said,
    }
    return render(request, "wallet/_cashier.html" if request.htmx else "wallet/cashier.html", context)
