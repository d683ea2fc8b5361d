"""Letters to players: the forms for answers and decisions, and what a conversation's page shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from django import forms
from django.utils.translation import gettext, gettext_lazy

from players.access import StaffRequest
from players.models import DECIDED, CaseOutcome, Conversation, Player, ReplyKind, ReplyTemplate, Topic, User
from players.support import staff_replies as replies
from players.support.complaints import outside
from players.support.staff_replies import PlaceholdersForm, facts_of, fill
from players.support.views import message_field

HIGHEST: Final = 2**63 - 1  # largest number that the column holds


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


# Templates that an answer may begin from, for complaints (True) and other conversations.
KINDS: Final = {True: (ReplyKind.COMPLAINT, ReplyKind.QUESTION), False: (ReplyKind.QUESTION,)}
Facts = Callable[[str, User], Mapping[str, str]]  # values of template markers in a language, for a letter by this user


@dataclass(frozen=True)
class Decision:
    """Preview of a decision: the reasons as the player reads them, and the external body.

    *is_unsure*: the decision was submitted without confirmation.
    """

    verdict: CaseOutcome
    reasons: str
    outside: str
    is_unsure: bool


def thread(request: StaffRequest, conversation: Conversation, form: AnswerForm | None = None) -> dict[str, Any]:
    """Return what the page of a conversation shows: its messages, and the form of an answer.

    The form holds the number of the last message shown, so an answer states what its author has read.
    """
    written = list(conversation.messages.select_related("staff").order_by("pk"))
    form = form or AnswerForm(offered=offered_for(conversation), player=conversation.player)
    return {
        "conversation": conversation,
        "written": written,
        "form": form,
        "seen": written[-1].pk if written else 0,
        "english": english_of(form, conversation.player, partial(facts_of, conversation), request.user),
    }


def decision_of(request: StaffRequest, conversation: Conversation, asked: Mapping[str, str]) -> Decision:
    """Return the preview of a decision."""
    verdict = CaseOutcome(asked["verdict"])
    return Decision(verdict, asked["text"], outside(conversation.player, verdict), is_unsure="decide" in request.POST)


def offered_for(conversation: Conversation) -> list[ReplyTemplate]:
    """Return the templates that an answer may begin from."""
    return list(replies.offered(KINDS[conversation.topic == Topic.COMPLAINT]))


def begun_from(
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


def english_of(form: LetterForm, player: Player, facts: Facts, reader: User) -> str:
    """Return the chosen template in English, for staff who read no other language.

    It is "" if the player reads English.
    """
    asked = form.cleaned_data if form.is_bound else form.initial
    chosen: ReplyTemplate | None = asked.get("template")
    if chosen is None or player.user.language == "en":
        return ""
    return fill(chosen.texts["en"], facts("en", reader))
