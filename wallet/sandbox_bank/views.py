"""The sandbox bank's payment page and statement download.

The page is not tied to an account of the house. Any browser with the signed request may answer it,
as at a bank's page after log-in.
"""

from datetime import UTC, datetime

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from players.datetime_format import Day
from players.rates import at_a_human_pace
from wallet.models import BankOrder, Behaviour, DeclineReason, Funding, OrderState
from wallet.sandbox_bank import orders
from wallet.sandbox_bank.orders import Answer, BadRequestToBank, PayRequest, seconds_now, unseal, write_statement

BEHAVIOURS = [
    (Behaviour.PROMPT, _("Immediately")),
    (Behaviour.LATE, _("Late, after 45 seconds")),
    (Behaviour.TWICE, _("Twice")),
    (Behaviour.SHUFFLED, _("Out of order")),
    (Behaviour.NEVER, _("Never: the casino has to ask")),
]


class AnswerForm(forms.Form):
    """The payer's decision, and how the bank sends its webhooks."""

    answer = forms.ChoiceField(choices=[(each.value, each.name) for each in Answer])
    reason = forms.ChoiceField(
        label=_("Reason given if you decline"),
        choices=[("", _("No reason")), *DeclineReason.choices],
        required=False,
    )
    funding = forms.ChoiceField(
        label=_("Payment method"), choices=Funding.choices, initial=Funding.DEBIT, required=False
    )
    behaviour = forms.ChoiceField(
        label=_("How the bank notifies the payee"),
        choices=BEHAVIOURS,
        initial=Behaviour.PROMPT,
        required=False,
        widget=forms.RadioSelect,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def sandbox_bank(request: HttpRequest, order: str) -> HttpResponse:
    """Show a payment to its payer, or take the decision and redirect the payer back."""
    asked = _asked(order)
    if request.method == "POST":
        form = AnswerForm(request.POST)
        if form.is_valid():
            said, behaviour = Answer(form.cleaned_data["answer"]), form.cleaned_data["behaviour"] or Behaviour.PROMPT
            reason = form.cleaned_data["reason"]
            funding = form.cleaned_data["funding"]
            orders.answer(request=asked, said=said, behaviour=Behaviour(behaviour), reason=reason, funding=funding)
            return redirect(asked.return_path)
    known = BankOrder.objects.filter(pk=asked.reference).first()
    context = {
        "asked": asked,
        "form": AnswerForm(initial={"behaviour": Behaviour.PROMPT, "funding": Funding.DEBIT}),
        "is_answered": known is not None and known.state != OrderState.OPEN,
    }
    return render(request, "sandbox_bank/pay.html", context)


def _asked(order: str) -> PayRequest:
    """Return the payment request. Raises Http404 if it is invalid or the site is not a demo house."""
    if not settings.DEMO:
        raise Http404
    try:
        return unseal(order, settings.SANDBOX_BANK_KEY)
    except BadRequestToBank as error:
        raise Http404 from error


class StatementForm(forms.Form):
    """First and last day, in UTC. The default is today."""

    since = Day("From")
    until = Day("To")


@require_safe
def bank_statement(request: HttpRequest) -> HttpResponse:
    """Download the bank's statement in a demo house. Raises Http404 elsewhere."""
    form = StatementForm(request.GET)
    if not settings.DEMO or not form.is_valid():
        raise Http404
    today = datetime.fromtimestamp(seconds_now(), UTC).date()
    since, until = (form.cleaned_data[name] or today for name in ("since", "until"))
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="sandbox-bank-{since}-{until}.csv"'
    write_statement(response, since=since, until=until)
    return response
