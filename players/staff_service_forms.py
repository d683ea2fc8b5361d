"""What the back office's pages of customer service may send."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms

from players.models import ConversationState, Jurisdiction, ReplyTemplate, Topic, Verdict
from players.replies.filling import UNFILLED
from players.replies.shipped import LANGUAGES
from players.service_forms import message_field


class LetterForm(forms.Form):
    """What staff write to a player, and the template it was begun from."""

    template = forms.ModelChoiceField(
        ReplyTemplate.objects.none(), required=False, label="Begin from a template", empty_label="None"
    )
    text = message_field("Message")

    def __init__(self, *args: Any, offered: Sequence[ReplyTemplate], **kwargs: Any) -> None:
        """Offer these templates."""
        super().__init__(*args, **kwargs)
        field = cast("forms.ModelChoiceField", self.fields["template"])
        field.queryset = ReplyTemplate.objects.filter(pk__in=[each.pk for each in offered])
        field.choices = [("", "None"), *((each.pk, each.title) for each in offered)]

    def clean_text(self) -> str:
        """Nothing is sent in which something waits to be filled in."""
        text: str = self.cleaned_data["text"]
        if open_marks := sorted(set(UNFILLED.findall(text))):
            raise forms.ValidationError(f"Fill in what still stands in brackets: {', '.join(open_marks)}.")
        return text


class AnswerForm(LetterForm):
    """What staff answer, and the message up to which they have read."""

    text = message_field("Answer")
    seen = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        widget=forms.HiddenInput,
        error_messages={"required": "Nothing was sent: read what was written, and send again."},
    )


class FirstForm(LetterForm):
    """What staff write to a player first: about anything but a complaint, which is the player's to make."""

    topic = forms.ChoiceField(
        label="Topic", choices=[(each.value, each.label) for each in Topic if each is not Topic.COMPLAINT]
    )


class CloseForm(forms.Form):
    """How staff close a conversation."""

    verdict = forms.ChoiceField(
        label="How the complaint ended",
        required=False,
        choices=[("", "Choose"), *((each.value, each.label) for each in Verdict if each is not Verdict.BY_PLAYER)],
    )


class QueueForm(forms.Form):
    """Which conversations the queue shows."""

    state = forms.ChoiceField(label="State", required=False, choices=[("", "Open"), *ConversationState.choices])
    topic = forms.ChoiceField(label="Topic", required=False, choices=[("", "All topics"), *Topic.choices])
    where = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("code"), label="Jurisdiction", required=False, empty_label="All"
    )
    language = forms.ChoiceField(
        label="Player reads", required=False, choices=[("", "All"), *((code, code) for code in LANGUAGES)]
    )
    overdue = forms.BooleanField(label="Overdue alone", required=False)
    player = forms.IntegerField(label="Player number", required=False, min_value=1, max_value=2**63 - 1)
    page = forms.IntegerField(required=False, min_value=1, max_value=10**6, widget=forms.HiddenInput)
