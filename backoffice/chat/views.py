"""Chat moderation: decide reports, take names away, ban players from writing, and search the chat log."""

from collections.abc import Mapping
from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from backoffice.chat.forms import LENGTHS, WHERE, BanForm, DecisionForm, LogForm, NameForm, QueueForm
from games.chat import moderation, moderation_queue
from games.chat.moderation import Decided
from games.models import ChatMessage, Grounds, ReportDecision
from players.access import StaffRequest, staff_required
from players.models import Player
from players.staff import access_log
from players.staff.disclosure_notes import TOLD

MODERATE, READ = "games.moderate_chat", "games.read_chat"
AUTHORS: Final = 10  # per page of the queue
PAGE: Final = 50  # lines of the log, or decided reports
CHOICES: Final = {
    "lengths": LENGTHS,
    "places": WHERE,
    "grounds": Grounds.choices,
    "told": TOLD,
}  # for every form about an author


@staff_required(MODERATE, READ)
@access_log.listed("reported messages")
@require_safe
def staff_chat(request: StaffRequest) -> HttpResponse:
    """Show the moderation queue, grouped by author, longest waiting first; or the decided reports."""
    form = QueueForm(request.GET)
    form.full_clean()
    asked = form.cleaned_data
    if form.is_of_decided:
        rows = list(moderation_queue.decided(form.wanted, before=asked.get("before"))[: PAGE + 1])
        older = rows[PAGE - 1].pk if len(rows) > PAGE else None
        access_log.shown(request, *(report.message.player_id for report in rows[:PAGE]))
        return render(request, "staff/chat_decided.html", {"form": form, "reports": rows[:PAGE], "older": older})
    authors = moderation_queue.authors_waiting(form.wanted, after=asked.get("after") or 0, most=AUTHORS + 1)
    access_log.shown(request, authors[:AUTHORS], *(author.player_id for author in authors[:AUTHORS]))
    context = CHOICES | {
        "form": form,
        "authors": authors[:AUTHORS],
        "next": authors[AUTHORS - 1].first if len(authors) > AUTHORS else None,
        "count": moderation_queue.waiting_count(),
    }
    return render(request, "staff/chat.html", context)


@staff_required(MODERATE, READ)
@access_log.listed("a message and those around it")
@require_safe
def staff_chat_message(request: StaffRequest, message_id: int) -> HttpResponse:
    """Show one message among those around it."""
    return _message(request, message_id, given={})


@staff_required(MODERATE)
@access_log.listed("a message and those around it")
@require_POST
def staff_chat_decide(request: StaffRequest, message_id: int) -> HttpResponse:
    """Remove or keep a message. Optionally ban its author and take the author's name away."""
    get_object_or_404(ChatMessage, pk=message_id)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _why_not(form))
        return _message(request, message_id, given=request.POST)
    decision = form.decided
    try:
        said = moderation.decide(message_id=message_id, decision=decision, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
        return redirect("staff_chat_message", message_id=message_id)
    done = [f"Chat message {message_id} {'was removed' if decision.of_message is ReportDecision.REMOVED else 'stays'}."]
    done += ["The name was taken away."] if decision.takes_name else []
    done += [f"{said.author} may not write any more."] if decision.length else []
    messages.success(request, " ".join(done))
    return redirect("staff_chat")


@staff_required(MODERATE)
@require_POST
def staff_chat_ban(request: StaffRequest, player_id: int) -> HttpResponse:
    """Ban a player from writing, at one table or everywhere."""
    player = get_object_or_404(Player.objects.select_related("user"), pk=player_id)
    form = BanForm(request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        moderation.ban(
            player=player, length=asked["length"], why=form.why, by=request.staff, live_table=asked["live_table"]
        )
        where = f"at {asked['live_table'].table.name}" if asked["live_table"] else "in the chat"
        messages.success(request, f"{player} may not write {where} any more, and was told.")
    else:
        messages.error(request, "Say for how long and why: the player is told.")
    return _back(request)


@staff_required(MODERATE)
@require_POST
def staff_chat_name(request: StaffRequest, player_id: int) -> HttpResponse:
    """Take a player's name away."""
    player = get_object_or_404(Player.objects.select_related("user"), pk=player_id)
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why: the player is told.")
        return _back(request)
    try:
        moderation.take_name(player=player, name=form.cleaned_data["name"], why=form.why, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"The name was taken away from {player}. Nobody can choose it again.")
    return _back(request)


@staff_required(MODERATE)
@require_POST
def staff_chat_lift(request: StaffRequest, ban_id: int) -> HttpResponse:
    """Lift a ban."""
    try:
        lifted = moderation.lift(ban_id=ban_id, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"{lifted.player} may write in the chat again.")
    return _back(request)


@staff_required(MODERATE, READ)
@access_log.listed("the log of the chat")
@require_safe
def staff_chat_log(request: StaffRequest) -> HttpResponse:
    """Search the stored chat messages, newest first."""
    form = LogForm(request.GET)
    lines: list[ChatMessage] = []
    if form.is_valid():
        asked = form.cleaned_data
        found = moderation_queue.search(
            live_table=asked["table"],
            who=asked["player"],
            text=asked["text"],
            since=asked["since"],
            until=asked["until"],
            before=asked["before"],
        )
        lines = list(found[: PAGE + 1])
    older = lines[PAGE - 1].pk if len(lines) > PAGE else None
    access_log.shown(request, *(line.player_id for line in lines[:PAGE]))
    return render(request, "staff/chat_log.html", {"form": form, "lines": lines[:PAGE], "older": older})


def _message(request: StaffRequest, message_id: int, *, given: Mapping[str, object]) -> HttpResponse:
    """Show a message with its decision form, filled in with *given*."""
    message = get_object_or_404(moderation_queue.said(), pk=message_id)
    here = reverse("staff_chat_message", args=[message_id])
    case = moderation_queue.case_of(message)
    access_log.shown(request, case)
    context = CHOICES | {"case": case, "given": given, "here": here}
    return render(request, "staff/chat_message.html", context)


def _why_not(form: forms.Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _back(request: StaffRequest) -> HttpResponse:
    """Redirect to the page that the form was on."""
    page = request.POST.get("next", "")
    if page.startswith("/") and url_has_allowed_host_and_scheme(page, None):
        return redirect(page)
    return redirect("staff_chat")
