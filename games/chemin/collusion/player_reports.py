"""Reports of players about how others play at their table (GLI-19 v3.0, A.8.1), and findings of staff.

Only staff see who reported: the reported player never learns of it. The text is stored in the
table, where it can be erased; the audit log has ids. The page of a report is one of its own, which works without a
script.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from audit import log
from audit.log import Json
from games.chemin.pages.messages import player_name
from games.models import ChatName, CheminSeat, LiveTable, PlayFinding, PlayReason, PlayReport, Shape, Table
from games.shared.pages.views import live_table_of
from games.tables.access import at_a_playable_table
from players.access import PlayerRequest, player_required
from players.models import Player, Staff
from players.rates import at_a_human_pace
from wallet.models import Mode

WITHIN: Final = timedelta(hours=1)
"""Period after leaving in which a player may report and be reported."""

MOST: Final = 5
"""Reports that one player may make in that period: enough for a full table, few enough for staff to handle."""

LONGEST: Final = 500
LOCK: Final = 0x5AB0_4E9  # key of pg_advisory_xact_lock, with the player's id


class ReportError(Exception):
    """The report is refused; the text says why, in the reader's language."""


class NotAtTheTable(ReportError):
    """The reporter has not sat at this table within the last hour."""


class NobodyThere(ReportError):
    """No other player had this seat within the last hour; house players do not count."""


class TooManyReports(ReportError):
    """The reporter has made the maximum number of reports within an hour."""


class Decided(Exception):
    """Another staff member has decided this report first; the text says so."""


def recent_players(live_table: LiveTable) -> QuerySet[CheminSeat]:
    """Return players who sit at a table or left within the last hour, without house players.

    Seated players come before those who left, by seat number.
    """
    lately = CheminSeat.objects.filter(Q(left_at=None) | Q(left_at__gte=Now() - WITHIN), live_table=live_table)
    return lately.exclude(player=None).order_by("number", F("left_at").desc(nulls_first=True))


def left_lately(player: Player, slug: str, mode: Mode) -> CheminSeat | None:
    """Return the last seat that *player* left within the last hour at the table with this slug."""
    seats = CheminSeat.objects.filter(player=player, live_table__table__slug=slug, live_table__mode=mode)
    gone = seats.filter(left_at__gte=Now() - WITHIN).select_related("live_table__table")
    return gone.order_by("-left_at").first()


def others_lately(live_table: LiveTable, player: Player) -> Sequence[CheminSeat]:
    """Return the seats that *player* may report, by number, seated players before those who left.

    Each player appears once for each seat number, with their latest seat row there.
    """
    found: dict[tuple[int, int | None], CheminSeat] = {}
    for seat in recent_players(live_table).exclude(player=player):
        found.setdefault((seat.number, seat.player_id), seat)
    return list(found.values())


@transaction.atomic
def report(*, player: Player, live_table_id: int, seat_id: int, reason: PlayReason, text: str) -> PlayReport:
    """Report to staff how a player plays.

    *seat_id* is a `CheminSeat` row. It means the player of that row, not one who sat down at the
    same seat since. *text* has at most `LONGEST` characters. Raises NotAtTheTable, NobodyThere,
    TooManyReports.
    """
    live_table = LiveTable.objects.get(pk=live_table_id)
    if not recent_players(live_table).filter(player=player).exists():
        raise NotAtTheTable(_("Only players at this table can report how others play here."))
    seat = recent_players(live_table).exclude(player=player).filter(pk=seat_id).first()
    if seat is None:
        raise NobodyThere(_("No other player has this seat."))
    _demand_few(player)
    made = PlayReport.objects.create(
        live_table=live_table,
        reporter=player,
        seat=seat,
        round_id=live_table.round_id,
        reason=reason,
        text=text.strip()[:LONGEST],
    )
    data: dict[str, Json] = {"report": made.pk, "reason": reason.value, "table": live_table.pk, "place": seat.number}
    log.record("play.reported", by=str(player), on=str(seat.player), data=data)
    return made


def waiting() -> QuerySet[PlayReport]:
    """Return the undecided reports, oldest first."""
    return all_reports().filter(decided_at=None).order_by("at", "pk")


def all_reports() -> QuerySet[PlayReport]:
    """Return every report, with table and players, latest first."""
    found = PlayReport.objects.select_related("live_table__table", "seat__player", "reporter")
    return found.order_by("-at", "-pk")


@transaction.atomic
def decide(*, report_id: int, finding: PlayFinding, note: str, by: Staff) -> PlayReport:
    """Store the finding of staff about a report, once. Raises Decided, PlayReport.DoesNotExist."""
    found = PlayReport.objects.select_for_update(no_key=True).get(pk=report_id)
    if found.decided_at is not None:
        raise Decided(
            gettext("%(decided_by)s has already decided report %(found)s: %(finding)s.")
            % {"decided_by": found.decided_by, "found": found.pk, "finding": found.get_finding_display()}
        )
    found.finding, found.note, found.decided_by = finding, note.strip(), str(by)
    PlayReport.objects.filter(pk=found.pk).update(
        finding=found.finding, note=found.note, decided_by=found.decided_by, decided_at=Now()
    )
    data: dict[str, Json] = {"report": found.pk, "finding": finding.value}
    log.record("play.report_decided", by=str(by), on=str(found.seat.player), data=data)
    return found


def _demand_few(player: Player) -> None:
    """Raise TooManyReports at the limit. A lock makes concurrent reports of one player count one after another."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, (%s %% 2147483647)::int)", [LOCK, player.pk])
    if PlayReport.objects.filter(reporter=player, at__gt=Now() - WITHIN).count() >= MOST:
        raise TooManyReports(
            ngettext(
                "You have made %(count)s report in the last hour. To report more, contact customer service.",
                "You have made %(count)s reports in the last hour. To report more, contact customer service.",
                MOST,
            )
            % {"count": MOST}
        )


class ReportForm(forms.Form):
    """The reported seat, the reason and a text."""

    seat_id = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    reason = forms.TypedChoiceField(coerce=PlayReason)
    text = forms.CharField(required=False, max_length=LONGEST)

    def __init__(self, *args: Any, seated_players: Sequence[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seated_players = seated_players
        self.fields["reason"].choices = _reasons()  # type: ignore[attr-defined]

    @property
    def fault(self) -> str:
        """Return what is missing, or ""."""
        if not self.is_bound or self.is_valid():
            return ""
        if "text" in self.errors:
            return str(self.errors["text"][0])
        return _("Choose a player and what you noticed.")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@at_a_human_pace
def chemin_report(request: PlayerRequest, slug: str, mode: Mode) -> HttpResponse:
    """Show or process the form, also for a recent player who may no longer play at the table."""
    left = left_lately(request.player, slug, mode)
    return _report(request, left.live_table.table, mode) if left else _as_anybody(request, slug, mode)


def _report(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    if found.shape != Shape.CHEMIN:
        raise Http404
    live = live_table_of(found, mode)
    seated_players = _named(others_lately(live, request.player), request.player.jurisdiction.time_zone)
    form = ReportForm(
        request.POST if request.method == "POST" else None, seated_players=seated_players, initial=_wish(request)
    )
    if not form.is_valid():
        return _page(request, live, form, form.fault)
    try:
        report(player=request.player, live_table_id=live.pk, **form.cleaned_data)
    except ReportError as error:
        return _page(request, live, form, str(error))
    return render(request, "games/chemin_report.html", {"table": found, "now_mode": mode, "is_done": True})


_as_anybody = at_a_playable_table(_report)


def _page(request: HttpRequest, live: LiveTable, form: ReportForm, fault: str) -> HttpResponse:
    context = {
        "table": live.table,
        "now_mode": live.mode,
        "form": form,
        "fault": fault,
        "longest": LONGEST,
    }
    return render(request, "games/chemin_report.html", context)


def _wish(request: HttpRequest) -> dict[str, str]:
    """Return the seat preselected by the link."""
    return {"seat_id": request.GET.get("seat", "")}


def _named(seated_players: Sequence[CheminSeat], zone: str) -> list[tuple[int, str]]:
    """Return the names of seats by id; with the time of leaving, because another player may sit there now."""
    chosen = ChatName.objects.filter(player__in=[seat.player_id for seat in seated_players]).values_list(
        "player", "name"
    )
    names: dict[int | None, str] = dict(chosen)
    return [(seat.pk, _name(seat, names.get(seat.player_id, ""), zone)) for seat in seated_players]


def _name(seat: CheminSeat, chat_name: str, zone: str) -> str:
    who = player_name(seat.number, chat_name)
    if seat.left_at is None:
        return who
    return _("%(who)s, until %(time)s") % {"who": who, "time": f"{seat.left_at.astimezone(ZoneInfo(zone)):%H:%M}"}


def _reasons() -> list[tuple[PlayReason, str]]:
    return [
        (PlayReason.CHIP_DUMPING, _("Loses to another player on purpose")),
        (PlayReason.SOFT_PLAY, _("Goes easy on another player: does not stake against their bank")),
        (PlayReason.SIGNS, _("Colludes with another player, or signals to them during play")),
        (PlayReason.OTHER, _("Something else")),
    ]
