"""Messages to operators that they refuse to record, for finance."""

from collections.abc import Mapping
from typing import Final

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from backoffice.lists.paging import NEWEST_FIRST
from players.access import StaffRequest, staff_required
from players.staff import access_log
from wallet.models import MessageState, OperatorMessage
from wallet.operator_wallet import queue
from wallet.seamless_wallet.partners import VIEW

PAGE: Final = 20
MOST_COUNTED: Final = 1000
NAMES: Final[Mapping[MessageState, str]] = {
    MessageState.DOUBT: "Refused",
    MessageState.WAITING: "Waiting",
    MessageState.SETTLED: "Settled manually",
    MessageState.TAKEN: "Accepted",
}


def counted() -> list[tuple[MessageState, str, int, bool]]:
    """Return the number of messages in each open state, and whether the counting stopped early."""
    counts = []
    for state in (MessageState.DOUBT, MessageState.WAITING):
        count = OperatorMessage.objects.filter(state=state)[: MOST_COUNTED + 1].count()
        counts.append((state, NAMES[state], min(count, MOST_COUNTED), count > MOST_COUNTED))
    return counts


SETTLE: Final = "wallet.settle_remote"
READERS: Final = (SETTLE, VIEW)
OVER: Final = "This message is no longer refused. Another person or process has handled it."


class StateForm(forms.Form):
    """Filter of messages."""

    state = forms.ChoiceField(required=False, choices=[(state.value, name) for state, name in NAMES.items()])


class NoteForm(forms.Form):
    """Note on how a message was settled with the operator."""

    note = forms.CharField(
        max_length=500,
        label="Settlement agreed with the operator",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Describe the settlement. It is recorded."},
    )


@staff_required(*READERS)
@access_log.listed("operator messages")
@require_safe
def staff_operators(request: StaffRequest) -> HttpResponse:
    """List messages, by default those in doubt."""
    form = StateForm(request.GET)
    form.full_clean()
    state = MessageState(form.cleaned_data.get("state") or MessageState.DOUBT)
    found = OperatorMessage.objects.filter(state=state).select_related(
        "bet__launch__operator_player__partner", "settled_by"
    )
    page = NEWEST_FIRST.page(found, request.GET, PAGE)
    access_log.shown(request, *(message.bet.player_id for message in page.rows))
    context = {
        "form": form,
        "state": state,
        "name": NAMES[state],
        "page": page,
        "counted": counted(),
    }
    return render(request, "staff/operators.html", context)


@staff_required(*READERS)
@access_log.listed("operator message")
@require_safe
def staff_operator_message(request: StaffRequest, message_id: int) -> HttpResponse:
    """Show one message: what was sent, the operator's answer, and the possible actions."""
    return _page(request, message_id, NoteForm())


@staff_required(SETTLE)
@require_POST
def staff_operator_again(request: StaffRequest, message_id: int) -> HttpResponse:
    """Send a message again."""
    try:
        queue.try_again(message_id, by=request.staff)
    except queue.NotInDoubt:
        messages.warning(request, OVER)
    else:
        messages.success(request, "The message is being resent.")
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
        messages.success(request, "Settled.")
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
