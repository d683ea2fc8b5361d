"""Customer service as staff see it: the queue, and one conversation. In English, like all of the back office."""

from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Case, Q, QuerySet, Value, When
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players import looking, service
from players.access import StaffRequest, staff_required
from players.models import Conversation, ConversationState, Player, Topic, Verdict
from players.staff_service_forms import AnswerForm, CloseForm, FirstForm, QueueForm

ANSWER = "players.answer_service"
PAGE = 30


@staff_required(ANSWER)
@looking.listed("messages")
@require_safe
def staff_service(request: StaffRequest) -> HttpResponse:
    """The queue: what waits for an answer comes first, and of that what has waited longest."""
    form = QueueForm(request.GET)
    form.full_clean()
    page = form.cleaned_data.get("page") or 1
    start = (page - 1) * PAGE
    rows = list(_queue(form)[start : start + PAGE + 1])
    query = urlencode({name: request.GET[name] for name in ("state", "topic", "player") if request.GET.get(name)})
    context = {
        "form": form,
        "conversations": rows[:PAGE],
        "next_page": page + 1 if len(rows) > PAGE else None,
        "page": page,
        "query": query,
        "now": timezone.now(),
    }
    return render(request, "staff/service.html", context)


@staff_required(ANSWER)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_service_thread(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """One conversation with who the player is, and answering it."""
    conversation = get_object_or_404(
        Conversation.objects.select_related("player__user", "player__jurisdiction"), pk=conversation_id
    )
    form = AnswerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            service.answer(staff=request.staff, conversation_id=conversation.pk, text=form.cleaned_data["text"])
        except service.Closed as error:
            messages.warning(request, str(error))
        else:
            messages.success(request, "The answer has been sent, and the player told by mail.")
        return redirect("staff_service_thread", conversation_id=conversation.pk)
    looking.note(request, conversation.player, what="messages")
    context = {
        "conversation": conversation,
        "written": conversation.messages.select_related("staff").order_by("pk"),
        "form": form,
        "close_form": CloseForm(),
    }
    return render(request, "staff/service_thread.html", context)


@staff_required(ANSWER)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_service_new(request: StaffRequest, player_id: int) -> HttpResponse:
    """Write to a player who has not written."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    form = FirstForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            begun = service.approach(
                staff=request.staff, player=player, topic=Topic(asked["topic"]), text=asked["text"]
            )
        except service.NobodyReads as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The message has been sent, and the player told by mail.")
            return redirect("staff_service_thread", conversation_id=begun.pk)
    looking.note(request, player, what="whom to write to")
    return render(request, "staff/service_new.html", {"player": player, "form": form})


@staff_required(ANSWER)
@require_POST
def staff_service_close(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Close a conversation, or say why not."""
    conversation = get_object_or_404(Conversation, pk=conversation_id)
    form = CloseForm(request.POST)
    chosen = form.cleaned_data["verdict"] if form.is_valid() else ""
    try:
        service.close(staff=request.staff, conversation_id=conversation.pk, verdict=Verdict(chosen) if chosen else None)
    except service.ServiceError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The conversation is closed, and the player told by mail.")
    return redirect("staff_service_thread", conversation_id=conversation.pk)


def _queue(form: QueueForm) -> QuerySet[Conversation]:
    asked = form.cleaned_data
    found = Conversation.objects.select_related("player__jurisdiction", "player__user")
    state = asked.get("state")
    found = found.filter(state=state) if state else found.exclude(state=ConversationState.CLOSED)
    if asked.get("topic"):
        found = found.filter(topic=asked["topic"])
    if asked.get("player"):
        found = found.filter(player_id=asked["player"])
    waits = Case(When(Q(state=ConversationState.RECEIVED), then=Value(False)), default=Value(True))
    return found.annotate(is_done=waits).order_by("is_done", "moved_at", "pk")
