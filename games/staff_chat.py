"""What staff do about the chat: decide on what players reported, keep somebody from writing, look up what was said. In
English, like all of the back office.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from games.live import chat_cases, chat_moderation
from games.live.chat_moderation import Decided, Length
from games.models import ChatMessage, LiveTable, ReportDecision
from players import looking
from players.access import StaffRequest, staff_required
from players.models import Player

MODERATE, READ = "games.moderate_chat", "games.read_chat"
CASES = 10  # on the page
PAGE = 50  # lines of the log
LENGTHS = [("hour", "For an hour"), ("day", "For a day"), ("week", "For a week"), ("lifted", "Until it is lifted")]


class BanForm(forms.Form):
    """For how long somebody may only read, and why."""

    length = forms.ChoiceField(label="May not write", choices=LENGTHS)
    reason = forms.CharField(label="Why", max_length=300)


class DecisionForm(forms.Form):
    """What becomes of a message and of its author. What cannot be undone is confirmed; a ban says why."""

    decision = forms.ChoiceField(choices=[("removed", "Remove the message"), ("kept", "Keep it")])
    length = forms.ChoiceField(required=False, choices=[("", "No ban"), *LENGTHS])
    reason = forms.CharField(required=False, max_length=300)
    sure = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """A removal is confirmed, a ban says why."""
        asked = super().clean() or {}
        if asked.get("decision") == ReportDecision.REMOVED and not asked.get("sure"):
            raise forms.ValidationError("Confirm that the message goes for good: it cannot be brought back.")
        if asked.get("length") and not asked.get("reason"):
            raise forms.ValidationError("Say why the player may not write: it is kept on record.")
        return asked


class TableField(forms.ModelChoiceField):
    """A shared table for one kind of money."""

    def label_from_instance(self, obj: LiveTable) -> str:
        """Return how it is named in the list."""
        return f"{obj.table.name}, {obj.get_mode_display().lower()} money"


class LogForm(forms.Form):
    """What of the log to show."""

    table = TableField(
        LiveTable.objects.select_related("table").order_by("table__name", "-mode"),
        label="Table",
        required=False,
        empty_label="All",
    )
    player = forms.CharField(label="Player’s number or name", required=False, max_length=40)
    text = forms.CharField(label="Words in it", required=False, max_length=100)
    since = forms.DateTimeField(
        label="From (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label="Before (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


@staff_required(MODERATE, READ)
@looking.listed("reported messages")
@require_safe
def staff_chat(request: StaffRequest) -> HttpResponse:
    """The queue: messages that players reported, the oldest report first."""
    context = {"cases": chat_cases.open_cases(CASES), "count": chat_cases.waiting_count(), "lengths": LENGTHS}
    return render(request, "staff/chat.html", context)


@staff_required(MODERATE, READ)
@looking.listed("a message and those around it")
@require_safe
def staff_chat_message(request: StaffRequest, message_id: int) -> HttpResponse:
    """One message among those around it."""
    message = get_object_or_404(chat_cases.said(), pk=message_id)
    return render(request, "staff/chat_message.html", {"case": chat_cases.case_of(message), "lengths": LENGTHS})


@staff_required(MODERATE)
@require_POST
def staff_chat_decide(request: StaffRequest, message_id: int) -> HttpResponse:
    """Remove a message or keep it, and keep its author from writing where that is asked for."""
    get_object_or_404(ChatMessage, pk=message_id)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _why_not(form))
        return redirect("staff_chat_message", message_id=message_id)
    asked = form.cleaned_data
    try:
        said = chat_moderation.decide(
            message_id=message_id,
            decision=ReportDecision(asked["decision"]),
            length=Length(asked["length"]) if asked["length"] else None,
            reason=asked["reason"],
            by=request.staff,
        )
    except Decided as error:
        messages.warning(request, str(error))
    else:
        done = "was removed" if asked["decision"] == ReportDecision.REMOVED else "stays"
        more = f" {said.author} may not write any more." if asked["length"] else ""
        messages.success(request, f"Message {message_id} {done}.{more}")
    return redirect("staff_chat")


@staff_required(MODERATE)
@require_POST
def staff_chat_ban(request: StaffRequest, player_id: int) -> HttpResponse:
    """Keep a player from writing."""
    player = get_object_or_404(Player, pk=player_id)
    form = BanForm(request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        chat_moderation.ban(player=player, length=Length(asked["length"]), reason=asked["reason"], by=request.staff)
        messages.success(request, f"{player} may not write in the chat any more.")
    else:
        messages.error(request, "Say for how long and why: it is kept on record.")
    return _back(request)


@staff_required(MODERATE)
@require_POST
def staff_chat_lift(request: StaffRequest, ban_id: int) -> HttpResponse:
    """Let a player write again."""
    try:
        lifted = chat_moderation.lift(ban_id=ban_id, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"{lifted.player} may write in the chat again.")
    return _back(request)


@staff_required(MODERATE, READ)
@looking.listed("the log of the chat")
@require_safe
def staff_chat_log(request: StaffRequest) -> HttpResponse:
    """Everything that was said and is kept, latest first."""
    form = LogForm(request.GET)
    lines: list[ChatMessage] = []
    if form.is_valid():
        asked = form.cleaned_data
        found = chat_cases.search(
            live_table=asked["table"],
            who=asked["player"],
            text=asked["text"],
            since=asked["since"],
            until=asked["until"],
            before=asked["before"],
        )
        lines = list(found[: PAGE + 1])
    older = lines[PAGE - 1].pk if len(lines) > PAGE else None
    return render(request, "staff/chat_log.html", {"form": form, "lines": lines[:PAGE], "older": older})


def _why_not(form: forms.Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _back(request: StaffRequest) -> HttpResponse:
    """Lead back to the page of the chat that the form stands on."""
    page = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(page, None):
        return redirect(page)
    return redirect("staff_chat")
