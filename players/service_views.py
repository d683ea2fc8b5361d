"""Customer service as players see it: their own conversations. Writing about a round stands a floor above, where rounds
are known.
"""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players import service
from players.access import PlayerRequest, player_required
from players.models import Conversation
from players.rates import now_and_then
from players.service_forms import ReplyForm

PAGE = 20


@player_required
@require_safe
def service_list(request: PlayerRequest) -> HttpResponse:
    """The player's own conversations, newest first."""
    mark = request.GET.get("before", "")
    found = Conversation.objects.filter(player=request.player).order_by("-pk")
    is_first = not (mark.isascii() and mark.isdigit() and len(mark) < 19)
    if not is_first:
        found = found.filter(pk__lt=int(mark))
    rows = list(found[: PAGE + 1])
    older = rows[PAGE - 1].pk if len(rows) > PAGE else None
    context = {"conversations": rows[:PAGE], "older": older, "first": is_first}
    return render(request, "players/service.html", context)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def service_thread(request: PlayerRequest, conversation_id: int) -> HttpResponseBase:
    """One conversation, and writing on in it."""
    conversation = _own(request, conversation_id)
    if request.method == "POST":
        return _reply(request, conversation)
    service.mark_seen(conversation)
    return _render(request, conversation, ReplyForm())


@player_required
@require_POST
@now_and_then
def service_close(request: PlayerRequest, conversation_id: int) -> HttpResponse:
    """End one's own conversation; whoever finds it closed already is told so."""
    conversation = _own(request, conversation_id)
    try:
        service.close_own(player=request.player, conversation_id=conversation.pk)
    except service.Closed as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("The conversation is closed."))
    return redirect("service_thread", conversation_id=conversation.pk)


@now_and_then
def _reply(request: PlayerRequest, conversation: Conversation) -> HttpResponse:
    form = ReplyForm(request.POST)
    if not form.is_valid():
        return _render(request, conversation, form)
    try:
        service.reply(player=request.player, conversation_id=conversation.pk, text=form.cleaned_data["text"])
    except service.Closed as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("Your message has been sent."))
    return redirect("service_thread", conversation_id=conversation.pk)


def _own(request: PlayerRequest, conversation_id: int) -> Conversation:
    found = Conversation.objects.filter(pk=conversation_id, player=request.player).first()
    if found is None:
        raise Http404
    return found


def _render(request: PlayerRequest, conversation: Conversation, form: ReplyForm) -> HttpResponse:
    written = conversation.messages.order_by("pk")
    context = {"conversation": conversation, "written": written, "form": form}
    return render(request, "players/service_thread.html", context)
