"""What guests report of how others play at their table (GLI-19 v3.0, A.8.1), and what staff find.

Who reported whom is for staff alone: a guest never learns of a report. The words stay in the table, where they can be
forgotten; the event log has numbers.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit import log
from audit.log import Json
from games.models import CheminSeat, LiveTable, PlayFinding, PlayReason, PlayReport
from players.models import Player, Staff
from wallet.models import Mode

WITHIN: Final = timedelta(hours=1)
"""After getting up a guest may still report, and be reported, for so long."""

MOST: Final = 5
"""Reports that one guest makes within that time: enough for a full table, too few to keep staff from the others."""

LONGEST: Final = 500
LOCK: Final = 0x5AB0_4E9  # of pg_advisory_xact_lock, beside a player's number


class ReportError(Exception):
    """A report that is not taken; the text says why, in the reader's language."""


class NotAtTheTable(ReportError):
    """The reporter has not sat at this table within the last hour."""


class NobodyThere(ReportError):
    """No other guest had this seat within the last hour; house players are none."""


class TooManyReports(ReportError):
    """The reporter has made all reports that are taken within an hour."""


class Decided(Exception):
    """Somebody else has decided this report meanwhile; the text says so."""


def guests_lately(live_table: LiveTable) -> QuerySet[CheminSeat]:
    """Return who sits at a table or got up within the last hour, house players left out; those who sit there first."""
    lately = CheminSeat.objects.filter(Q(left_at=None) | Q(left_at__gte=Now() - WITHIN), live_table=live_table)
    return lately.exclude(player=None).order_by("number", F("left_at").desc(nulls_first=True))


def left_lately(player: Player, slug: str, mode: Mode) -> CheminSeat | None:
    """Return the last seat from which *player* got up within the last hour at the table with this slug."""
    seats = CheminSeat.objects.filter(player=player, live_table__table__slug=slug, live_table__mode=mode)
    gone = seats.filter(left_at__gte=Now() - WITHIN).select_related("live_table__table")
    return gone.order_by("-left_at").first()


def others_lately(live_table: LiveTable, player: Player) -> Sequence[CheminSeat]:
    """Return whom *player* may report, by place, those who sit there before those who got up: each guest once for each
    place, with the seat they had there last.
    """
    found: dict[tuple[int, int | None], CheminSeat] = {}
    for seat in guests_lately(live_table).exclude(player=player):
        found.setdefault((seat.number, seat.player_id), seat)
    return list(found.values())


@transaction.atomic
def report(*, player: Player, live_table_id: int, seat_id: int, reason: PlayReason, words: str) -> PlayReport:
    """Have staff look at how a guest plays. *seat_id* is the row of a `CheminSeat`, and who has or had that seat is
    meant: not somebody who has sat down at the same place since. *words* are at most `LONGEST` characters.

    Raises NotAtTheTable, NobodyThere, TooManyReports.
    """
    live_table = LiveTable.objects.get(pk=live_table_id)
    if not guests_lately(live_table).filter(player=player).exists():
        raise NotAtTheTable(_("Only guests of this table can report how others play at it."))
    seat = guests_lately(live_table).exclude(player=player).filter(pk=seat_id).first()
    if seat is None:
        raise NobodyThere(_("No other guest sits at this place."))
    _demand_few(player)
    made = PlayReport.objects.create(
        live_table=live_table,
        reporter=player,
        seat=seat,
        round_id=live_table.round_id,
        reason=reason,
        words=words.strip()[:LONGEST],
    )
    data: dict[str, Json] = {"report": made.pk, "reason": reason.value, "table": live_table.pk, "place": seat.number}
    log.record("play.reported", by=str(player), on=str(seat.player), data=data)
    return made


def waiting() -> QuerySet[PlayReport]:
    """Return the reports that nobody has decided, oldest first."""
    return all_reports().filter(decided_at=None).order_by("at", "pk")


def all_reports() -> QuerySet[PlayReport]:
    """Return every report, with table and guests, latest first."""
    found = PlayReport.objects.select_related("live_table__table", "seat__player", "reporter")
    return found.order_by("-at", "-pk")


@transaction.atomic
def decide(*, report_id: int, finding: PlayFinding, note: str, by: Staff) -> PlayReport:
    """Keep what staff found about a report, once. Raises Decided, PlayReport.DoesNotExist."""
    found = PlayReport.objects.select_for_update(no_key=True).get(pk=report_id)
    if found.decided_at is not None:
        raise Decided(f"{found.decided_by} has decided report {found.pk} meanwhile: {found.get_finding_display()}.")
    found.finding, found.note, found.decided_by = finding, note.strip(), str(by)
    PlayReport.objects.filter(pk=found.pk).update(
        finding=found.finding, note=found.note, decided_by=found.decided_by, decided_at=Now()
    )
    data: dict[str, Json] = {"report": found.pk, "finding": finding.value}
    log.record("play.report_decided", by=str(by), on=str(found.seat.player), data=data)
    return found


def _demand_few(player: Player) -> None:
    """Raises TooManyReports. Reports of one guest at the same moment are counted one after another."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, (%s %% 2147483647)::int)", [LOCK, player.pk])
    if PlayReport.objects.filter(reporter=player, at__gt=Now() - WITHIN).count() >= MOST:
        raise TooManyReports(
            ngettext(
                "You have made %(count)s report within the last hour. Customer service takes more.",
                "You have made %(count)s reports within the last hour. Customer service takes more.",
                MOST,
            )
            % {"count": MOST}
        )
