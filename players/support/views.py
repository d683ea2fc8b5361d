"""Forms and views of customer service for players: their own conversations.

`games` has the view for a new message, because it may be about a round.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players.access import PlayerRequest, player_required
from players.models import Conversation, Topic
from players.rates import now_and_then
from players.support import complaints, conversations
from players.support.complaints import complaint_status
from players.support.conversations import LONGEST

LONGEST_ROUND = 100  # maximum length of a typed round code
LINES = 8


def message_field(label: Any) -> forms.CharField:
    """Return the field for a message: plain text with line breaks."""
    return forms.CharField(label=label, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": LINES}))


class MessageForm(forms.Form):
    """New message of a player."""

    topic = forms.ChoiceField(label=gettext_lazy("What is it about?"), choices=Topic.choices)
    round = forms.CharField(
        label=gettext_lazy("Round code, if it is about a round"),
        required=False,
        max_length=LONGEST_ROUND,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    text = message_field(gettext_lazy("Your message"))


class ReplyForm(forms.Form):
    """Further message of a player."""

    text = message_field(gettext_lazy("Your message"))


class ReopenForm(forms.Form):
    """Reasons for reopening a decided complaint."""

    text = message_field(gettext_lazy("Why do you not agree?"))


PAGE = 20


@player_required
@require_safe
def service_list(request: PlayerRequest) -> HttpResponse:
    """Show the player's conversations, newest first."""
    before_id = request.GET.get("before", "")
    found = Conversation.objects.filter(player=request.player).order_by("-pk")
    is_first = not (before_id.isascii() and before_id.isdigit() and len(before_id) < 19)
    if not is_first:
        found = found.filter(pk__lt=int(before_id))
    rows = list(found[: PAGE + 1])
    older = rows[PAGE - 1].pk if len(rows) > PAGE else None
    context = {"conversations": rows[:PAGE], "older": older, "first": is_first}
    return render(request, "players/service.html", context)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def service_thread(request: PlayerRequest, conversation_id: int) -> HttpResponseBase:
    """Show one conversation; on POST, add a message."""
    conversation = _own(request, conversation_id)
    if request.method == "POST":
        return _reply(request, conversation)
    conversations.record_read(conversation)
    return _render(request, conversation, ReplyForm())


@player_required
@require_POST
@now_and_then
def service_close(request: PlayerRequest, conversation_id: int) -> HttpResponse:
    """Close the player's own conversation. If it is closed already, say so."""
    conversation = _own(request, conversation_id)
    end = complaints.withdraw if conversation.topic == Topic.COMPLAINT else conversations.close_own
    try:
        end(player=request.player, conversation_id=conversation.pk)
    except conversations.Closed as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("The conversation is closed."))
    return redirect("service_thread", conversation_id=conversation.pk)


@player_required
@require_POST
@now_and_then
def service_reopen(request: PlayerRequest, conversation_id: int) -> HttpResponse:
    """Reopen the player's own complaint, with a reason."""
    conversation = _own(request, conversation_id)
    if conversation.topic != Topic.COMPLAINT:
        raise Http404
    form = ReopenForm(request.POST)
    if not form.is_valid():
        return _render(request, conversation, ReplyForm(), form)
    try:
        complaints.reopen(player=request.player, conversation_id=conversation.pk, text=form.cleaned_data["text"])
    except complaints.NotToReopen as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("Your complaint has been reopened. We will review it again."))
    return redirect("service_thread", conversation_id=conversation.pk)


@now_and_then
def _reply(request: PlayerRequest, conversation: Conversation) -> HttpResponse:
    form = ReplyForm(request.POST)
    if not form.is_valid():
        return _render(request, conversation, form)
    try:
        conversations.reply(player=request.player, conversation_id=conversation.pk, text=form.cleaned_data["text"])
    except conversations.Closed as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("Your message has been sent."))
    return redirect("service_thread", conversation_id=conversation.pk)


def _own(request: PlayerRequest, conversation_id: int) -> Conversation:
    mine = Conversation.objects.filter(player=request.player).select_related("player")
    found = mine.filter(pk=conversation_id).first()
    if found is None:
        raise Http404
    return found


def _render(
    request: PlayerRequest, conversation: Conversation, form: ReplyForm, reopen_form: ReopenForm | None = None
) -> HttpResponse:
    context = {
        "conversation": conversation,
        "written": conversation.messages.order_by("pk"),
        "form": form,
        "reopen_form": reopen_form or ReopenForm(),
        "complaint_status": complaint_status(conversation) if conversation.topic == Topic.COMPLAINT else None,
    }
    return render(request, "players/service_thread.html", context)
