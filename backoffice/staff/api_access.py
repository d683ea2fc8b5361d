"""Access of API clients: API tokens of staff, and webhooks.

A token reads what its owner's roles allow. Staff who manage staff accounts see the tokens of all staff and may revoke
any of them.

A webhook is added, changed, given a new secret, and switched on and off. Its deliveries are listed with their attempts.
"""

from typing import Any, Final

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.reports.kinds import Column, Form
from audit.reports.requests import clock
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from players import staff
from players.access import StaffRequest, staff_required
from players.api import tokens
from players.api.token_views import ONCE, NewTokenForm, make, scope_labels
from wallet import webhooks
from wallet.models import WEBHOOK_KINDS, DeliveryState, Webhook, WebhookDelivery, WebhookTry
from wallet.seamless_wallet.partners import BadAddress
from wallet.webhooks import MANAGE, READERS

MOST_SHOWN: Final = 5  # attempts in one row
STATES: Final = {
    DeliveryState.WAITING: (pgettext_lazy("webhook delivery", "waiting"), "brass"),
    DeliveryState.DELIVERED: (pgettext_lazy("webhook delivery", "delivered"), "on"),
    DeliveryState.GIVEN_UP: (pgettext_lazy("webhook delivery", "given up"), "off"),
}


class WebhookForm(forms.Form):
    """A new webhook, or what one is changed to."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=80, strip=True)
    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=200,
        strip=True,
        help_text=gettext_lazy("It must start with https:// and must not point to an internal network."),
    )
    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Kinds of events"),
        choices=[(kind, kind) for kind in WEBHOOK_KINDS],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one kind of event from the list.")},
    )


class DeliveryForm(ListForm):
    """Filter of deliveries."""

    state = forms.ChoiceField(
        label=gettext_lazy("Status"),
        required=False,
        choices=[("", gettext_lazy("All")), *((state.value, label) for state, (label, _style) in STATES.items())],
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        required=False,
        choices=[("", gettext_lazy("All")), *((kind, kind) for kind in WEBHOOK_KINDS)],
    )


class Deliveries(StaffList):
    """Deliveries of one webhook, newest first."""

    model = WebhookDelivery
    name = gettext_noop("Deliveries")
    players = NO_PLAYERS
    form_class = DeliveryForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("event_id", "Event", Form.NUMBER),
        Column("kind", "Kind"),
        Column("at", "Queued", Form.TIME),
        Column("state", "Status"),
        Column("status", "Answer"),
        Column("milliseconds", "Duration (ms)", Form.NUMBER),
        Column("attempts", "Attempts"),
    )
    empty = gettext_noop("No deliveries yet.")
    unmatched = gettext_noop("No deliveries match this filter.")

    def found(self) -> QuerySet[WebhookDelivery]:
        """Return the deliveries of the webhook that the filter asks for."""
        asked = {name: value for name, value in self.asked.items() if name in ("state", "kind") and value}
        attempts = Prefetch("attempts", WebhookTry.objects.order_by("-pk"), to_attr="past")
        return WebhookDelivery.objects.filter(webhook=self.of, **asked).prefetch_related(attempts)

    def of_state(self, found: Any) -> str:
        """Return the state."""
        return str(STATES[found.state][0])

    def of_status(self, found: Any) -> str:
        """Return the last HTTP status, or why there was no answer."""
        last = found.past[0] if found.past else None
        return "" if last is None else str(last.status or last.said)

    def of_milliseconds(self, found: Any) -> int | None:
        """Return how long the last attempt took."""
        return found.past[0].milliseconds if found.past else None

    def of_attempts(self, found: Any) -> str:
        """Return every attempt: time, answer and duration."""
        return "; ".join(
            f"{each.at:%Y-%m-%d %H:%M:%S} {each.status or each.said}, {each.milliseconds} ms" for each in found.past
        )

    def show_state(self, found: Any) -> str:
        """Return the state, the next attempt, and a button that sends a delivery again once an attempt has failed."""
        label, style = STATES[found.state]
        again = due = ""
        if (found.state != DeliveryState.WAITING or found.tries) and self.request.user.has_perm(MANAGE):
            again = render_to_string("staff/webhook.html#again", {"delivery": found}, self.request)
        if found.state == DeliveryState.WAITING and found.tries:
            due = format_html(
                '<span class="num">{}</span>', _("next attempt %(at)s") % {"at": f"{found.due_at:%m-%d %H:%M:%S}"}
            )
        return cells.joined(cells.badge(label, style), due, again)

    def show_attempts(self, found: Any) -> str:
        """Return the newest attempts, one under another."""
        lines = [
            (f"{each.at:%m-%d %H:%M:%S}", each.status or each.said, each.milliseconds)
            for each in found.past[:MOST_SHOWN]
        ]
        more = len(found.past) - len(lines)
        shown = format_html_join("", '<span class="num">{}</span> {}, {} ms<br>', lines)
        return cells.joined(shown, _("and %(count)s more") % {"count": more} if more else "")


@staff_required(*READERS)
@require_safe
def staff_webhooks(request: StaffRequest) -> HttpResponse:
    """List the webhooks with their numbers of waiting and abandoned deliveries."""
    hooks = Webhook.objects.annotate(
        waiting=Count("deliveries", Q(deliveries__state=DeliveryState.WAITING)),
        given_up=Count("deliveries", Q(deliveries__state=DeliveryState.GIVEN_UP)),
    ).order_by("pk")
    return render(request, "staff/webhooks.html", {"hooks": hooks})


@staff_required(MANAGE)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def staff_webhook_new(request: StaffRequest) -> HttpResponse:
    """Add a webhook, and show its secret once."""
    form = WebhookForm(request.POST or None)
    if form.is_valid():
        try:
            hook, secret = webhooks.add(**form.cleaned_data, by=request.staff)
        except BadAddress as error:
            form.add_error("address", str(error))
        else:
            return render(request, "staff/webhook_secret.html", {"hook": hook, "secret": secret})
    return render(request, "staff/webhook_new.html", {"form": form})


@staff_required(*READERS)
@require_safe
def staff_webhook(request: StaffRequest, webhook_id: int) -> HttpResponse:
    """Show a webhook and its deliveries."""
    hook = get_object_or_404(Webhook.objects.select_related("made_by"), pk=webhook_id)
    overlaps = hook.previous_until is not None and hook.previous_until > clock()
    return Deliveries(request, hook).answer("staff/webhook.html", {"hook": hook, "overlaps": overlaps})


@staff_required(MANAGE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_webhook_change(request: StaffRequest, webhook_id: int) -> HttpResponse:
    """Change the name, the address and the kinds of events of a webhook."""
    hook = get_object_or_404(Webhook, pk=webhook_id)
    initial = {"name": hook.name, "address": hook.address, "kinds": hook.kinds}
    form = WebhookForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            webhooks.change(webhook_id=webhook_id, **form.cleaned_data, by=request.staff)
        except BadAddress as error:
            form.add_error("address", str(error))
        except webhooks.WebhookError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The webhook has been changed."))
            return redirect("staff_webhook", webhook_id)
    return render(request, "staff/webhook_new.html", {"form": form, "hook": hook})


@staff_required(MANAGE)
@never_cache
@require_POST
def staff_webhook_secret(request: StaffRequest, webhook_id: int) -> HttpResponse:
    """Replace the secret, with an overlap or at once, and show the new one once. Or end the one that was replaced."""
    get_object_or_404(Webhook, pk=webhook_id)
    asked = request.POST.get("replace", "")
    if asked == "end":
        try:
            webhooks.end_previous(webhook_id=webhook_id, by=request.staff)
        except webhooks.WebhookError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("The replaced secret is no longer valid."))
        return redirect("staff_webhook", webhook_id)
    hook, secret = webhooks.replace_secret(webhook_id=webhook_id, by=request.staff, at_once=asked == "at_once")
    return render(request, "staff/webhook_secret.html", {"hook": hook, "secret": secret})


@staff_required(MANAGE)
@require_POST
def staff_webhook_switch(request: StaffRequest, webhook_id: int) -> HttpResponse:
    """Switch a webhook on or off, as the form says."""
    get_object_or_404(Webhook, pk=webhook_id)
    is_on = request.POST.get("on") == "1"
    try:
        hook = webhooks.switch(webhook_id=webhook_id, is_on=is_on, by=request.staff)
    except webhooks.WebhookError as error:
        messages.error(request, str(error))
    else:
        done = _("%(name)s is switched on.") if is_on else _("%(name)s is switched off.")
        messages.success(request, done % {"name": hook.name})
    return redirect("staff_webhook", webhook_id)


@staff_required(MANAGE)
@require_POST
def staff_webhook_resend(request: StaffRequest, delivery_id: int) -> HttpResponse:
    """Send a delivery again."""
    try:
        found = webhooks.resend(delivery_id=delivery_id, by=request.staff)
    except ObjectDoesNotExist as error:
        raise Http404 from error
    except webhooks.WebhookError as error:
        messages.error(request, str(error))
        found = WebhookDelivery.objects.get(pk=delivery_id)
    else:
        messages.success(request, _("Delivery %(number)s is being resent.") % {"number": found.pk})
    return redirect("staff_webhook", found.webhook_id)


OVERSEERS: Final = (staff.ASK, staff.DECIDE)
TOKEN_READERS: Final = (tokens.USE, *OVERSEERS)


class RevokeForm(forms.Form):
    """Reason for revoking a token."""

    reason = forms.CharField(max_length=300, strip=True)


@staff_required(*TOKEN_READERS)
@require_safe
def staff_api_tokens(request: StaffRequest) -> HttpResponse:
    """List the reader's own tokens, or the tokens of all staff for those who manage staff accounts."""
    sees_all = any(map(request.user.has_perm, OVERSEERS))
    found = tokens.of_staff()
    lines = found if sees_all else found.filter(user=request.user)
    context = {
        "lines": [(token, scope_labels(token), tokens.may_use(token.user)) for token in lines],
        "sees_all": sees_all,
        "may_make": request.user.has_perm(tokens.USE),
    }
    return render(request, "staff/api_tokens.html", context)


@staff_required(tokens.USE)
@reauthentication_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def staff_api_token_new(request: StaffRequest) -> HttpResponse:
    """Create a token. Its key is shown once."""
    form = NewTokenForm(request.user, request.POST or None)
    if not form.is_valid():
        return render(request, "staff/api_token_new.html", {"form": form})
    ip = str(get_adapter().get_client_ip(request))
    try:
        made = make(request.user, form.cleaned_data, ip=ip)
    except tokens.TooMany:
        messages.error(
            request,
            (gettext("You have %(most)s tokens, which is the maximum. Revoke one first.") % {"most": tokens.MOST}),
        )
        return redirect("staff_api_tokens")
    if made is None:
        messages.warning(request, ONCE)
        return redirect("staff_api_tokens")
    token, key = made
    return render(request, "staff/api_token_made.html", {"token": token, "key": key, "words": scope_labels(token)})


@staff_required(*TOKEN_READERS)
@require_POST
def staff_api_token_revoke(request: StaffRequest, token_id: int) -> HttpResponse:
    """Revoke an own token. Those who manage staff accounts may revoke any token."""
    found = tokens.of_staff().filter(pk=token_id).first()
    if found is None or not (found.user == request.user or any(map(request.user.has_perm, OVERSEERS))):
        raise Http404
    form = RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
    elif tokens.revoke(token_id=found.pk, by=str(request.staff), reason=form.cleaned_data["reason"]):
        messages.success(request, gettext("Token revoked. All further calls with it are refused."))
    else:
        messages.warning(request, gettext("This token is already revoked."))
    return redirect("staff_api_tokens")
