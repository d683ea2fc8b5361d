"""What the pages of customer service may send."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import Topic
from players.support.conversations import LONGEST

LONGEST_ROUND = 100  # characters somebody may type for the code of a round
LINES = 8


def message_field(label: Any) -> forms.CharField:
    """Return the field for what somebody writes: plain text, its lines kept."""
    return forms.CharField(label=label, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": LINES}))


class MessageForm(forms.Form):
    """A new message to the house."""

    topic = forms.ChoiceField(label=_("What is it about?"), choices=Topic.choices)
    round = forms.CharField(
        label=_("Code of the round, if it is about one"),
        required=False,
        max_length=LONGEST_ROUND,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    text = message_field(_("Your message"))


class ReplyForm(forms.Form):
    """What a player writes on."""

    text = message_field(_("Your message"))


class ReopenForm(forms.Form):
    """Why a player does not agree with a decision."""

    text = message_field(_("Why do you not agree?"))
