"""Exclusions: pause, time-out, self-exclusion, exclusion by staff.

They take effect at once, also in free mode, and last their whole time: rows are inserted and never
changed, so no exclusion gets shorter. An excluded player can still withdraw (GLI-19 v3.0, A.3.7–8).
Limits stay in force during an exclusion and after it (2.5.5).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from audit.raw_rows import sqlstate
from audit.staff_text import in_sentence
from players import mail
from players.account.closures import state_of
from players.datetime_format import written_moment
from players.models import ClosureState, Exclusion, ExclusionKind, ExclusionLift, Player, Staff

LONGEST_TIME_OUT = timedelta(weeks=6)
MONTHS = (1, 3, 6, 12)  # durations of a self-exclusion; it may also be permanent


class ExclusionError(Exception):
    """The exclusion is invalid, or cannot be ended."""


class UntilOutOfRange(ExclusionError):
    """The time-out ends before it begins, or later than `LONGEST_TIME_OUT`."""


class TooShort(ExclusionError):
    """The self-exclusion is shorter than the jurisdiction allows."""


class ReasonMissing(ExclusionError):
    """Staff gave no reason."""


class EndsAtItsTime(ExclusionError):
    """The exclusion cannot be ended now, such as a player's own before its time."""


class LiftedAlready(ExclusionError):
    """The exclusion was lifted already."""


@dataclass(frozen=True)
class Length:
    """Duration of an exclusion, added by the database to the present time. All zero means permanent."""

    months: int = 0
    days: int = 0
    hours: int = 0
    at_least_days: int = 0  # minimum, where months are shorter than the days of the law

    @property
    def is_for_good(self) -> bool:
        """Return whether it is permanent."""
        return not (self.months or self.days or self.hours)


FOR_GOOD = Length()
TIME_OUTS = {"day": Length(days=1), "week": Length(days=7), "month": Length(months=1)}


def now() -> datetime:
    """Return the present time by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return moment


def all_in_force(player: Player) -> QuerySet[Exclusion]:
    """Return the exclusions in force, the one that ends last first."""
    in_force = Exclusion.objects.filter(Q(until=None) | Q(until__gt=Now()), player=player, lift=None)
    return in_force.order_by(F("until").desc(nulls_first=True), "-id")


def in_force(player: Player) -> Exclusion | None:
    """Return the exclusion in force that ends last, or None."""
    return all_in_force(player).first()


def until_elsewhere(player: Player) -> datetime | None:
    """Return the end of the same person's exclusion under another account. None: permanent, or none in force."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(until) FROM players_excluded_elsewhere(%s)", [player.pk])
        (until,) = cursor.fetchone()
    return until


def months_offered(player: Player) -> list[int]:
    """Return the durations of self-exclusion, in months, that the player's jurisdiction allows."""
    return [months for months in MONTHS if months * 31 >= player.jurisdiction.exclusion_days]


@transaction.atomic
def pause(*, player: Player, by: str) -> Exclusion:
    """Pause the player for the hours of the jurisdiction, from now."""
    return _begin(player, ExclusionKind.PAUSE, _hours_of(player), by)


@transaction.atomic
def pause_for_the_house(*, player: Player, reason: str, by: Staff) -> Exclusion:
    """Pause a player, by staff, for the hours of the jurisdiction, and mail the player. Raises ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    return _notify_player(_begin(player, ExclusionKind.PAUSE, _hours_of(player), str(by), reason.strip()))


@transaction.atomic
def take_time_out(*, player: Player, length: str = "", until: date | None = None, by: str) -> Exclusion:
    """Start a time-out of a day, a week or a month, or until midnight before a date in the player's time zone.

    Raises UntilOutOfRange.
    """
    if until is None:
        return _begin(player, ExclusionKind.TIME_OUT, TIME_OUTS[length], by)
    begun = now()
    midnight = datetime.combine(until, time(), ZoneInfo(player.jurisdiction.time_zone))
    if not timedelta(0) < midnight - begun <= LONGEST_TIME_OUT:
        raise UntilOutOfRange
    return _insert(player, ExclusionKind.TIME_OUT, begun, midnight, by)


@transaction.atomic
def exclude_self(*, player: Player, months: int | None, by: str) -> Exclusion:
    """Exclude the player at their own request for *months*; None: permanently. Raises TooShort."""
    if months is None:
        return _begin(player, ExclusionKind.SELF, FOR_GOOD, by)
    if months not in months_offered(player):
        raise TooShort
    return _begin(
        player, ExclusionKind.SELF, Length(months=months, at_least_days=player.jurisdiction.exclusion_days), by
    )


@transaction.atomic
def exclude(*, player: Player, days: int | None, reason: str, by: Staff) -> Exclusion:
    """Exclude a player, by staff, for *days*, and mail the player (GLI-19 v3.0, 2.4.1).

    None means until staff lift it. Raises ReasonMissing.
    """
    if not reason.strip():
        raise ReasonMissing
    length = FOR_GOOD if days is None else Length(days=days)
    return _notify_player(_begin(player, ExclusionKind.STAFF, length, str(by), reason.strip()))


def may_be_lifted(exclusion: Exclusion) -> bool:
    """Return whether two members of staff may lift the exclusion now.

    An exclusion by staff can always be lifted. A player's own can be lifted only if it is permanent
    and the days of the jurisdiction have passed. All others end at their time.
    """
    if exclusion.kind == ExclusionKind.STAFF:
        return True
    if exclusion.kind != ExclusionKind.SELF or exclusion.until is not None:
        return False
    return exclusion.begun + timedelta(days=exclusion.player.jurisdiction.permanent_days) <= now()


@transaction.atomic
def lift(*, exclusion_id: int, reason: str, asked_by: str, decided_by: str) -> ExclusionLift:
    """Lift an exclusion that one staff member asked to lift and another approved.

    Raises LiftedAlready, EndsAtItsTime.
    """
    exclusion = Exclusion.objects.select_related("player__jurisdiction").get(pk=exclusion_id)
    if ExclusionLift.objects.filter(exclusion=exclusion).exists():
        raise LiftedAlready
    if not may_be_lifted(exclusion):
        raise EndsAtItsTime
    lifted = ExclusionLift.objects.create(exclusion=exclusion, reason=reason, asked_by=asked_by, decided_by=decided_by)
    log.record(
        "exclusion.lifted",
        by=decided_by,
        on=str(exclusion.player),
        data={"exclusion": exclusion.pk, "reason": reason, "asked_by": asked_by},
    )
    return lifted


def _hours_of(player: Player) -> Length:
    return Length(hours=player.jurisdiction.pause_hours)


def _notify_player(made: Exclusion) -> Exclusion:
    """Mail the player what staff began, until when, and how to contact support.

    The reason is for the record and not in the mail.
    """
    player, until = made.player, made.until
    language, zone = player.user.language, player.jurisdiction.time_zone
    context = {
        "is_pause": made.kind == ExclusionKind.PAUSE,
        "when": written_moment(until, language, zone) if until else "",
        "support": settings.SUPPORT_EMAIL,
    }
    if state_of(player) is not ClosureState.ERASED:
        mail.write(user=player.user, template="stopped_by_house", context=context)
    return made


def _begin(player: Player, kind: ExclusionKind, length: Length, by: str, reason: str = "") -> Exclusion:
    """Insert an exclusion that begins now and has the given duration."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT moment, greatest(moment + make_interval(months => %s, days => %s, hours => %s),"
            " moment + make_interval(days => %s)) FROM clock_timestamp() AS moment",
            [length.months, length.days, length.hours, length.at_least_days],
        )
        begun, until = cursor.fetchone()
    return _insert(player, kind, begun, None if length.is_for_good else until, by, reason)


def _insert(
    player: Player, kind: ExclusionKind, begun: datetime, until: datetime | None, by: str, reason: str = ""
) -> Exclusion:
    """Store and record an exclusion. The database shifts it to the time when no round is in progress."""
    made = Exclusion.objects.create(player=player, kind=kind, begun=begun, until=until, by=by, reason=reason)
    made.refresh_from_db(fields=["begun", "until"])
    log.record(
        "player.excluded",
        by=by,
        on=str(player),
        data={
            "exclusion": made.pk,
            "kind": made.kind,
            "begun": made.begun.isoformat(),
            "until": made.until.isoformat() if made.until else None,
            "reason": reason,
        },
    )
    return made


KIND = "exclusion.lift"
PERMISSION = "players.exclude_player"
NOT_AGREED = "SB031"  # SQLSTATE of players_check_lift


@transaction.atomic
def ask(*, exclusion: Exclusion, reason: str, by: Staff) -> Approval:
    """Ask for an exclusion to be lifted. Raises EndsAtItsTime, approvals.AskedTwice."""
    if not may_be_lifted(exclusion):
        raise EndsAtItsTime
    request: dict[str, Json] = {"exclusion": exclusion.pk, "player": exclusion.player_id}
    return approvals.ask(
        kind=KIND, on=f"exclusion:{exclusion.pk}", request=request, by=str(by), person=by.person, reason=reason
    )


def execute(request: Mapping[str, Json], verdict: approvals.Verdicted) -> None:
    """Lift the exclusion of an approved request. Raises approvals.CannotExecute."""
    asked = Approval.objects.get(pk=verdict.approval_id)
    try:
        with transaction.atomic():
            lift(exclusion_id=_id(request), reason=asked.reason, asked_by=asked.by, decided_by=verdict.by)
    except EndsAtItsTime as error:
        raise approvals.CannotExecute(gettext("This exclusion cannot be ended early.")) from error
    except LiftedAlready as error:
        raise approvals.CannotExecute(gettext("This exclusion is already lifted.")) from error
    except DatabaseError as error:
        if sqlstate(error) != NOT_AGREED:
            raise
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error


def describe(request: Mapping[str, Json]) -> approvals.Description:
    """Describe the exclusion to the deciding staff member."""
    exclusion = Exclusion.objects.select_related("player").get(pk=_id(request))
    until = f"{exclusion.until:%Y-%m-%d %H:%M} UTC" if exclusion.until else gettext("permanent")
    return approvals.Description(
        title=(gettext("Lift the exclusion of %(player)s") % {"player": exclusion.player}),
        facts=[
            (gettext("Player"), str(exclusion.player)),
            (gettext("Exclusion"), in_sentence(exclusion.get_kind_display())),
            (gettext("Start"), f"{exclusion.begun:%Y-%m-%d %H:%M} UTC"),
            (gettext("End"), until),
            (gettext("Reason for the exclusion"), exclusion.reason or "self-exclusion"),
            (gettext("Excluded by"), exclusion.by),
        ],
    )


def _id(request: Mapping[str, Json]) -> int:
    return int(str(request["exclusion"]))
