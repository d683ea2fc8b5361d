"""Forms of the customer service pages."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms

from backoffice.support import queues
from players.models import DECIDED, ConversationState, Jurisdiction, ReplyTemplate, Topic, Verdict
from players.support.forms import message_field
from players.support.replies.default_templates import LANGUAGES
from players.support.replies.staff_inputs import MarksForm

HIGHEST = 2**63 - 1  # largest number that the column holds


class LetterForm(MarksForm):
    """Letter to a player, and the template it was begun from."""

    template = forms.ModelChoiceField(
        ReplyTemplate.objects.none(), required=False, label="Begin from a template", empty_label="None"
    )
    text = message_field("Message")

    def __init__(self, *args: Any, offered: Sequence[ReplyTemplate], **kwargs: Any) -> None:
        """Offer the given templates."""
        super().__init__(*args, **kwargs)
        field = cast("forms.ModelChoiceField", self.fields["template"])
        field.queryset = ReplyTemplate.objects.filter(pk__in=[each.pk for each in offered])
        field.choices = [("", "None"), *((each.pk, each.title) for each in offered)]


class SeenForm(forms.Form):
    """Number of the last message that the author has read."""

    seen = forms.IntegerField(
        min_value=0,
        max_value=HIGHEST,
        widget=forms.HiddenInput,
        error_messages={"required": "Nothing was sent: read what was written, and send again."},
    )


class AnswerForm(LetterForm, SeenForm):
    """Answer to a player; with a verdict, the reasons of a decision."""

    text = message_field("Answer")
    verdict = forms.ChoiceField(
        label="Verdict, if this decides the complaint",
        required=False,
        choices=[("", "None: it is an answer"), *((each.value, each.label) for each in DECIDED)],
    )


class FirstForm(LetterForm):
    """First message to a player. The topic cannot be a complaint: only players file complaints."""

    topic = forms.ChoiceField(
        label="Topic", choices=[(each.value, each.label) for each in Topic if each is not Topic.COMPLAINT]
    )


class AssignForm(forms.Form):
    """Assignment of a complaint: the assignee that the page showed and the new one.

    Both are numbers of staff, 0 for nobody.
    """

    whose = forms.IntegerField(min_value=0, max_value=HIGHEST)
    to = forms.IntegerField(min_value=0, max_value=HIGHEST)


class ReopenForm(forms.Form):
    """Reason for reopening a complaint."""

    text = message_field("Why, as the player reads it")


class MessagesForm(forms.Form):
    """Filter of messages."""

    state = forms.ChoiceField(label="State", required=False, choices=[("", "Waits for us"), *ConversationState.choices])
    topic = forms.ChoiceField(label="Topic", required=False, choices=[("", "All topics"), *Topic.choices])
    where = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("code"), label="Jurisdiction", required=False, empty_label="All"
    )
    language = forms.ChoiceField(
        label="Player reads", required=False, choices=[("", "All"), *((code, code) for code in LANGUAGES)]
    )
    player = forms.IntegerField(label="Player number", required=False, min_value=1, max_value=HIGHEST)
    before = forms.CharField(required=False, widget=forms.HiddenInput)


class DeskForm(forms.Form):
    """Filter of complaints."""

    show = forms.ChoiceField(
        label="Show",
        required=False,
        choices=[
            (queues.OPEN, "Open"),
            (queues.MINE, "Mine"),
            (queues.NOBODYS, "Nobody’s"),
            (queues.OVERDUE, "Overdue"),
            (queues.ENDED, "Ended"),
        ],
    )
    verdict = forms.ChoiceField(label="Verdict", required=False, choices=[("", "Any"), *Verdict.choices])
    where = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("code"), label="Jurisdiction", required=False, empty_label="All"
    )
    player = forms.IntegerField(label="Player number", required=False, min_value=1, max_value=HIGHEST)
    before = forms.CharField(required=False, widget=forms.HiddenInput)
