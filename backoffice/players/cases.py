"""Cases in the back office: the list of all kinds, and the names of cases. `backoffice.players.case_page` shows one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django import forms
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpResponse
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext
from django.views.decorators.http import require_safe

from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import Order
from backoffice.lists.staff_list import StaffList
from backoffice.players.identity import GROUNDS
from players import cases
from players.access import StaffRequest, staff_required
from players.models import (
    HOUSES_TURN,
    Case,
    CaseAction,
    CaseEntry,
    CaseKind,
    CaseOutcome,
    Conversation,
    Ground,
    Jurisdiction,
    Marker,
    ServiceMessage,
    User,
)
from players.protection import harm_markers
from players.staff import access_log
from players.support.complaints import SOON

READERS: Final = tuple(dict.fromkeys(cases.PERMISSIONS.values()))
SHOWN_TEXT: Final = 80  # characters of a complaint in the list
BY_PLAYER: Final = {CaseKind.COMPLAINT: (CaseOutcome.BY_PLAYER,)}  # closing reasons that staff do not give


def kinds_of(reader: User) -> list[CaseKind]:
    """Return the kinds of cases that *reader* may see."""
    return [kind for kind, permission in cases.PERMISSIONS.items() if reader.has_perm(permission)]


def title_of(case: Case) -> str:
    """Return the name of a case: its kind, and the marker of one of harm."""
    if case.kind == CaseKind.MARKER:
        return f"{case.get_kind_display()}: {dict(Marker.choices).get(case.subject, case.subject)}"
    return str(case.get_kind_display())


def text_of(case: Case, text: str) -> str:
    """Return the text of an entry: a ground of a duplicate by its name."""
    return str(GROUNDS.get(Ground(text), text)) if case.kind == CaseKind.DUPLICATE and text in Ground.values else text


class CasesForm(ListForm):
    """Filter of cases."""

    usual = gettext_noop("Earliest deadline first")

    kind = forms.ChoiceField(label=gettext_lazy("Kind"), required=False)
    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("Open")), ("overdue", gettext_lazy("Overdue")), ("closed", gettext_lazy("Closed"))],
    )
    owner = forms.ChoiceField(
        label=gettext_lazy("Case owner"),
        required=False,
        choices=[("", gettext_lazy("Anybody")), ("mine", gettext_lazy("Mine")), ("nobody", gettext_lazy("Nobody"))],
    )
    marker = forms.ChoiceField(
        label=gettext_lazy("Marker"), required=False, choices=[("", gettext_lazy("All markers")), *Marker.choices]
    )
    closing = forms.ChoiceField(
        label=gettext_lazy("Closing reason"),
        required=False,
        choices=[("", gettext_lazy("Any")), *CaseOutcome.choices],
    )
    where = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("code"),
        label=gettext_lazy("Jurisdiction"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    player = forms.IntegerField(label=gettext_lazy("Player number"), required=False, min_value=1, max_value=2**63 - 1)

    def __init__(self, asked: Mapping[str, Any], kinds: Sequence[CaseKind]) -> None:
        super().__init__(asked)
        outcomes = {outcome for kind in kinds for outcome in (*cases.OUTCOMES[kind], *BY_PLAYER.get(kind, ()))}
        offered = [each for each in CaseOutcome.choices if each[0] in outcomes]
        self.fields["closing"].choices = [("", gettext("Any")), *offered]  # type: ignore[attr-defined]
        if CaseKind.MARKER not in kinds:
            del self.fields["marker"]
        choices = [("", gettext("All kinds")), *((kind.value, kind.label) for kind in kinds)]
        self.fields["kind"].choices = choices  # type: ignore[attr-defined]


class Cases(StaffList):
    """Cases of the kinds that the reader may see, of all players or of one."""

    model = Case
    name = gettext_noop("Cases")
    players = ("player_id",)
    columns = (
        Column("id", "Case", Form.NUMBER),
        Column("kind", "Kind"),
        Column("player", "Player"),
        Column("finding", "Finding"),
        Column("owner", "Case owner"),
        Column("due_at", "Deadline", Form.TIME),
        Column("state", "State"),
        Column("opened_at", "Opened", Form.TIME),
    )
    file_columns = (
        *columns[:6],
        Column("holds", "Payouts held"),
        *columns[6:],
        Column("closed_at", "Closed", Form.TIME),
        Column("outcome", "Closing reason"),
        Column("jurisdiction", "Jurisdiction"),
        Column("days", "Days to closing", Form.NUMBER),
        Column("late", "Times overdue", Form.NUMBER),
        Column("reopened", "Times reopened", Form.NUMBER),
        Column("round", "Round"),
    )
    empty = gettext_noop("No open cases.")
    unmatched = gettext_noop("No cases match this filter.")
    form: CasesForm

    def make_form(self) -> CasesForm:
        """Return the form with the kinds that the reader may see."""
        return CasesForm(self.request.GET, kinds_of(self.request.user))

    @property
    def is_closed(self) -> bool:
        """True if closed cases are asked for."""
        return self.asked.get("state") == "closed" or bool(self.asked.get("closing"))

    def found(self) -> QuerySet[Case]:
        """Return the cases of the filter."""
        found = Case.objects.filter(kind__in=kinds_of(self.request.user))
        asked = self.asked
        is_closed = self.is_closed
        if self.of or asked.get("player"):
            found = found.filter(player=self.of or asked["player"])
        if not self.of:
            found = found.filter(closed_at__isnull=not is_closed)
        if asked.get("closing"):
            found = found.filter(outcome=asked["closing"])
        if asked.get("where"):
            found = found.filter(player__jurisdiction=asked["where"])
        if asked.get("kind"):
            found = found.filter(kind=asked["kind"])
        if asked.get("marker"):
            found = found.filter(kind=CaseKind.MARKER, subject=asked["marker"])
        if asked.get("owner"):
            found = found.filter(owner=self.request.staff.pk if asked["owner"] == "mine" else None)
        if asked.get("state") == "overdue":
            found = found.filter(due_at__lt=Now())
        return found.select_related("player__jurisdiction", "owner")

    def usual_order(self) -> Order:
        """Return the order: open cases by deadline, others newest first."""
        if self.of or self.is_closed:
            return Order(("id",))
        return Order(("due_at", "id"), is_rising=True)

    def items(self, rows: Sequence[Case]) -> Sequence[Case]:
        """Read the latest finding of each case; of a complaint, its beginning and whether the player waits."""
        entries = CaseEntry.objects.filter(case__in=rows)
        texts = dict(entries.filter(action=CaseAction.OPENED).values_list("case_id", "text"))
        counted = {
            each["case"]: each
            for each in entries.values("case").annotate(
                late=Count("pk", filter=Q(action=CaseAction.OVERDUE)),
                reopened=Count("pk", filter=Q(action=CaseAction.REOPENED)),
            )
        }
        seen = harm_markers.latest_messages(row.pk for row in rows if row.kind == CaseKind.MARKER)
        about = {f"conversation:{each.pk}": each for each in _conversations(rows)}
        beginnings = _beginnings(list(about.values()))
        for row in rows:
            conversation = about.get(row.subject)
            began = beginnings.get(conversation.pk, "") if conversation else ""
            vars(row).update(
                finding=seen.get(row.pk) or began or text_of(row, texts.get(row.pk, "")),
                late=counted[row.pk]["late"],
                reopened=counted[row.pk]["reopened"],
                round=conversation.round_code if conversation else "",
                waits=conversation is not None and conversation.state in HOUSES_TURN,
            )
        return rows

    def of_jurisdiction(self, case: Case) -> str:
        """Return the jurisdiction of the player."""
        return case.player.jurisdiction_id

    def of_days(self, case: Case) -> int | None:
        """Return the days from the opening to the closing, None while it is open."""
        return (case.closed_at - case.opened_at).days if case.closed_at else None

    def of_kind(self, case: Case) -> str:
        """Return the kind, and the marker."""
        return title_of(case)

    def of_player(self, case: Case) -> str:
        """Return the player and the jurisdiction."""
        return f"{case.player}, {case.player.jurisdiction_id}"

    def of_owner(self, case: Case) -> str:
        """Return the owner ("": nobody)."""
        return case.owner.name if case.owner else ""

    def of_state(self, case: Case) -> str:
        """Return the state: open, overdue or the closing reason."""
        if case.closed_at:
            return gettext("Closed: %(outcome)s") % {"outcome": case.get_outcome_display()}
        return gettext("Overdue") if case.due_at < datetime.now(UTC) else pgettext("a case", "Open")

    def show_id(self, case: Case) -> str:
        """Return the number with a link."""
        return cells.link(reverse("staff_case", args=[case.pk]), (gettext("Case %(case)s") % {"case": case.pk}), "num")

    def show_player(self, case: Case) -> str:
        """Return the player with a link, and the jurisdiction."""
        player = cells.html(self.columns[2], str(case.player), "", self.request.user)
        return cells.joined(player, case.player.jurisdiction_id)

    def show_owner(self, case: Case) -> str:
        """Return the owner, or a badge."""
        return self.of_owner(case) or ("–" if case.closed_at else cells.badge(gettext("Nobody"), "brass"))

    def show_state(self, case: Case) -> str:
        """Return the state as a badge, and whether payouts are held."""
        kind = "off" if case.closed_at else "void" if case.due_at < datetime.now(UTC) else "brass"
        held = cells.badge(gettext("Payouts held"), "void") if case.holds and not case.closed_at else ""
        waits = cells.badge(gettext("Awaiting our answer"), "brass") if vars(case).get("waits") else ""
        return cells.joined(cells.badge(self.of_state(case), kind), waits, held)

    def show_due_at(self, case: Case) -> str:
        """Return the deadline, marked if it is near."""
        left = case.due_at - datetime.now(UTC)
        is_near = case.closed_at is None and timedelta() <= left < SOON
        near = cells.badge(gettext("Due within 2 days"), "brass") if is_near else ""
        return cells.joined(cells.moment(case.due_at), near)


@staff_required(*READERS)
@access_log.listed("cases")
@require_safe
def staff_cases(request: StaffRequest) -> HttpResponse:
    """List cases."""
    return Cases(request).answer("staff/cases.html")


def about(case: Case) -> int:
    """Return the number in the subject of a case, such as ``conversation:12``; 0 if it has none."""
    number = case.subject.partition(":")[2]
    return int(number) if number.isdecimal() else 0


def _conversations(rows: Sequence[Case]) -> QuerySet[Conversation]:
    """Return the conversations of the complaints among *rows*."""
    numbers = [about(row) for row in rows if row.kind == CaseKind.COMPLAINT]
    return Conversation.objects.filter(pk__in=numbers)


def _beginnings(conversations: Sequence[Conversation]) -> dict[int, str]:
    """Return the beginning of what each complaint says."""
    messages = ServiceMessage.objects.filter(conversation__in=conversations).order_by("conversation", "pk")
    first = messages.distinct("conversation").values_list("conversation", "text")
    return {number: Truncator(text).chars(SHOWN_TEXT) for number, text in first}
