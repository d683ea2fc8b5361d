"""Cashier page: balances, deposit form, free money, latest movements.

A form answers htmx with the updated fragment. Without JavaScript it redirects to the page, or shows
it again with the errors.
"""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from players.access import PlayerRequest, page_after, player_required
from players.protection import eligibility
from players.rates import at_a_human_pace
from wallet import cashier as services
from wallet.cashier import AmountForm, KeyForm, StatementForm, topped_up, what_a_player_has
from wallet.ledger import LimitReached, statements
from wallet.limits import FirstLimitsForm, first_limits
from wallet.models import Mode
from wallet.payments import deposits
from wallet.payments.views import LEADS_TO

SHEET = "sheet"  # field of requests from a table's dialog, which shows the deposit form alone


@player_required
@require_safe
def cashier(request: PlayerRequest) -> HttpResponse:
    """Show the page, or for htmx the fragment with another page of movements, or the sheet of a table."""
    asked = StatementForm(request.GET)
    mode, before = Mode.REAL, None
    if asked.is_valid():
        mode, before = Mode[asked.cleaned_data["mode"].upper()], asked.cleaned_data["before"]
    return _render(request, mode, before=before)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def cashier_deposit(request: PlayerRequest) -> HttpResponse:
    """Begin a deposit and redirect to the bank, or show the error.

    GET redirects to the cashier, because the language switch may request this URL. htmx is
    redirected directly to the bank. A plain form may only redirect within this site
    (``form-action``), so it goes to the deposit's page, which links to the bank.

    Limits that come with the first deposit are set first, and stay set if it is not made: the player has decided
    them, and a refusal by the bank is no reason to forget that. The page says so before and after.
    """
    if request.method != "POST":
        return redirect("cashier")
    form = AmountForm(request.POST, currency=request.player.currency)
    first = first_limits(request.player, eligibility.check_deposit(request.player), request.POST)
    if not form.is_valid() or (first and not first.is_valid()):
        return _render(request, Mode.REAL, form=form, first=first)
    said = ""
    if first:
        first.set_for(request.player)
        if first.sets_any:
            said = _("Your deposit limits are set. They apply even though this deposit was not made.")
    amount, key = form.cleaned_data["amount"], form.cleaned_data["key"]
    after = page_after(request)
    try:
        payment = deposits.begin(player=request.player, amount=amount, key=key)
    except deposits.FormUsed as error:
        return _render(request, Mode.REAL, error=str(error), said=said)
    except deposits.DepositNotEligible as error:
        link = f"{reverse(error.page)}?{urlencode({'next': after or reverse('cashier')})}"
        return _render(request, Mode.REAL, form=form, error=str(error), error_link=link, said=said)
    except (services.CashierError, LimitReached) as error:
        form.add_error("amount", str(error))
        return _render(request, Mode.REAL, form=form, said=said)
    if after:
        request.session[LEADS_TO] = {str(payment.pk): after}
    if request.htmx:
        return HttpResponseClientRedirect(reverse("cashier_payment_bank", kwargs={"payment_id": payment.pk}))
    return redirect("cashier_payment", payment_id=payment.pk)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def cashier_top_up(request: PlayerRequest) -> HttpResponse:
    """Top up free money, or show the error.

    GET redirects: the language switch may request this URL.
    """
    if request.method != "POST":
        return redirect("cashier")
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _render(request, Mode.FREE, error=str(form.errors["key"][0]))
    try:
        posted = services.top_up_free(player=request.player, key=form.cleaned_data["key"])
    except services.CashierError as error:
        return _render(request, Mode.FREE, error=str(error))
    message = topped_up(request.player, posted)
    if request.htmx:
        return _render(request, Mode.FREE, said=message)
    messages.success(request, message)
    return redirect(f"{reverse('cashier')}?mode=free")


def _render(
    request: PlayerRequest,
    mode: Mode,
    *,
    before: int | None = None,
    form: AmountForm | None = None,
    first: FirstLimitsForm | None = None,
    error: str = "",
    error_link: str = "",
    said: str = "",
) -> HttpResponse:
    has = what_a_player_has(request.player)
    context = {
        **has,
        "form": form or AmountForm(currency=request.player.currency),
        "first_limits": first or first_limits(request.player, has["deposit_bar"]),
        "statement": statements.statement(request.player.pk, mode, before=before),
        "mode_word": mode.name.lower(),
        "is_real": mode is Mode.REAL,
        "first": before is None,
        "error": error,
        "error_link": error_link,
        "said": said,
        "next": page_after(request),
    }
    if not request.htmx:
        return render(request, "wallet/cashier.html", context)
    is_sheet = SHEET in (request.POST or request.GET)
    return render(request, "wallet/cashier.html#sheet" if is_sheet else "wallet/cashier.html#cashier", context)
