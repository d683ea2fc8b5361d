"""Customer service: messages from players, one conversation, messages that staff send first, and answers to complaints.

A complaint is a case: its list and page are those of cases (`backoffice.players.cases`, `case_page`).
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy, gettext_noop, override
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.reports.kinds import Column, Form
from audit.staff_text import language_label
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import Order
from backoffice.lists.staff_list import StaffList
from backoffice.players import case_page
from backoffice.support.letters import (
    HIGHEST,
    AnswerForm,
    Decision,
    Facts,
    LetterForm,
    SeenForm,
    begun_from,
    decision_of,
    english_of,
    offered_for,
    thread,
)
from players.access import StaffRequest, staff_required
from players.cases import CaseError
from players.models import (
    HOUSES_TURN,
    CaseOutcome,
    Conversation,
    ConversationState,
    Jurisdiction,
    Player,
    ReplyKind,
    ReplyTemplate,
    Topic,
)
from players.staff import access_log
from players.support import complaints, conversations
from players.support import staff_replies as replies
from players.support.complaints import ANSWER, DECIDE
from players.support.staff_replies import LANGUAGES, facts_about, facts_of, fill, given

PAGE: Final = 30
UNASKED: Final = (ReplyKind.CHAT, ReplyKind.QUESTION)  # templates for a message to a player who has not written
TOPICS: Final = [(each.value, each.label) for each in Topic if each is not Topic.COMPLAINT]
STATES: Final = (ConversationState.RECEIVED, ConversationState.ANSWERED, ConversationState.CLOSED)


class MessagesForm(ListForm):
    """Filter of messages."""

    usual = gettext_noop("Longest waiting first")

    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("Awaiting our answer")), *((each.value, each.label) for each in STATES)],
    )
    topic = forms.ChoiceField(
        label=gettext_lazy("Topic"), required=False, choices=[("", gettext_lazy("All topics")), *TOPICS]
    )
    where = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("code"),
        label=gettext_lazy("Jurisdiction"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Player’s language"),
        required=False,
        choices=lambda: [("", gettext("All")), *((code, language_label(code)) for code in LANGUAGES)],
    )
    player = forms.IntegerField(label=gettext_lazy("Player number"), required=False, min_value=1, max_value=HIGHEST)


class Messages(StaffList):
    """Messages of players. Complaints are cases, and not among them.

    Those of one player are newest first, closed ones last closed first, and waiting ones longest
    waiting first.
    """

    model = Conversation
    players = ("player_id",)
    size = PAGE
    links = {"id": ("staff_service_thread", "conversation_id", "pk")}
    name = gettext_noop("Messages")
    form_class = MessagesForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("topic", "Topic"),
        Column("player", "Player"),
        Column("state", "State"),
        Column("changed_at", "Last change", Form.TIME),
    )
    empty = gettext_noop("No messages await our answer.")
    unmatched = gettext_noop("No messages match this filter.")

    def found(self) -> QuerySet[Conversation]:
        """Return the messages of the filter; without a state and a player, those that await an answer."""
        found, asked = Conversation.objects.exclude(topic=Topic.COMPLAINT), self.asked
        if asked.get("player"):
            found = found.filter(player_id=asked["player"])
        if asked.get("where"):
            found = found.filter(player__jurisdiction=asked["where"])
        if asked.get("language"):
            found = found.filter(player__user__language=asked["language"])
        if asked.get("topic"):
            found = found.filter(topic=asked["topic"])
        found = found.select_related("player__jurisdiction", "player__user")
        if asked.get("state"):
            return found.filter(state=asked["state"])
        return found if asked.get("player") else found.filter(state__in=HOUSES_TURN)

    def usual_order(self) -> Order:
        """Return the order of the index that serves the filter."""
        if self.asked.get("player"):
            return Order(("id",))
        return Order(("changed_at", "id"), is_rising=self.asked.get("state") != ConversationState.CLOSED)

    def show_id(self, conversation: Conversation) -> str:
        """Return the number with a link."""
        return cells.link(
            self.urls_of(conversation)["id"],
            (gettext("Message %(conversation)s") % {"conversation": conversation.pk}),
            "num",
        )

    def show_player(self, conversation: Conversation) -> str:
        """Return the player, their jurisdiction and language."""
        player = conversation.player
        text = gettext("%(player)s, %(jurisdiction_id)s, language %(language)s") % {
            "player": player,
            "jurisdiction_id": player.jurisdiction_id,
            "language": language_label(player.user.language),
        }
        return cells.linked(text, self.request.user)


class FirstForm(LetterForm):
    """First message to a player. The topic cannot be a complaint: only players file complaints."""

    topic = forms.ChoiceField(label=gettext_lazy("Topic"), choices=TOPICS)


@staff_required(ANSWER)
@access_log.listed("messages")
@require_safe
def staff_service(request: StaffRequest) -> HttpResponse:
    """List messages from players, by default those that wait for the house."""
    return Messages(request).answer("staff/service.html")


@staff_required(ANSWER)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_service_thread(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Show one conversation and the player's data. On POST, answer it. A complaint has the page of its case."""
    conversation = _find(conversation_id)
    if request.method == "POST":
        return _write(request, conversation, is_decision=False)
    if conversation.topic == Topic.COMPLAINT:
        return redirect("staff_case", complaints.case_of(conversation).pk)
    return show(request, conversation)


@staff_required(DECIDE)
@require_POST
def staff_complaint_decide(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Preview a decision. Once confirmed, take it, or show why it is not possible."""
    return _write(request, _find(conversation_id, topic=Topic.COMPLAINT), is_decision=True)


@staff_required(ANSWER)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_service_new(request: StaffRequest, player_id: int) -> HttpResponse:
    """Write to a player who has not written."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    offered = replies.offered(UNASKED)
    facts = partial(facts_about, player)
    initial = _given(request, player, offered, facts)
    form = FirstForm(request.POST or None, initial=initial, offered=offered, player=player)
    if "fill" in request.POST:
        typed, chosen = begun_from(request, form, player, facts)
        initial = {"topic": request.POST.get("topic"), "text": typed, "template": chosen}
        form = FirstForm(initial=initial, offered=offered, player=player)
    elif request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            begun = conversations.approach(
                staff=request.staff,
                player=player,
                topic=Topic(asked["topic"]),
                text=asked["text"],
                template=asked["template"],
            )
        except conversations.NobodyReads as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("Message sent. The player has been notified by e-mail."))
            return redirect("staff_service_thread", conversation_id=begun.pk)
    access_log.note(request, player, what="the recipient")
    context = {"player": player, "form": form, "english": english_of(form, player, facts, request.user)}
    return render(request, "staff/service_new.html", context)


@staff_required(ANSWER)
@require_POST
def staff_service_close(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Close a conversation, or show why it is not possible."""
    conversation, form = _find(conversation_id), SeenForm(request.POST)
    try:
        seen = form.cleaned_data["seen"] if form.is_valid() else 0
        conversations.close(staff=request.staff, conversation_id=conversation.pk, seen=seen)
    except conversations.ServiceError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, gettext("Conversation closed. The player has been notified by e-mail."))
    return redirect("staff_service_thread", conversation_id=conversation.pk)


def show(
    request: StaffRequest,
    conversation: Conversation,
    form: AnswerForm | None = None,
    decision: Decision | None = None,
) -> HttpResponse:
    """Show a conversation; a complaint on the page of its case."""
    if conversation.topic == Topic.COMPLAINT:
        return case_page.show_complaint(request, complaints.case_of(conversation), form, decision)
    access_log.note(request, conversation.player, what="messages")
    return render(request, "staff/service_thread.html", thread(request, conversation, form))


def _write(request: StaffRequest, conversation: Conversation, *, is_decision: bool) -> HttpResponse:
    """Answer, or decide a complaint. Both send a letter to the player."""
    offered = offered_for(conversation)
    form = AnswerForm(request.POST, offered=offered, player=conversation.player)
    if "fill" in request.POST:
        typed, chosen = begun_from(request, form, conversation.player, partial(facts_of, conversation))
        initial = {"text": typed, "template": chosen, "verdict": request.POST.get("verdict")}
        return show(request, conversation, AnswerForm(initial=initial, offered=offered, player=conversation.player))
    if form.is_valid() and bool(form.cleaned_data["verdict"]) is not is_decision:
        form.add_error(
            "verdict",
            gettext("Choose the verdict.")
            if is_decision
            else gettext("An answer has no verdict. Send a decision, or choose no verdict."),
        )
    if not form.is_valid():
        return show(request, conversation, form)
    asked = form.cleaned_data
    if is_decision and "sure" not in request.POST:
        return show(request, conversation, form, decision=decision_of(request, conversation, asked))
    try:
        if is_decision:
            complaints.decide(
                by=request.staff,
                conversation_id=conversation.pk,
                verdict=CaseOutcome(asked["verdict"]),
                reasons=asked["text"],
                seen=asked["seen"],
            )
        else:
            conversations.answer(
                staff=request.staff,
                conversation_id=conversation.pk,
                text=asked["text"],
                seen=asked["seen"],
                template=asked["template"],
            )
    except (conversations.Closed, conversations.NewMessageArrived, CaseError) as error:
        form.add_error(None, str(error))
        return show(request, _find(conversation.pk), form)
    sent = gettext("Complaint decided") if is_decision else gettext("Answer sent")
    messages.success(request, (gettext("%(sent)s. The player has been notified by e-mail.") % {"sent": sent}))
    return redirect("staff_service_thread", conversation_id=conversation.pk)


def _find(conversation_id: int, **more: object) -> Conversation:
    found = Conversation.objects.select_related("player__user", "player__jurisdiction")
    return get_object_or_404(found, pk=conversation_id, **more)


def _given(request: StaffRequest, player: Player, offered: Sequence[ReplyTemplate], facts: Facts) -> dict[str, object]:
    """Return the initial values for a letter about the subject that the URL names."""
    language = player.user.language
    with override(language):
        begun = given(request.GET.get("about", ""), player)
    chosen = next((each for each in offered if begun and each.name == begun.template), None)
    if begun is None or chosen is None:
        return {}
    said = fill(chosen.texts[language], {**facts(language, request.user), **begun.facts})
    return {"text": said, "template": chosen, "topic": Topic.OTHER}
