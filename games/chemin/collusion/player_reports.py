"""Reports of players about how others play at their table (GLI-19 v3.0, A.8.1), and findings of staff.

Only staff see who reported: the reported player never learns of it. The text is stored in the
table, where it can be erased; the audit log has ids.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext as _

from audit import log
from audit.log import Json
from games.models import CheminSeat, LiveTable, PlayFinding, PlayReason, PlayReport
from players.models import Player, Staff
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
