"""Forms of the chat pages in the back office."""

from typing import Any, Final

from django import forms

from games.chat.moderation import Decision, Why
from games.chat.moderation import Length as HowLong
from games.chat.moderation_queue import Wanted
from games.models import Grounds, LiveTable, ReportDecision, ReportReason
from players.models import Staff

LENGTHS: Final = [
    ("hour", "For an hour"),
    ("day", "For a day"),
    ("week", "For a week"),
    ("lifted", "Until it is lifted"),
]
EVERYWHERE, HERE = "everywhere", "here"
WHERE: Final = [(EVERYWHERE, "At every table"), (HERE, "At this table alone")]
WAITING, DECIDED = "waiting", "decided"


class WhyForm(forms.Form):
    """Grounds for an action, which the player reads, and a note for other staff."""

    grounds = forms.TypedChoiceField(choices=[("", "Choose"), *Grounds.choices], coerce=Grounds)
    note = forms.CharField(max_length=300, required=False)

    @property
    def why(self) -> Why:
        """The grounds and the note of a valid form."""
        return Why(self.cleaned_data["grounds"], self.cleaned_data["note"])


class BanForm(WhyForm):
    """Ban from writing: its length, and whether it holds at every table or at one."""

    length = forms.TypedChoiceField(choices=LENGTHS, coerce=HowLong)
    live_table = forms.ModelChoiceField(LiveTable.objects.all(), required=False)


class NameForm(WhyForm):
    """Name to take away.

    It is the name that the moderator saw, even if the player has changed it since.
    """

    name = forms.CharField(max_length=20)


class DecisionForm(forms.Form):
    """Decision about a message, its author and the author's name.

    What cannot be undone must be confirmed. Everything that the player is told about needs grounds.
    """

    decision = forms.TypedChoiceField(
        choices=[("removed", "Remove the message"), ("kept", "Keep it")],
        coerce=ReportDecision,
        error_messages={"required": "Say what becomes of the message."},
    )
    length = forms.TypedChoiceField(
        required=False, choices=[("", "No ban"), *LENGTHS], coerce=HowLong, empty_value=None
    )
    where = forms.ChoiceField(required=False, choices=WHERE)
    takes_name = forms.BooleanField(required=False)
    grounds = forms.TypedChoiceField(
        required=False, choices=[("", "Choose"), *Grounds.choices], coerce=Grounds, empty_value=None
    )
    note = forms.CharField(required=False, max_length=300)
    sure = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Require confirmation of what is final, and grounds for what affects the player."""
        asked = super().clean() or {}
        is_removed = asked.get("decision") == ReportDecision.REMOVED
        if (is_removed or asked.get("takes_name") or asked.get("length")) and not asked.get("grounds"):
            self.add_error(None, "Say why: the player is told.")
        if (is_removed or asked.get("takes_name")) and not asked.get("sure"):
            self.add_error(None, "Confirm that it goes for good: neither message nor name can be brought back.")
        return asked

    @property
    def decided(self) -> Decision:
        """The decision of a valid form."""
        asked = self.cleaned_data
        return Decision(
            of_message=asked["decision"],
            why=Why(asked["grounds"] or Grounds.OTHER, asked["note"]),
            length=asked["length"],
            is_at_one_table=asked["where"] == HERE,
            takes_name=asked["takes_name"],
        )


class TableField(forms.ModelChoiceField):
    """Choice of a shared table in one mode (real or free money)."""

    def __init__(self) -> None:
        """Offer all shared tables and an empty choice."""
        tables = LiveTable.objects.select_related("table").order_by("table__name", "-mode")
        super().__init__(tables, label="Table", required=False, empty_label="All")

    def label_from_instance(self, obj: LiveTable) -> str:
        """Return the label of a table."""
        return f"{obj.table.name}, {obj.get_mode_display().lower()} money"


class StaffField(forms.ModelChoiceField):
    """Choice of a staff member."""

    def label_from_instance(self, obj: Staff) -> str:
        """Return the label of a staff member."""
        return f"{obj.name} ({obj})"


class QueueForm(forms.Form):
    """Filter of the moderation queue: waiting reports or decided ones."""

    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[("", "Waiting"), *((each.value, each.label) for each in ReportDecision), (DECIDED, "All decided")],
    )
    table = TableField()
    reason = forms.ChoiceField(label="Reported as", required=False, choices=[("", "All"), *ReportReason.choices])
    by = StaffField(Staff.objects.order_by("name"), label="Decided by", required=False, empty_label="All")
    after = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    @property
    def wanted(self) -> Wanted:
        """The search that the valid fields ask for."""
        asked = self.cleaned_data
        decision = asked.get("state", "")
        return Wanted(
            live_table=asked.get("table"),
            reason=asked.get("reason", ""),
            decision="" if decision == DECIDED else decision,
            by=str(asked["by"]) if asked.get("by") else "",
        )

    @property
    def is_of_decided(self) -> bool:
        """Whether the form asks for decided reports. A choice of who decided implies that."""
        return bool(self.cleaned_data.get("state") or self.cleaned_data.get("by"))


class LogForm(forms.Form):
    """Filter of the chat log."""

    table = TableField()
    player = forms.CharField(label="Player’s number or name", required=False, max_length=40)
    text = forms.CharField(label="Words in it", required=False, max_length=100)
    since = forms.DateTimeField(
        label="From (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label="Before (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
