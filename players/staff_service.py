"""Customer service as staff see it: the queue, and one conversation. In English, like all of the back office."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Case, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players import looking, service
from players.access import StaffRequest, staff_required
from players.models import Conversation, ConversationState, Player, ReplyKind, ReplyTemplate, Topic, User, Verdict
from players.replies import keeping
from players.replies.filling import facts_about, facts_of, fill
from players.staff_service_forms import AnswerForm, CloseForm, FirstForm, LetterForm, QueueForm

ANSWER = "players.answer_service"
PAGE = 30
# What an answer may begin from, in a conversation that is a complaint and in any other.
KINDS: Final = {True: (ReplyKind.COMPLAINT, ReplyKind.QUESTION), False: (ReplyKind.QUESTION,)}
Facts = Callable[[str, User], Mapping[str, str]]  # what a letter in a language can say, written by whom
FILTERS: Final = ("state", "topic", "where", "language", "overdue", "player")
UNASKED: Final = (ReplyKind.CHAT, ReplyKind.QUESTION)  # what a letter to somebody who has not written may begin from


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
    query = urlencode({name: request.GET[name] for name in FILTERS if request.GET.get(name)})
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
    offered = keeping.offered(KINDS[conversation.topic == Topic.COMPLAINT])
    if request.method != "POST":
        return _thread(request, conversation, AnswerForm(offered=offered))
    form = AnswerForm(request.POST, offered=offered)
    if "fill" in request.POST:
        typed, chosen = _begun_from(request, form, conversation.player, partial(facts_of, conversation))
        begun = AnswerForm(initial={"text": typed, "template": chosen}, offered=offered)
        return _thread(request, conversation, begun)
    if not form.is_valid():
        return _thread(request, conversation, form)
    asked = form.cleaned_data
    try:
        service.answer(
            staff=request.staff,
            conversation_id=conversation.pk,
            text=asked["text"],
            seen=asked["seen"],
            template=asked["template"],
        )
    except (service.Closed, service.WrittenMeanwhile) as error:
        conversation.refresh_from_db()
        form.add_error(None, str(error))
        return _thread(request, conversation, form)
    messages.success(request, "The answer has been sent, and the player told by mail.")
    return redirect("staff_service_thread", conversation_id=conversation.pk)


@staff_required(ANSWER)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_service_new(request: StaffRequest, player_id: int) -> HttpResponse:
    """Write to a player who has not written."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    offered = keeping.offered(UNASKED)
    form, facts = FirstForm(request.POST or None, offered=offered), partial(facts_about, player)
    if "fill" in request.POST:
        typed, chosen = _begun_from(request, form, player, facts)
        form = FirstForm(
            initial={"topic": request.POST.get("topic"), "text": typed, "template": chosen}, offered=offered
        )
    elif request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            begun = service.approach(
                staff=request.staff,
                player=player,
                topic=Topic(asked["topic"]),
                text=asked["text"],
                template=asked["template"],
            )
        except service.NobodyReads as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The message has been sent, and the player told by mail.")
            return redirect("staff_service_thread", conversation_id=begun.pk)
    looking.note(request, player, what="whom to write to")
    context = {"player": player, "form": form, "english": _english(form, player, facts, request.user)}
    return render(request, "staff/service_new.html", context)


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


def _begun_from(
    request: StaffRequest, form: LetterForm, player: Player, facts: Facts
) -> tuple[str, ReplyTemplate | None]:
    """Return what the letter says once the text of the chosen template stands after what was typed already, in the
    player's language and with *facts* filled in; and the template.
    """
    form.is_valid()
    chosen: ReplyTemplate | None = form.cleaned_data.get("template")
    typed = request.POST.get("text", "")
    if chosen is None:
        return typed, None
    language = player.user.language
    said = fill(chosen.texts[language], facts(language, request.user))
    return "\n\n".join(filter(None, [typed.strip(), said])), chosen


def _english(form: LetterForm, player: Player, facts: Facts, reader: User) -> str:
    """Return what the chosen template says in English, for whoever reads only that; "" where the player does, too."""
    asked = form.cleaned_data if form.is_bound else form.initial
    chosen: ReplyTemplate | None = asked.get("template")
    if chosen is None or player.user.language == "en":
        return ""
    return fill(chosen.texts["en"], facts("en", reader))


def _thread(request: StaffRequest, conversation: Conversation, form: AnswerForm) -> HttpResponse:
    """Show a conversation. The form says up to which message it was shown, and so what its answer knows of."""
    looking.note(request, conversation.player, what="messages")
    written = list(conversation.messages.select_related("staff").order_by("pk"))
    context = {
        "conversation": conversation,
        "written": written,
        "form": form,
        "seen": written[-1].pk if written else 0,
        "english": _english(form, conversation.player, partial(facts_of, conversation), request.user),
        "close_form": CloseForm(),
    }
    return render(request, "staff/service_thread.html", context)


def _queue(form: QueueForm) -> QuerySet[Conversation]:
    asked = form.cleaned_data
    found = Conversation.objects.select_related("player__jurisdiction", "player__user")
    state = asked.get("state")
    found = found.filter(state=state) if state else found.exclude(state=ConversationState.CLOSED)
    if asked.get("topic"):
        found = found.filter(topic=asked["topic"])
    if asked.get("player"):
        found = found.filter(player_id=asked["player"])
    if asked.get("where"):
        found = found.filter(player__jurisdiction=asked["where"])
    if asked.get("language"):
        found = found.filter(player__user__language=asked["language"])
    if asked.get("overdue"):
        found = found.filter(state=ConversationState.RECEIVED, due_at__lt=Now())
    waits = Case(When(Q(state=ConversationState.RECEIVED), then=Value(False)), default=Value(True))
    return found.annotate(is_done=waits).order_by("is_done", "moved_at", "pk")
