"""Customer service: messages from players, one conversation, messages that staff send first, and complaints."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, Final, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy, override
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backoffice.lists import files
from backoffice.support.queues import HIGHEST, Complaints, Messages
from players.access import StaffRequest, staff_required
from players.models import (
    DECIDED,
    CaseStep,
    ComplaintStep,
    Conversation,
    Player,
    ReplyKind,
    ReplyTemplate,
    Topic,
    User,
    Verdict,
)
from players.staff import access_log
from players.support import complaints, conversations
from players.support import staff_replies as replies
from players.support.complaints import ANSWER, DECIDE, outside, turn_to
from players.support.conversations import ServiceError
from players.support.staff_replies import PlaceholdersForm, facts_about, facts_of, fill, given
from players.support.views import message_field


class LetterForm(PlaceholdersForm):
    """Letter to a player, and the template it was begun from."""

    template = forms.ModelChoiceField(
        ReplyTemplate.objects.none(), required=False, label=gettext_lazy("Template"), empty_label=gettext_lazy("None")
    )
    text = message_field(gettext_lazy("Message"))

    def __init__(self, *args: Any, offered: Sequence[ReplyTemplate], **kwargs: Any) -> None:
        """Offer the given templates."""
        super().__init__(*args, **kwargs)
        field = cast("forms.ModelChoiceField", self.fields["template"])
        field.queryset = ReplyTemplate.objects.filter(pk__in=[each.pk for each in offered])
        field.choices = [("", gettext("None")), *((each.pk, each.title) for each in offered)]


class SeenForm(forms.Form):
    """Number of the last message that the author has read."""

    seen = forms.IntegerField(
        min_value=0,
        max_value=HIGHEST,
        widget=forms.HiddenInput,
        error_messages={"required": gettext_lazy("Not sent: a new message has arrived. Read it and send again.")},
    )


class AnswerForm(LetterForm, SeenForm):
    """Answer to a player; with a verdict, the reasons of a decision."""

    text = message_field(gettext_lazy("Answer"))
    verdict = forms.ChoiceField(
        label=gettext_lazy("Verdict (for a decision)"),
        required=False,
        choices=[("", gettext_lazy("None (answer only)")), *((each.value, each.label) for each in DECIDED)],
    )


class FirstForm(LetterForm):
    """First message to a player. The topic cannot be a complaint: only players file complaints."""

    topic = forms.ChoiceField(
        label=gettext_lazy("Topic"), choices=[(each.value, each.label) for each in Topic if each is not Topic.COMPLAINT]
    )


class AssignForm(forms.Form):
    """Assignment of a complaint: the assignee that the page showed and the new one.

    Both are numbers of staff, 0 for nobody.
    """

    whose = forms.IntegerField(min_value=0, max_value=HIGHEST)
    to = forms.IntegerField(min_value=0, max_value=HIGHEST)


class ReopenForm(forms.Form):
    """Reason for reopening a complaint."""

    text = message_field(gettext_lazy("Reason, shown to the player"))


@dataclass(frozen=True)
class Moment:
    """Entry of a timeline: time, action and actor."""

    at: datetime
    what: str
    who: str


def timeline(conversation: Conversation) -> list[Moment]:
    """Return the timeline of a conversation, oldest first."""
    return sorted([*_written(conversation), *_done(conversation)], key=attrgetter("at"))


def _written(conversation: Conversation) -> Iterator[Moment]:
    """Yield the messages that do not belong to a step."""
    of_steps = conversation.steps.exclude(message=None).values("message")
    first = True
    for message in conversation.messages.select_related("staff").exclude(pk__in=of_steps).order_by("pk"):
        by_player = gettext("Received") if first else gettext("The player wrote")
        who = message.staff.name if message.staff else str(conversation.player)
        yield Moment(message.at, gettext("Answered") if message.staff else by_player, who)
        first = False


def _done(conversation: Conversation) -> Iterator[Moment]:
    for step in conversation.steps.select_related("by", "to").order_by("pk"):
        yield Moment(step.at, _said(step), _who(step, str(conversation.player)))


def _said(step: ComplaintStep) -> str:
    what = CaseStep(step.step).label
    match step.step:
        case CaseStep.HANDED if step.to:
            return gettext("%(what)s to %(name)s") % {"what": what, "name": step.to.name}
        case CaseStep.DECIDED:
            return f"{what}: {Verdict(step.verdict).label}"
        case CaseStep.REOPENED:
            return gettext("%(what)s, due %(due_at)s UTC") % {"what": what, "due_at": f"{step.due_at:%Y-%m-%d %H:%M}"}
    return str(what)


def _who(step: ComplaintStep, player: str) -> str:
    if step.by:
        return step.by.name
    return "system" if step.step == CaseStep.OVERDUE else player


# Templates that an answer may begin from, for complaints (True) and other conversations.
KINDS: Final = {True: (ReplyKind.COMPLAINT, ReplyKind.QUESTION), False: (ReplyKind.QUESTION,)}
Facts = Callable[[str, User], Mapping[str, str]]  # values of template markers in a language, for a letter by this user
UNASKED: Final = (ReplyKind.CHAT, ReplyKind.QUESTION)  # templates for a message to a player who has not written


@dataclass(frozen=True)
class Decision:
    """Preview of a decision: the reasons as the player reads them, and the external body.

    *is_unsure*: the decision was submitted without confirmation.
    """

    verdict: Verdict
    reasons: str
    outside: str
    is_unsure: bool


@staff_required(ANSWER)
@access_log.listed("messages")
@require_safe
def staff_service(request: StaffRequest) -> HttpResponse:
    """List messages from players, by default those that wait for the house."""
    return Messages(request).answer("staff/service.html")


@staff_required(ANSWER)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_service_thread(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Show one conversation and the player's data. On POST, answer it."""
    conversation = _find(conversation_id)
    if request.method != "POST":
        return show(request, conversation)
    return _write(request, conversation, is_decision=False)


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
        typed, chosen = _begun_from(request, form, player, facts)
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
    context = {"player": player, "form": form, "english": _english(form, player, facts, request.user)}
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
    reopen_form: ReopenForm | None = None,
    decision: Decision | None = None,
) -> HttpResponse:
    """Show a conversation.

    The form holds the number of the last message shown, so an answer states what its author has
    read.
    """
    access_log.note(request, conversation.player, what="messages")
    written = list(conversation.messages.select_related("staff").order_by("pk"))
    form = form or AnswerForm(offered=_offered(conversation), player=conversation.player)
    context = {
        "conversation": conversation,
        "written": written,
        "form": form,
        "seen": written[-1].pk if written else 0,
        "english": _english(form, conversation.player, partial(facts_of, conversation), request.user),
    }
    if conversation.topic == Topic.COMPLAINT:
        context |= {
            "whose": complaints.named(conversation),
            "colleagues": complaints.answerers(),
            "me": request.staff.pk,
            "may_decide": request.user.has_perm(DECIDE),
            "is_late": complaints.is_overdue(conversation),
            "timeline": timeline(conversation),
            "turn_to": turn_to(conversation),
            "decided_before": complaints.decided_before(conversation, request.staff),
            "reopen_form": reopen_form or ReopenForm(),
            "decision": decision,
        }
    return render(request, "staff/service_thread.html", context)


def _write(request: StaffRequest, conversation: Conversation, *, is_decision: bool) -> HttpResponse:
    """Answer, or decide a complaint. Both send a letter to the player."""
    offered = _offered(conversation)
    form = AnswerForm(request.POST, offered=offered, player=conversation.player)
    if "fill" in request.POST:
        typed, chosen = _begun_from(request, form, conversation.player, partial(facts_of, conversation))
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
        return show(request, conversation, form, decision=_decision(request, conversation, asked))
    try:
        if is_decision:
            complaints.decide(
                by=request.staff,
                conversation_id=conversation.pk,
                verdict=Verdict(asked["verdict"]),
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
    except (conversations.Closed, conversations.NewMessageArrived) as error:
        form.add_error(None, str(error))
        return show(request, _find(conversation.pk), form)
    sent = gettext("Complaint decided") if is_decision else gettext("Answer sent")
    messages.success(request, (gettext("%(sent)s. The player has been notified by e-mail.") % {"sent": sent}))
    return redirect("staff_service_thread", conversation_id=conversation.pk)


def _decision(request: StaffRequest, conversation: Conversation, asked: Mapping[str, str]) -> Decision:
    verdict = Verdict(asked["verdict"])
    return Decision(verdict, asked["text"], outside(conversation, verdict), is_unsure="decide" in request.POST)


def _find(conversation_id: int, **more: object) -> Conversation:
    found = Conversation.objects.select_related("player__user", "player__jurisdiction", "assigned_to")
    return get_object_or_404(found, pk=conversation_id, **more)


def _offered(conversation: Conversation) -> list[ReplyTemplate]:
    """Return the templates that an answer may begin from."""
    return list(replies.offered(KINDS[conversation.topic == Topic.COMPLAINT]))


def _begun_from(
    request: StaffRequest, form: LetterForm, player: Player, facts: Facts
) -> tuple[str, ReplyTemplate | None]:
    """Return the letter's text with its markers filled in, and the chosen template.

    Unless only markers were to be filled in, the text of the template is appended in the player's
    language, with *facts* filled in.
    """
    form.is_valid()
    chosen: ReplyTemplate | None = form.cleaned_data.get("template")
    typed = form.filled(request.POST.get("text", ""))
    if chosen is None or request.POST["fill"] == "placeholders":
        return typed, chosen
    language = player.user.language
    said = fill(chosen.texts[language], facts(language, request.user))
    return "\n\n".join(filter(None, [typed.strip(), said])), chosen


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


def _english(form: LetterForm, player: Player, facts: Facts, reader: User) -> str:
    """Return the chosen template in English, for staff who read no other language.

    It is "" if the player reads English.
    """
    asked = form.cleaned_data if form.is_bound else form.initial
    chosen: ReplyTemplate | None = asked.get("template")
    if chosen is None or player.user.language == "en":
        return ""
    return fill(chosen.texts["en"], facts("en", reader))


@staff_required(ANSWER)
@access_log.listed("complaints")
@require_safe
def staff_complaints(request: StaffRequest) -> HttpResponse:
    """List complaints."""
    return Complaints(request).answer("staff/complaints.html")


@staff_required(files.EXPORT)
@staff_required(ANSWER)
@require_safe
def staff_complaints_export(request: StaffRequest) -> HttpResponse:
    """Export the complaints of the list, from the current page on."""
    return Complaints(request).file()


@staff_required(ANSWER)
@require_POST
def staff_complaint_assign(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Assign a complaint to oneself, to a colleague or to nobody; or show why it is not possible."""
    conversation, form = _find_complaint(conversation_id), AssignForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose the person to assign the complaint to."))
        return redirect("staff_service_thread", conversation_id=conversation.pk)
    asked = form.cleaned_data
    try:
        now = complaints.assign(by=request.staff, conversation_id=conversation.pk, whose=asked["whose"], to=asked["to"])
    except ServiceError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, (gettext("The complaint is %(named)s now.") % {"named": complaints.named(now)}))
    return redirect("staff_service_thread", conversation_id=conversation.pk)


@staff_required(DECIDE)
@require_POST
def staff_complaint_reopen(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Reopen a complaint, or show why it is not possible."""
    conversation, form = _find_complaint(conversation_id), ReopenForm(request.POST)
    if not form.is_valid():
        return show(request, conversation, reopen_form=form)
    try:
        complaints.reopen_by_house(by=request.staff, conversation_id=conversation.pk, text=form.cleaned_data["text"])
    except ServiceError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, gettext("The complaint is reopened and the player has been notified by e-mail."))
    return redirect("staff_service_thread", conversation_id=conversation.pk)


def _find_complaint(conversation_id: int) -> Conversation:
    found = Conversation.objects.select_related("player__user", "player__jurisdiction", "assigned_to")
    return get_object_or_404(found, pk=conversation_id, topic=Topic.COMPLAINT)
