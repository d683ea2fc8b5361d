"""Forms of the customer service pages for players."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import Topic
from players.support.conversations import LONGEST

LONGEST_ROUND = 100  # maximum length of a typed round code
LINES = 8


def message_field(label: Any) -> forms.CharField:
    """Return the field for a message: plain text with line breaks."""
    return forms.CharField(label=label, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": LINES}))


class MessageForm(forms.Form):
    """New message of a player."""

    topic = forms.ChoiceField(label=_("What is it about?"), choices=Topic.choices)
    round = forms.CharField(
        label=_("Code of the round, if it is about one"),
        required=False,
        max_length=LONGEST_ROUND,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    text = message_field(_("Your message"))


class ReplyForm(forms.Form):
    """Further message of a player."""

    text = message_field(_("Your message"))


class ReopenForm(forms.Form):
    """Reasons for reopening a decided complaint."""

    text = message_field(_("Why do you not agree?"))
