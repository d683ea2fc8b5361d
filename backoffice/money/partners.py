"""Staff pages of partners: studios and operators with their keys, and messages to operators."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.validators import validate_slug
from django.db.models import F, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import approvals
from audit.models import Approval
from audit.reports.kinds import Column, Form
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from players.access import StaffRequest, staff_required
from players.staff import access_log
from wallet.models import MessageKind, MessageState, OperatorMessage, Partner, PartnerKey, PartnerKind
from wallet.operator_wallet import queue
from wallet.seamless_wallet import partners
from wallet.seamless_wallet.partners import ASK, KINDS, READERS, VIEW

USUAL_RATE: Final = 600
ASKED: Final = gettext_lazy("Requested. A second person must approve it under Approvals.")
NO_REASON: Final = gettext_lazy("Enter a reason. It is recorded in the audit log.")


class PartnerForm(forms.Form):
    """Request for a new partner."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Type"),
        choices=[("", gettext_lazy("Choose")), *((kind.value, label) for kind, label in KINDS.items())],
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=80)
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=32,
        validators=[validate_slug],
        help_text=gettext_lazy("Permanent identifier in the API: letters, digits and hyphens."),
    )
    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=200,
        help_text=gettext_lazy(
            "For a studio: URL of its games. For an operator: URL of its wallet. Must start with https://"
        ),
    )
    per_minute = forms.IntegerField(
        label=gettext_lazy("Rate limit (requests per minute)"), min_value=1, max_value=1_000_000, initial=USUAL_RATE
    )
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=300, widget=forms.Textarea(attrs={"rows": 3}))


class ReasonForm(forms.Form):
    """Reason for an action."""

    reason = forms.CharField(max_length=300, strip=True)
    sure = forms.BooleanField(required=False)  # required to end the last key while messages wait


@staff_required(*READERS)
@require_safe
def staff_partners(request: StaffRequest) -> HttpResponse:
    """List every partner with its keys, disabled partners last."""
    found = Partner.objects.prefetch_related("keys").order_by(F("off_at").desc(nulls_first=True), "name", "pk")
    askers = dict(Approval.objects.filter(kind__in=(partners.ADD, partners.KEY)).values_list("pk", "person"))
    lines = [
        (
            partner,
            KINDS[PartnerKind(partner.kind)],
            [
                (
                    key,
                    key.shown_at is None
                    and key.ended_at is None
                    and askers.get(key.approval_id) == request.staff.person,
                )
                for key in sorted(partner.keys.all(), key=lambda key: -key.pk)
            ],
            partners.waiting(partner) if sum(key.ended_at is None for key in partner.keys.all()) == 1 else 0,
        )
        for partner in found
    ]
    return render(request, "staff/partners.html", {"lines": lines, "may_ask": request.user.has_perm(ASK)})


@staff_required(ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_partner_new(request: StaffRequest) -> HttpResponse:
    """Request a new partner."""
    form = PartnerForm(request.POST or None)
    if form.is_valid():
        said: dict[str, Any] = form.cleaned_data
        try:
            partners.ask_to_add(**said | {"kind": PartnerKind(said["kind"]), "by": request.staff})
        except partners.BadAddress as error:
            form.add_error("address", str(error))
        except partners.CodeTaken as error:
            form.add_error("code", str(error))
        except approvals.AskedTwice as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, ASKED)
            return redirect("staff_partners")
    return render(request, "staff/partner_new.html", {"form": form})


@staff_required(ASK)
@require_POST
def staff_partner_key(request: StaffRequest, partner_id: int) -> HttpResponse:
    """Request another key for a partner."""
    partner = get_object_or_404(Partner, pk=partner_id)
    return _with_reason(
        request, lambda said: partners.ask_for_key(partner=partner, reason=said["reason"], by=request.staff), ASKED
    )


@staff_required(ASK)
@require_POST
def staff_partner_off(request: StaffRequest, partner_id: int) -> HttpResponse:
    """Disable a partner."""
    partner = get_object_or_404(Partner, pk=partner_id)
    done = gettext("%(partner)s is deactivated. Wins and rollbacks are still accepted until its keys are revoked.") % {
        "partner": partner.name
    }
    return _with_reason(
        request, lambda said: partners.switch_off(partner=partner, reason=said["reason"], by=request.staff), done
    )


@staff_required(ASK)
@require_POST
def staff_partner_key_end(request: StaffRequest, key_id: int) -> HttpResponse:
    """End a key."""
    key = get_object_or_404(PartnerKey.objects.select_related("partner"), pk=key_id)
    done = gettext("Key revoked. Messages signed with it are refused.")

    def end(said: dict[str, Any]) -> None:
        partners.end_key(key=key, reason=said["reason"], by=request.staff, is_sure=said["sure"])

    return _with_reason(request, end, done)


@staff_required(ASK)
@never_cache
@require_POST
def staff_partner_key_show(request: StaffRequest, key_id: int) -> HttpResponse:
    """Show a secret once, to the person who requested the key."""
    key = get_object_or_404(PartnerKey.objects.select_related("partner"), pk=key_id)
    try:
        secret = partners.show(key=key, by=request.staff)
    except partners.NotShown as error:
        messages.error(request, str(error))
        return redirect("staff_partners")
    return render(request, "staff/partner_key.html", {"key": key, "secret": secret})


def _with_reason(request: StaffRequest, do: Callable[[dict[str, Any]], object], done: str | Promise) -> HttpResponse:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, NO_REASON)
    else:
        try:
            do(form.cleaned_data)
        except (partners.PartnerError, approvals.AskedTwice) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, str(done))
    return redirect("staff_partners")


MOST_COUNTED: Final = 1000
NAMES: Final[Mapping[MessageState, str | Promise]] = {
    MessageState.DOUBT: gettext_lazy("Refused"),
    MessageState.WAITING: gettext_lazy("Waiting"),
    MessageState.SETTLED: gettext_lazy("Settled manually"),
    MessageState.TAKEN: gettext_lazy("Accepted"),
}


def counted() -> list[tuple[MessageState, str | Promise, int, bool]]:
    """Return the number of messages in each open state, and whether the counting stopped early."""
    counts = []
    for state in (MessageState.DOUBT, MessageState.WAITING):
        count = OperatorMessage.objects.filter(state=state)[: MOST_COUNTED + 1].count()
        counts.append((state, NAMES[state], min(count, MOST_COUNTED), count > MOST_COUNTED))
    return counts


SETTLE: Final = "wallet.settle_operator_messages"
QUEUE_READERS: Final = (SETTLE, VIEW)
OVER: Final = gettext_lazy("This message is no longer refused. Another person or process has handled it.")


class StateForm(ListForm):
    """Filter of messages."""

    state = forms.ChoiceField(
        label=gettext_lazy("State"), required=False, choices=[(state.value, name) for state, name in NAMES.items()]
    )


class NoteForm(forms.Form):
    """Note on how a message was settled with the operator."""

    note = forms.CharField(
        max_length=500,
        label=gettext_lazy("Settlement agreed with the operator"),
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": gettext_lazy("Describe the settlement. It is recorded.")},
    )


class OperatorMessages(StaffList):
    """Messages to operators in one state, by default those that they refused."""

    model = OperatorMessage
    name = gettext_noop("Operator messages")
    players = ("bet__player_id",)
    form_class = StateForm
    columns = (
        Column("id", "Message", Form.NUMBER),
        Column("at", "Since", Form.TIME),
        Column("bet__launch__operator_player__partner__name", "Operator"),
        Column("player", "Player"),
        Column("kind", "Type"),
        Column("amount", "Amount", Form.MONEY),
        Column("tries", "Attempts", Form.NUMBER),
        Column("said", "Last answer"),
    )
    file_columns = (*columns[:6], Column("bet__currency", "Currency"), *columns[6:])
    currency = "bet__currency"
    links = {"id": ("staff_operator_message", "message_id", "pk")}
    empty = gettext_noop("No refused messages.")
    unmatched = gettext_noop("No messages match this filter.")

    def found(self) -> QuerySet[OperatorMessage]:
        """Return the messages in the state of the filter."""
        found = OperatorMessage.objects.filter(state=self.state)
        return found.select_related("bet__launch__operator_player__partner", "settled_by")

    @property
    def state(self) -> MessageState:
        """The state asked for."""
        return MessageState(self.asked.get("state") or MessageState.DOUBT)

    def of_player(self, message: OperatorMessage) -> str:
        """Return the player's name in events."""
        return f"player:{message.bet.player_id}"

    def of_amount(self, message: OperatorMessage) -> int | None:
        """Return the amount of a win; a rollback has none."""
        return message.amount if message.kind == MessageKind.WIN else None

    def of_said(self, message: OperatorMessage) -> str:
        """Return the operator's last answer."""
        return "yes" if message.state == MessageState.TAKEN else message.said or gettext("none yet")


@staff_required(*QUEUE_READERS)
@access_log.listed("operator messages")
@require_safe
def staff_operators(request: StaffRequest) -> HttpResponse:
    """List messages to operators."""
    return OperatorMessages(request).answer("staff/operators.html", {"counted": counted()})


@staff_required(*QUEUE_READERS)
@access_log.listed("operator message")
@require_safe
def staff_operator_message(request: StaffRequest, message_id: int) -> HttpResponse:
    """Show one message: what was sent, the operator's answer, and the possible actions."""
    return _page(request, message_id, NoteForm())


@staff_required(SETTLE)
@require_POST
def staff_operator_resend(request: StaffRequest, message_id: int) -> HttpResponse:
    """Resend a message."""
    try:
        queue.try_again(message_id, by=request.staff)
    except queue.NotInDoubt:
        messages.warning(request, OVER)
    else:
        messages.success(request, gettext("The message is being resent."))
    return redirect("staff_operator_message", message_id)


@staff_required(SETTLE)
@access_log.listed("operator message")
@require_POST
def staff_operator_settle(request: StaffRequest, message_id: int) -> HttpResponse:
    """Settle a message that is in doubt by hand."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, message_id, form)
    try:
        queue.settle(message_id, note=form.cleaned_data["note"], by=request.staff)
    except queue.NotInDoubt:
        messages.warning(request, OVER)
    else:
        messages.success(request, gettext("Settled."))
    return redirect("staff_operator_message", message_id)


def _page(request: StaffRequest, message_id: int, form: NoteForm) -> HttpResponse:
    found = OperatorMessage.objects.select_related("bet__launch__operator_player__partner", "settled_by")
    message = found.filter(pk=message_id).first()
    if message is None:
        raise Http404
    access_log.shown(request, message.bet)
    following = OperatorMessage.objects.filter(bet=message.bet, pk__gt=message.pk, state=MessageState.WAITING)
    context = {
        "message": message,
        "bet": message.bet,
        "partner": message.bet.launch.operator_player.partner,
        "form": form,
        "is_open": message.state == MessageState.DOUBT,
        "can_be_settled": queue.can_be_settled(message),
        "may_settle": request.user.has_perm(SETTLE),
        "following": following.count(),
    }
    return render(request, "staff/operator_message.html", context)
