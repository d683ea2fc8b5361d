"""Chat moderation: decide reports, remove names, ban players, and search the chat log."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from games.chat import moderation
from games.chat.moderation import Author, Decided, Decision, Wanted, Why
from games.chat.moderation import Length as HowLong
from games.models import ChatMessage, ChatReport, Grounds, LiveTable, ReportDecision, ReportReason
from players.access import StaffRequest, staff_required
from players.models import Player, Staff
from players.staff import VISIBLE_TO_PLAYER, access_log

LENGTHS: Final = [
    ("hour", gettext_lazy("1 hour")),
    ("day", gettext_lazy("1 day")),
    ("week", gettext_lazy("1 week")),
    ("lifted", gettext_lazy("Until it is lifted")),
]
EVERYWHERE, HERE = "everywhere", "here"
WHERE: Final = [(EVERYWHERE, gettext_lazy("At every table")), (HERE, gettext_lazy("At this table only"))]
WAITING, DECIDED = "waiting", "decided"


class WhyForm(forms.Form):
    """Grounds for an action, which the player reads, and a note for other staff."""

    grounds = forms.TypedChoiceField(choices=[("", gettext_lazy("Choose")), *Grounds.choices], coerce=Grounds)
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

    What cannot be undone must be confirmed. Everything of which the player is notified needs grounds.
    """

    decision = forms.TypedChoiceField(
        choices=[("removed", gettext_lazy("Remove")), ("kept", gettext_lazy("Keep"))],
        coerce=ReportDecision,
        error_messages={"required": gettext_lazy("Choose whether to keep or remove the message.")},
    )
    length = forms.TypedChoiceField(
        required=False, choices=[("", gettext_lazy("No ban")), *LENGTHS], coerce=HowLong, empty_value=None
    )
    where = forms.ChoiceField(required=False, choices=WHERE)
    takes_name = forms.BooleanField(required=False)
    grounds = forms.TypedChoiceField(
        required=False, choices=[("", gettext_lazy("Choose")), *Grounds.choices], coerce=Grounds, empty_value=None
    )
    note = forms.CharField(required=False, max_length=300)
    sure = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Require confirmation of what is final, and grounds for what affects the player."""
        asked = super().clean() or {}
        is_removed = asked.get("decision") == ReportDecision.REMOVED
        if (is_removed or asked.get("takes_name") or asked.get("length")) and not asked.get("grounds"):
            self.add_error(None, gettext("Choose a reason. It is shown to the player."))
        if (is_removed or asked.get("takes_name")) and not asked.get("sure"):
            self.add_error(None, gettext("Confirm the removal. A removed message or name cannot be restored."))
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
        super().__init__(tables, label=gettext_lazy("Table"), required=False, empty_label=gettext_lazy("All"))

    def label_from_instance(self, obj: LiveTable) -> str:
        """Return the label of a table."""
        return gettext("%(name)s, %(mode)s money") % {
            "name": obj.table.name,
            "mode": in_sentence(obj.get_mode_display()),
        }


class StaffField(forms.ModelChoiceField):
    """Choice of a staff member."""

    def label_from_instance(self, obj: Staff) -> str:
        """Return the label of a staff member."""
        return f"{obj.name} ({obj})"


class QueueForm(ListForm):
    """Filter of the moderation queue: waiting reports or decided ones."""

    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[
            ("", gettext_lazy("Open")),
            *((each.value, each.label) for each in ReportDecision),
            (DECIDED, gettext_lazy("All decided")),
        ],
    )
    table = TableField()
    reason = forms.ChoiceField(
        label=gettext_lazy("Reported as"), required=False, choices=[("", gettext_lazy("All")), *ReportReason.choices]
    )
    by = StaffField(
        Staff.objects.order_by("name"),
        label=gettext_lazy("Decided by"),
        required=False,
        empty_label=gettext_lazy("All"),
    )

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
        """True if the form asks for decided reports. A choice of who decided implies that."""
        return bool(self.cleaned_data.get("state") or self.cleaned_data.get("by"))


class LogForm(ListForm):
    """Filter of the chat log."""

    table = TableField()
    player = forms.CharField(label=gettext_lazy("Player number or chat name"), required=False, max_length=40)
    text = forms.CharField(label=gettext_lazy("Text"), required=False, max_length=100)
    since = forms.DateTimeField(
        label=gettext_lazy("From (UTC)"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label=gettext_lazy("Before (UTC)"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )


MODERATE, READ = "games.moderate_chat", "games.read_chat"
AUTHORS: Final = 10  # per page of the queue
CHOICES: Final = {
    "lengths": LENGTHS,
    "places": WHERE,
    "grounds": Grounds.choices,
    "visibility": VISIBLE_TO_PLAYER,
}  # for every form about an author


class WaitingAuthors(StaffList):
    """The moderation queue: authors of reported messages, longest waiting first.

    A row is the first report of an author, and what is shown of it the author.
    """

    model = ChatReport
    name = gettext_noop("Reported messages")
    players = ("players",)
    form_class = QueueForm
    is_rising = True
    size = AUTHORS
    empty = gettext_noop("No reported messages.")
    unmatched = gettext_noop("No open reports match this filter.")
    columns = (
        Column("player_id", "Player"),
        Column("count", "Messages", Form.NUMBER),
        Column("since", "Waiting since", Form.TIME),
    )
    form: QueueForm

    def found(self) -> QuerySet[ChatReport]:
        """Return the first report of each author."""
        return moderation.first_reports(self.form.wanted)

    def items(self, rows: Sequence[ChatReport]) -> Sequence[Author]:
        """Return the authors with their messages."""
        return moderation.authors_of(rows, self.form.wanted)

    def of_player_id(self, author: Author) -> str:
        """Return the author's name in events."""
        return f"player:{author.player_id}"


class DecidedReports(StaffList):
    """Decided reports of messages."""

    model = ChatReport
    name = gettext_noop("Chat decisions")
    players = ("message__player_id",)
    form_class = QueueForm
    columns = (
        Column("message_id", "Message", Form.NUMBER),
        Column("at", "Reported", Form.TIME),
        Column("table", "Table"),
        Column("message__author", "Author"),
        Column("reason", "Reported as"),
        Column("decision", "Decision"),
        Column("decided_by", "By"),
        Column("decided_at", "Decided", Form.TIME),
    )
    accounts = ("decided_by",)
    links = {"message_id": ("staff_chat_message", "message_id", "message_id")}
    unmatched = gettext_noop("No decisions match this filter.")
    form: QueueForm

    def found(self) -> QuerySet[ChatReport]:
        """Return the reports of the filter."""
        return moderation.decided(self.form.wanted)

    def of_table(self, report: ChatReport) -> str:
        """Return the table and its money."""
        return _place(report.message.live_table)

    def show_message_id(self, report: ChatReport) -> str:
        """Return the number of the message with a link."""
        return cells.link(
            self.urls_of(report)["message_id"],
            (gettext("Chat message %(message_id)s") % {"message_id": report.message_id}),
            "num",
        )


@staff_required(MODERATE, READ)
@access_log.listed("reported messages")
@require_safe
def staff_chat(request: StaffRequest) -> HttpResponse:
    """Show the moderation queue, grouped by author; or the decided reports."""
    waiting = WaitingAuthors(request)
    if waiting.form.is_valid() and waiting.form.is_of_decided:
        return DecidedReports(request).answer("staff/chat_decided.html")
    return waiting.answer("staff/chat.html", CHOICES | {"count": moderation.waiting_count()})


@staff_required(MODERATE, READ)
@access_log.listed("a chat message and its context")
@require_safe
def staff_chat_message(request: StaffRequest, message_id: int) -> HttpResponse:
    """Show one message among those around it."""
    return _message(request, message_id, given={})


@staff_required(MODERATE)
@access_log.listed("a chat message and its context")
@require_POST
def staff_chat_decide(request: StaffRequest, message_id: int) -> HttpResponse:
    """Remove or keep a message. Optionally ban its author and take the author's name away."""
    get_object_or_404(ChatMessage, pk=message_id)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _why_not(form))
        return _message(request, message_id, given=request.POST)
    decision = form.decided
    try:
        said = moderation.decide(message_id=message_id, decision=decision, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
        return redirect("staff_chat_message", message_id=message_id)
    done = [
        (
            gettext("Chat message %(message_id)s was removed.") % {"message_id": message_id}
            if decision.of_message is ReportDecision.REMOVED
            else gettext("Chat message %(message_id)s was kept.") % {"message_id": message_id}
        )
    ]
    done += [gettext("The chat name was removed.")] if decision.takes_name else []
    done += [(gettext("%(author)s is banned from the chat.") % {"author": said.author})] if decision.length else []
    messages.success(request, " ".join(done))
    return redirect("staff_chat")


@staff_required(MODERATE)
@require_POST
def staff_chat_ban(request: StaffRequest, player_id: int) -> HttpResponse:
    """Ban a player from writing, at one table or everywhere."""
    player = get_object_or_404(Player.objects.select_related("user"), pk=player_id)
    form = BanForm(request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        moderation.ban(
            player=player, length=asked["length"], why=form.why, by=request.staff, live_table=asked["live_table"]
        )
        if asked["live_table"]:
            said = gettext("%(player)s is banned from the chat at %(table)s and has been notified.")
            facts = {"player": player, "table": asked["live_table"].table.name}
        else:
            said = gettext("%(player)s is banned from the chat at every table and has been notified.")
            facts = {"player": player}
        messages.success(request, said % facts)
    else:
        messages.error(request, gettext("Choose a duration and a reason. The reason is shown to the player."))
    return _back(request)


@staff_required(MODERATE)
@require_POST
def staff_chat_name(request: StaffRequest, player_id: int) -> HttpResponse:
    """Take a player's name away."""
    player = get_object_or_404(Player.objects.select_related("user"), pk=player_id)
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose a reason. It is shown to the player."))
        return _back(request)
    try:
        moderation.take_name(player=player, name=form.cleaned_data["name"], why=form.why, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(
            request,
            (gettext("The chat name of %(player)s was removed. It cannot be chosen again.") % {"player": player}),
        )
    return _back(request)


@staff_required(MODERATE)
@require_POST
def staff_chat_lift(request: StaffRequest, ban_id: int) -> HttpResponse:
    """Lift a ban."""
    try:
        lifted = moderation.lift(ban_id=ban_id, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, (gettext("%(player)s may write in the chat again.") % {"player": lifted.player}))
    return _back(request)


class ChatLog(StaffList):
    """The stored chat messages."""

    model = ChatMessage
    name = gettext_noop("Chat log")
    players = ("player_id",)
    form_class = LogForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("at", "When", Form.TIME),
        Column("table", "Table"),
        Column("name", "Name"),
        Column("author", "Player"),
        Column("language", "Language"),
        Column("text", "Message"),
    )
    file_columns = (*columns, Column("removed_at", "Removed", Form.TIME), Column("removed_by", "By"))
    links = {"id": ("staff_chat_message", "message_id", "pk")}
    unmatched = gettext_noop("No messages match this search.")

    def found(self) -> QuerySet[ChatMessage]:
        """Return the messages of the search."""
        asked = self.asked
        return moderation.search(
            live_table=asked.get("table"),
            who=asked.get("player", ""),
            text=asked.get("text", ""),
            since=asked.get("since"),
            until=asked.get("until"),
        )

    def of_table(self, message: ChatMessage) -> str:
        """Return the table and its money."""
        return _place(message.live_table)

    def show_name(self, message: Any) -> str:
        """Return the author's chat name, and whether it was taken away."""
        return cells.joined(message.name, cells.badge(gettext("name removed"), "void") if message.is_nameless else "")

    def show_text(self, message: ChatMessage) -> str:
        """Return the text in its language, and who removed it."""
        text = format_html('<span class="message__text" lang="{}" dir="auto">{}</span>', message.language, message.text)
        if message.removed_at is None:
            return text
        by = format_html(
            '<span class="dim">{}</span>', gettext("by %(by)s") % {"by": self.staff_name(message.removed_by)}
        )
        return cells.joined(text, cells.badge(gettext("removed"), "void"), by)


@staff_required(MODERATE, READ)
@access_log.listed("chat log")
@require_safe
def staff_chat_log(request: StaffRequest) -> HttpResponse:
    """Search the stored chat messages, newest first."""
    return ChatLog(request).answer("staff/chat_log.html")


def _place(live_table: LiveTable) -> str:
    return f"{live_table.table.name}, {in_sentence(live_table.get_mode_display())}"


def _message(request: StaffRequest, message_id: int, *, given: Mapping[str, object]) -> HttpResponse:
    """Show a message with its decision form, filled in with *given*."""
    message = get_object_or_404(moderation.said(), pk=message_id)
    here = reverse("staff_chat_message", args=[message_id])
    case = moderation.case_of(message)
    access_log.shown(request, *case.players)
    context = CHOICES | {"case": case, "given": given, "here": here}
    return render(request, "staff/chat_message.html", context)


def _why_not(form: forms.Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _back(request: StaffRequest) -> HttpResponse:
    """Redirect to the page that the form was on."""
    page = request.POST.get("next", "")
    if page.startswith("/") and url_has_allowed_host_and_scheme(page, None):
        return redirect(page)
    return redirect("staff_chat")
