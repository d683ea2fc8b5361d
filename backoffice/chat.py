"""Chat moderation: decide reports, remove names, ban players, and search the chat log."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from backoffice.lists.paging import NEWEST_FIRST, Page
from games.chat import moderation
from games.chat.moderation import Decided, Decision, Wanted, Why
from games.chat.moderation import Length as HowLong
from games.models import ChatMessage, Grounds, LiveTable, ReportDecision, ReportReason
from players.access import StaffRequest, staff_required
from players.models import Player, Staff
from players.staff import VISIBLE_TO_PLAYER, access_log

LENGTHS: Final = [
    ("hour", "1 hour"),
    ("day", "1 day"),
    ("week", "1 week"),
    ("lifted", "Until it is lifted"),
]
EVERYWHERE, HERE = "everywhere", "here"
WHERE: Final = [(EVERYWHERE, "At every table"), (HERE, "At this table only")]
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
        choices=[("removed", "Remove"), ("kept", "Keep")],
        coerce=ReportDecision,
        error_messages={"required": "Choose whether to keep or remove the message."},
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
            self.add_error(None, "Choose a reason. It is shown to the player.")
        if (is_removed or asked.get("takes_name")) and not asked.get("sure"):
            self.add_error(None, "Confirm the removal. A removed message or name cannot be restored.")
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
        choices=[("", "Open"), *((each.value, each.label) for each in ReportDecision), (DECIDED, "All decided")],
    )
    table = TableField()
    reason = forms.ChoiceField(label="Reported as", required=False, choices=[("", "All"), *ReportReason.choices])
    by = StaffField(Staff.objects.order_by("name"), label="Decided by", required=False, empty_label="All")
    after = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

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
    player = forms.CharField(label="Player number or chat name", required=False, max_length=40)
    text = forms.CharField(label="Text", required=False, max_length=100)
    since = forms.DateTimeField(
        label="From (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label="Before (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )


MODERATE, READ = "games.moderate_chat", "games.read_chat"
AUTHORS: Final = 10  # per page of the queue
PAGE: Final = 50  # lines of the log, or decided reports
CHOICES: Final = {
    "lengths": LENGTHS,
    "places": WHERE,
    "grounds": Grounds.choices,
    "told": VISIBLE_TO_PLAYER,
}  # for every form about an author


@staff_required(MODERATE, READ)
@access_log.listed("reported messages")
@require_safe
def staff_chat(request: StaffRequest) -> HttpResponse:
    """Show the moderation queue, grouped by author, longest waiting first; or the decided reports."""
    form = QueueForm(request.GET)
    form.full_clean()
    asked = form.cleaned_data
    if form.is_of_decided:
        decided = NEWEST_FIRST.page(moderation.decided(form.wanted), request.GET, PAGE)
        access_log.shown(request, *(report.message.player_id for report in decided.rows))
        return render(request, "staff/chat_decided.html", {"form": form, "page": decided})
    authors = moderation.authors_waiting(form.wanted, after=asked.get("after") or 0, most=AUTHORS + 1)
    access_log.shown(request, authors[:AUTHORS], *(author.player_id for author in authors[:AUTHORS]))
    context = CHOICES | {
        "form": form,
        "authors": authors[:AUTHORS],
        "next": authors[AUTHORS - 1].first if len(authors) > AUTHORS else None,
        "count": moderation.waiting_count(),
    }
    return render(request, "staff/chat.html", context)


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
        f"Chat message {message_id} {'was removed' if decision.of_message is ReportDecision.REMOVED else 'was kept'}."
    ]
    done += ["The chat name was removed."] if decision.takes_name else []
    done += [f"{said.author} is banned from the chat."] if decision.length else []
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
        where = f"at {asked['live_table'].table.name}" if asked["live_table"] else "from the chat"
        messages.success(request, f"{player} is banned {where} and has been notified.")
    else:
        messages.error(request, "Choose a duration and a reason. The reason is shown to the player.")
    return _back(request)


@staff_required(MODERATE)
@require_POST
def staff_chat_name(request: StaffRequest, player_id: int) -> HttpResponse:
    """Take a player's name away."""
    player = get_object_or_404(Player.objects.select_related("user"), pk=player_id)
    form = NameForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a reason. It is shown to the player.")
        return _back(request)
    try:
        moderation.take_name(player=player, name=form.cleaned_data["name"], why=form.why, by=request.staff)
    except Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"The chat name of {player} was removed. It cannot be chosen again.")
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
        messages.success(request, f"{lifted.player} may write in the chat again.")
    return _back(request)


@staff_required(MODERATE, READ)
@access_log.listed("chat log")
@require_safe
def staff_chat_log(request: StaffRequest) -> HttpResponse:
    """Search the stored chat messages, newest first."""
    form = LogForm(request.GET)
    page = Page[ChatMessage]()
    if form.is_valid():
        asked = form.cleaned_data
        found = moderation.search(
            live_table=asked["table"],
            who=asked["player"],
            text=asked["text"],
            since=asked["since"],
            until=asked["until"],
        )
        page = NEWEST_FIRST.page(found, request.GET, PAGE)
    access_log.shown(request, *(line.player_id for line in page.rows))
    return render(request, "staff/chat_log.html", {"form": form, "lines": page.rows, "page": page})


def _message(request: StaffRequest, message_id: int, *, given: Mapping[str, object]) -> HttpResponse:
    """Show a message with its decision form, filled in with *given*."""
    message = get_object_or_404(moderation.said(), pk=message_id)
    here = reverse("staff_chat_message", args=[message_id])
    case = moderation.case_of(message)
    access_log.shown(request, case)
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
