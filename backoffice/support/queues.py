"""Lists of messages and complaints: which rows match, and their order."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.db.models import BooleanField, Case, Count, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import Order
from backoffice.lists.staff_list import StaffList
from players.models import (
    HOUSES_TURN,
    CaseStep,
    ComplaintStep,
    Conversation,
    ConversationState,
    Jurisdiction,
    Topic,
    Verdict,
)
from players.support.complaints import SOON
from players.support.staff_replies import LANGUAGES

PAGE: Final = 30
HIGHEST: Final = 2**63 - 1  # largest number that the column holds
ENDED: Final = "ended"
SHOWS: Final = [
    ("", gettext_lazy("Open")),
    ("mine", gettext_lazy("Mine")),
    ("nobodys", gettext_lazy("Unassigned")),
    ("overdue", gettext_lazy("Overdue")),
    (ENDED, gettext_lazy("Closed")),
]


class MessagesForm(ListForm):
    """Filter of messages."""

    usual = gettext_noop("Longest waiting first")

    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("Awaiting our answer")), *ConversationState.choices],
    )
    topic = forms.ChoiceField(
        label=gettext_lazy("Topic"), required=False, choices=[("", gettext_lazy("All topics")), *Topic.choices]
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
        choices=[("", gettext_lazy("All")), *((code, code) for code in LANGUAGES)],
    )
    player = forms.IntegerField(label=gettext_lazy("Player number"), required=False, min_value=1, max_value=HIGHEST)


class ComplaintsForm(ListForm):
    """Filter of complaints."""

    usual = gettext_noop("Earliest due first")

    show = forms.ChoiceField(label=gettext_lazy("Show"), required=False, choices=SHOWS)
    verdict = forms.ChoiceField(
        label=gettext_lazy("Verdict"), required=False, choices=[("", gettext_lazy("Any")), *Verdict.choices]
    )
    where = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("code"),
        label=gettext_lazy("Jurisdiction"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    player = forms.IntegerField(label=gettext_lazy("Player number"), required=False, min_value=1, max_value=HIGHEST)


class Conversations(StaffList):
    """What the lists of messages and of complaints have in common."""

    model = Conversation
    players = ("player_id",)
    size = PAGE
    links = {"id": ("staff_service_thread", "conversation_id", "pk")}

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
            "language": player.user.language,
        }
        return cells.linked(text, self.request.user)

    def show_due_at(self, conversation: Any) -> str:
        """Return the due date, marked if it is near or past."""
        if not conversation.due_at:
            return cells.NOTHING
        near = cells.badge(gettext("Due within 2 days"), "brass") if conversation.is_soon else ""
        late = cells.badge(gettext("Overdue"), "void") if conversation.is_late else near
        return cells.joined(cells.moment(conversation.due_at), late)


class Messages(Conversations):
    """Messages of players.

    Those of one player are newest first, closed ones last closed first, and waiting ones longest
    waiting first.
    """

    name = gettext_noop("Messages")
    form_class = MessagesForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("topic", "Topic"),
        Column("player", "Player"),
        Column("state", "State"),
        Column("changed_at", "Last change", Form.TIME),
        Column("due_at", "Decision due", Form.TIME),
    )
    empty = gettext_noop("No messages await our answer.")
    unmatched = gettext_noop("No messages match this filter.")

    def found(self) -> QuerySet[Conversation]:
        """Return the messages of the filter; without a state and a player, those that await an answer."""
        found, state = _narrowed(Conversation.objects.all(), self.asked), self.asked.get("state")
        if self.asked.get("topic"):
            found = found.filter(topic=self.asked["topic"])
        if state:
            return found.filter(state=state)
        return found if self.asked.get("player") else found.filter(state__in=HOUSES_TURN)

    def usual_order(self) -> Order:
        """Return the order of the index that serves the filter."""
        if self.asked.get("player"):
            return Order(("id",))
        return Order(("changed_at", "id"), is_rising=self.asked.get("state") != ConversationState.CLOSED)

    def show_topic(self, conversation: Conversation) -> str:
        """Return the topic, marked for a complaint."""
        mark = cells.badge(gettext("Complaint"), "brass") if conversation.topic == Topic.COMPLAINT else ""
        return cells.joined(conversation.get_topic_display(), mark)


class Complaints(Conversations):
    """Complaints: open ones first due first, ended ones last ended first."""

    name = gettext_noop("Complaints")
    form_class = ComplaintsForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("player", "Player"),
        Column("began_at", "Filed", Form.TIME),
        Column("due_at", "Due", Form.TIME),
        Column("state", "State"),
        Column("ended_at", "Closed", Form.TIME),
        Column("verdict", "Outcome"),
        Column("assigned_to__name", "Assigned to"),
        Column("round_code", "Round"),
    )
    file_columns = (
        Column("id", "Number", Form.NUMBER),
        Column("player", "Player"),
        Column("player__jurisdiction_id", "Jurisdiction"),
        Column("began_at", "Filed", Form.TIME),
        Column("due_at", "Due", Form.TIME),
        Column("state", "State"),
        Column("ended_at", "Closed", Form.TIME),
        Column("verdict", "Verdict"),
        Column("days", "Days to decision", Form.NUMBER),
        Column("late", "Times overdue", Form.NUMBER),
        Column("reopened", "Times reopened", Form.NUMBER),
        Column("round_code", "Round"),
    )
    links = {
        "id": ("staff_service_thread", "conversation_id", "pk"),
        "round_code": ("staff_round", "round_id", "round_id"),
    }
    file_page = "staff_complaints_export"
    empty = gettext_noop("No open complaints.")
    unmatched = gettext_noop("No complaints match this filter.")

    @classmethod
    def label(cls) -> str:
        """Return the list's name in events."""
        return "complaints"

    @property
    def is_ended(self) -> bool:
        """Whether ended complaints are asked for."""
        return bool(self.asked.get("verdict")) or self.asked.get("show") == ENDED

    def found(self) -> QuerySet[Conversation]:
        """Return the complaints of the filter."""
        found = _narrowed(Conversation.objects.filter(topic=Topic.COMPLAINT), self.asked)
        if self.is_ended:
            found = found.filter(state=ConversationState.CLOSED)
        else:
            found = found.exclude(state=ConversationState.CLOSED)
        if self.asked.get("verdict"):
            found = found.filter(verdict=self.asked["verdict"])
        match self.asked.get("show"):
            case "mine":
                found = found.filter(assigned_to=self.request.staff.pk)
            case "nobodys":
                found = found.filter(assigned_to=None)
            case "overdue":
                found = found.filter(due_at__lt=Now())
        return found.select_related("assigned_to")

    def usual_order(self) -> Order:
        """Return the order of the index that serves the filter."""
        return Order(("ended_at", "id")) if self.is_ended else Order(("due_at", "id"), is_rising=True)

    def items(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Count for each complaint how often it was overdue and reopened."""
        steps = ComplaintStep.objects.filter(conversation__in=rows).values("conversation")
        counted = steps.annotate(
            late=Count("pk", filter=Q(step=CaseStep.OVERDUE)), reopened=Count("pk", filter=Q(step=CaseStep.REOPENED))
        )
        known = {each["conversation"]: each for each in counted}
        none = {"late": 0, "reopened": 0}
        for row in rows:
            row.late, row.reopened = (known.get(row.pk, none)[name] for name in ("late", "reopened"))
        return rows

    def of_days(self, conversation: Conversation) -> int | None:
        """Return the days from the complaint to its end, None while it is open."""
        return (conversation.ended_at - conversation.began_at).days if conversation.ended_at else None

    def show_assigned_to__name(self, conversation: Conversation) -> str:
        """Return who works on the complaint."""
        return conversation.assigned_to.name if conversation.assigned_to else gettext("Unassigned")


def _narrowed(found: QuerySet[Conversation], asked: dict[str, Any]) -> QuerySet[Conversation]:
    """Filter by player, jurisdiction and language, and annotate whether each is late or due soon."""
    if asked.get("player"):
        found = found.filter(player_id=asked["player"])
    if asked.get("where"):
        found = found.filter(player__jurisdiction=asked["where"])
    if asked.get("language"):
        found = found.filter(player__user__language=asked["language"])
    return found.select_related("player__jurisdiction", "player__user").annotate(
        is_late=_open_and(due_at__lt=Now()), is_soon=_open_and(due_at__gte=Now(), due_at__lt=Now() + SOON)
    )


def _open_and(**due: Any) -> Case:
    return Case(
        When(~Q(state=ConversationState.CLOSED) & Q(**due), then=Value(True)),
        default=Value(False),
        output_field=BooleanField(),
    )
