"""What the back office's pages of customer service may send."""

from django import forms

from players.models import ConversationState, Topic, Verdict
from players.service_forms import message_field


class AnswerForm(forms.Form):
    """What staff answer."""

    text = message_field("Answer")


class FirstForm(forms.Form):
    """What staff write to a player first: about anything but a complaint, which is the player's to make."""

    topic = forms.ChoiceField(
        label="Topic", choices=[(each.value, each.label) for each in Topic if each is not Topic.COMPLAINT]
    )
    text = message_field("Message")


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
    player = forms.IntegerField(label="Player number", required=False, min_value=1, max_value=2**63 - 1)
    page = forms.IntegerField(required=False, min_value=1, max_value=10**6, widget=forms.HiddenInput)
