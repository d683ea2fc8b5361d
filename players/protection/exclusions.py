"""Pausing, taking a time-out, excluding oneself or being excluded: at once, free play too, and for its whole time.

A row is added and none is changed, so nothing here makes an exclusion shorter. GLI-19 v3.0, A.3.7–8: it holds at
once, and whoever is excluded can still withdraw. Limits are not touched (2.5.5): they hold on when an exclusion ends.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from audit import log
from players import mail
from players.account.closures import state_of
from players.datetime_format import written_moment
from players.models import ClosureState, Exclusion, ExclusionKind, ExclusionLift, Player, Staff

LONGEST_TIME_OUT = timedelta(weeks=6)
MONTHS = (1, 3, 6, 12)  # that a self-exclusion may last, beside for good


class ExclusionError(Exception):
    """An exclusion that cannot be, or cannot be ended."""


class UntilOutOfRange(ExclusionError):
    """A time-out that ends before it begins, or later than a time-out may."""


class TooShort(ExclusionError):
    """A self-exclusion below the jurisdiction's shortest."""


class ReasonMissing(ExclusionError):
    """Staff exclude, and end exclusions, for a reason."""


class EndsAtItsTime(ExclusionError):
    """Nobody may end this exclusion now: the player's own, before the time it was begun for."""


class LiftedAlready(ExclusionError):
    """Somebody ended this exclusion before."""


@dataclass(frozen=True)
class Length:
    """How long, as the database counts it from now; all nothing means for good."""

    months: int = 0
    days: int = 0
    hours: int = 0
    at_least_days: int = 0  # where months are shorter than the law's days

    @property
    def is_for_good(self) -> bool:
        """Whether it never ends by itself."""
        return not (self.months or self.days or self.hours)


FOR_GOOD = Length()
TIME_OUTS = {"day": Length(days=1), "week": Length(days=7), "month": Length(months=1)}


def now() -> datetime:
    """Return the moment by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return moment


def standing(player: Player) -> QuerySet[Exclusion]:
    """Return the exclusions in force, the one that ends last first."""
    in_force = Exclusion.objects.filter(Q(until=None) | Q(until__gt=Now()), player=player, lift=None)
    return in_force.order_by(F("until").desc(nulls_first=True), "-id")


def in_force(player: Player) -> Exclusion | None:
    """Return the exclusion that ends last, None where the player may play."""
    return standing(player).first()


def months_offered(player: Player) -> list[int]:
    """Return the lengths, in months, of self-exclusion that the player's jurisdiction allows."""
    return [months for months in MONTHS if months * 31 >= player.jurisdiction.exclusion_days]


@transaction.atomic
def pause(*, player: Player, by: str) -> Exclusion:
    """Keep the player from playing for the jurisdiction's hours, from now."""
    return _begin(player, ExclusionKind.PAUSE, _hours_of(player), by)


@transaction.atomic
def pause_for_the_house(*, player: Player, reason: str, by: Staff) -> Exclusion:
    """Have staff pause a player for the jurisdiction's hours, and write to them. Raises ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    return _told(_begin(player, ExclusionKind.PAUSE, _hours_of(player), str(by), reason.strip()))


@transaction.atomic
def take_time_out(*, player: Player, length: str = "", until: date | None = None, by: str) -> Exclusion:
    """Keep the player from playing for a day, a week or a month, or until a day begins where they are.

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
    """Exclude the player for *months*, None for good. Raises TooShort."""
    if months is None:
        return _begin(player, ExclusionKind.SELF, FOR_GOOD, by)
    if months not in months_offered(player):
        raise TooShort
    return _begin(
        player, ExclusionKind.SELF, Length(months=months, at_least_days=player.jurisdiction.exclusion_days), by
    )


@transaction.atomic
def exclude(*, player: Player, days: int | None, reason: str, by: Staff) -> Exclusion:
    """Have staff exclude a player for *days*, None until they end it (GLI-19 v3.0, 2.4.1), and write to them.

    Raises ReasonMissing.
    """
    if not reason.strip():
        raise ReasonMissing
    length = FOR_GOOD if days is None else Length(days=days)
    return _told(_begin(player, ExclusionKind.STAFF, length, str(by), reason.strip()))


def may_be_lifted(exclusion: Exclusion) -> bool:
    """Say whether two members of staff may end it now: one by staff always, a player's own only where it was for good
    and the jurisdiction's days have gone by. Everything else ends at its time.
    """
    if exclusion.kind == ExclusionKind.STAFF:
        return True
    if exclusion.kind != ExclusionKind.SELF or exclusion.until is not None:
        return False
    return exclusion.begun + timedelta(days=exclusion.player.jurisdiction.permanent_days) <= now()


@transaction.atomic
def lift(*, exclusion_id: int, reason: str, asked_by: str, decided_by: str) -> ExclusionLift:
    """End an exclusion that one member of staff asked to end and another agreed to.

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


def _told(made: Exclusion) -> Exclusion:
    """Write to the player what staff began, until when, and how to reach the house. Why, staff wrote for the record."""
    player, until = made.player, made.until
    language, zone = player.user.language, player.jurisdiction.time_zone
    told = {
        "is_pause": made.kind == ExclusionKind.PAUSE,
        "when": written_moment(until, language, zone) if until else "",
        "support": settings.SUPPORT_EMAIL,
    }
    if state_of(player) is not ClosureState.ERASED:
        mail.write(user=player.user, template="stopped_by_house", context=told)
    return made


def _begin(player: Player, kind: ExclusionKind, length: Length, by: str, reason: str = "") -> Exclusion:
    """Insert an exclusion that begins now and has the given length."""
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
    """Store and record an exclusion; the database moves it to the moment when no round is under way any more."""
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
