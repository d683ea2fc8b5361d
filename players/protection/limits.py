"""Limits set by the player, by staff or by law on deposits, losses, stakes and time.

PostgreSQL decides which limits hold and when a change takes effect (``sql/functions/limits.sql``),
by its own clock. So no job has to run. Amounts are minor units of the player's currency; limits of
time are seconds.

Pages, API, reports and ledger read `LIMIT_KINDS`. What counts against a kind is in SQL: money in
`wallet_used`, everything else in `players_used` (``sql/functions/play_time.sql``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, ngettext

from audit import log
from players.models import LimitChange, LimitKind, LimitReminder, LimitsAsked, LimitSource, Period, Player

LAW = "law"  # source of limits that the jurisdiction sets
TO_REMIND: Final = """
SELECT player.id FROM players_player AS player
JOIN players_jurisdiction AS law ON law.code = player.jurisdiction_id AND law.limit_reminder_days IS NOT NULL
WHERE player.id > %s AND NOT player.uses_operator_wallet AND players_limit_reminder_at(player.id) <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM players_exclusion_of(player.id) AS barred WHERE barred.reason IS NOT NULL)
ORDER BY player.id LIMIT %s
"""


def _written_time(seconds: int) -> str:
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    parts = [ngettext("%(count)s hour", "%(count)s hours", hours) % {"count": hours}] if hours else []
    if minutes or not hours:
        parts.append(ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes})
    return " ".join(parts)


@dataclass(frozen=True)
class Unit:
    """The unit of a limit that is not money. Limits are entered in *name* and stored in parts of it."""

    name: str  # for staff and clients of the API
    size: int  # stored parts in one
    most: Mapping[Period, int]  # the highest limit that can be entered
    written: Callable[[int], str]  # formats stored parts in the active language
    hint: str | Promise  # what to enter
    error: str | Promise  # refusal of anything else


HOURS: Final = Unit(
    "hours",
    3600,
    {Period.DAY: 24, Period.WEEK: 7 * 24, Period.MONTH: 31 * 24},
    _written_time,
    gettext_lazy("In whole hours. Leave a field empty for no limit."),
    gettext_lazy("Enter whole hours, from 1 to %(most)s."),
)


@dataclass(frozen=True)
class KindOfLimit:
    """A kind of limit. *counts* says in the API what counts against it."""

    title: str | Promise
    meaning: str | Promise
    counts: str
    reached: Mapping[Period, str | Promise] = field(default_factory=dict)  # the refusals of the ledger
    unit: Unit | None = None  # None: minor units of money
    used_up: str | Promise = ""  # the refusal of play if it does not limit money


LIMIT_KINDS: Final[Mapping[LimitKind, KindOfLimit]] = {
    LimitKind.DEPOSIT: KindOfLimit(
        gettext_lazy("Deposit limit"),
        gettext_lazy("The total amount you deposit. Withdrawals are not deducted from it."),
        "paid in",
        {
            Period.DAY: gettext_lazy("Your daily deposit limit is %(limit)s. You can deposit %(left)s more today."),
            Period.WEEK: gettext_lazy(
                "Your weekly deposit limit is %(limit)s. You can deposit %(left)s more this week."
            ),
            Period.MONTH: gettext_lazy(
                "Your monthly deposit limit is %(limit)s. You can deposit %(left)s more this month."
            ),
        },
    ),
    LimitKind.STAKE: KindOfLimit(
        gettext_lazy("Stake limit"),
        gettext_lazy("The total amount you bet, whatever the results."),
        "bet",
        {
            Period.DAY: gettext_lazy("Your daily stake limit is %(limit)s. You can stake %(left)s more today."),
            Period.WEEK: gettext_lazy("Your weekly stake limit is %(limit)s. You can stake %(left)s more this week."),
            Period.MONTH: gettext_lazy(
                "Your monthly stake limit is %(limit)s. You can stake %(left)s more this month."
            ),
        },
    ),
    LimitKind.LOSS: KindOfLimit(
        gettext_lazy("Loss limit"),
        gettext_lazy(
            "The total amount you bet minus what is paid out to you. A bet counts as lost until its round is over."
        ),
        "bet less what came back",
        {
            Period.DAY: gettext_lazy("Your daily loss limit is %(limit)s. You can stake %(left)s more today."),
            Period.WEEK: gettext_lazy("Your weekly loss limit is %(limit)s. You can stake %(left)s more this week."),
            Period.MONTH: gettext_lazy("Your monthly loss limit is %(limit)s. You can stake %(left)s more this month."),
        },
    ),
    LimitKind.TIME: KindOfLimit(
        gettext_lazy("Time limit"),
        gettext_lazy("How long you play, including with play money."),
        "played",
        unit=HOURS,
        used_up=gettext_lazy("You have used up your playing time. It starts again with the next period."),
    ),
}


class LimitsError(Exception):
    """The limit cannot be set. Nothing has changed."""


class NothingChanges(LimitsError):
    """The same limit is in force or pending already."""


class LimitRequired(LimitsError):
    """The jurisdiction requires this limit: it can be changed but not removed."""


@dataclass(frozen=True)
class Limit:
    """The strictest limit in force for a kind and period, with its source: "player", "house" or "law"."""

    kind: LimitKind
    period: Period
    amount: int
    source: str


def limits_of(player: Player) -> Mapping[tuple[LimitKind, Period], Limit]:
    """Return the strictest limit in force for each kind and period (GLI-19 v3.0, 2.5.5)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT ON (kind, period) kind, period, amount, source FROM players_limits_by_source(%s::bigint)"
            " ORDER BY kind, period, amount, source DESC",
            [player.pk],
        )
        found = [Limit(LimitKind(kind), Period(period), amount, source) for kind, period, amount, source in cursor]
    return {(limit.kind, limit.period): limit for limit in found}


def used_of_play(player: Player) -> dict[tuple[LimitKind, Period], int]:
    """Return what counts in each current period against limits that are not money, in stored parts of their unit."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, period, players_used(%s::bigint, kind, period)"
            " FROM unnest(players_limits_on_play()) AS kind, unnest(%s::text[]) AS period",
            [player.pk, Period.values],
        )
        return {(LimitKind(kind), Period(period)): used for kind, period, used in cursor}


def used_up_message(player: Player) -> str:
    """Return the refusal of play for a player who has used up a limit that is not money."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(players_limit_used_up(%s::bigint), 'time')", [player.pk])
        (kind,) = cursor.fetchone()
    return str(LIMIT_KINDS[LimitKind(kind)].used_up)


def own_limits(player: Player, source: LimitSource = LimitSource.PLAYER) -> Mapping[tuple[LimitKind, Period], int]:
    """Return the limits in force that the player, or staff, set."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, period, amount FROM players_limits_by_source(%s::bigint) WHERE source = %s",
            [player.pk, source.value],
        )
        return {(LimitKind(kind), Period(period)): amount for kind, period, amount in cursor}


def pending(player: Player) -> Mapping[tuple[LimitKind, Period], LimitChange]:
    """Return the changes of the player's own limits that have not taken effect yet."""
    newest = LimitChange.objects.filter(player=player, source=LimitSource.PLAYER)
    newest = newest.order_by("kind", "period", "-id").distinct("kind", "period")
    waiting = LimitChange.objects.filter(
        Q(effective_at__gt=Now()) | Q(needs_confirmation=True), pk__in=newest.values("pk")
    )
    return {(LimitKind(change.kind), Period(change.period)): change for change in waiting}


def period_ends(player: Player) -> Mapping[Period, datetime]:
    """Return when the current day, week and month end in the player's time zone."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT period, players_period_end(period, clock_timestamp(), %s) FROM unnest(%s::text[]) AS period",
            [player.jurisdiction.time_zone, Period.values],
        )
        return {Period(period): end for period, end in cursor}


def period_days(player: Player) -> Mapping[Period, date]:
    """Return the first day of the current day, week and month in the player's time zone."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT period, date_trunc(period, clock_timestamp() AT TIME ZONE %s)::date"
            " FROM unnest(%s::text[]) AS period",
            [player.jurisdiction.time_zone, Period.values],
        )
        return {Period(period): first for period, first in cursor}


@transaction.atomic
def set_limit(
    *,
    player: Player,
    kind: LimitKind,
    period: Period,
    amount: int | None,
    by: str,
    source: LimitSource = LimitSource.PLAYER,
    reason: str = "",
) -> LimitChange:
    """Set a limit, or remove it (None), and return the change with the time when it takes effect.

    A stricter limit takes effect at once. A looser one of the player's own waits as long as the
    jurisdiction says. A pending change is withdrawn.

    Raises NothingChanges, LimitRequired.
    """
    if amount is None and source is LimitSource.PLAYER and (kind, period) in required(player):
        raise LimitRequired
    change = _change(player, source, kind, period, amount, by, reason)
    _record("limits.changed", change)
    above = player.jurisdiction.contact_above_month
    asked = (source, kind, period) == (LimitSource.PLAYER, LimitKind.DEPOSIT, Period.MONTH)
    if above is not None and asked and (amount is None or amount > above):
        _record("limits.contact_due", change)
    return change


@transaction.atomic
def withdraw_change(*, player: Player, kind: LimitKind, period: Period, by: str) -> LimitChange:
    """Withdraw a pending change of the player's own limit. The limit in force stays.

    Raises NothingChanges if none is pending.
    """
    waiting = pending(player).get((kind, period))
    if waiting is None:
        raise NothingChanges
    change = _change(player, LimitSource.PLAYER, kind, period, waiting.before, by, "")
    _record("limits.withdrawn", change)
    return change


def may_confirm(change: LimitChange) -> bool:
    """Return whether a pending change waits for nothing but the player's confirmation."""
    return LimitChange.objects.filter(pk=change.pk, needs_confirmation=True, effective_at__lte=Now()).exists()


@transaction.atomic
def confirm_change(*, player: Player, kind: LimitKind, period: Period, by: str) -> LimitChange:
    """Let a looser limit take effect that waits only for the player's confirmation.

    Raises NothingChanges if none does.
    """
    found = list(
        LimitChange.objects.raw(
            "SELECT * FROM players_confirm_limit(%s::bigint, %s::text, %s::text, %s::text)",
            [player.pk, kind.value, period.value, by],
        )
    )
    if not found:
        raise NothingChanges
    _record("limits.changed", found[0])
    return found[0]


def must_set_limits(player: Player) -> bool:
    """Return whether the player must set deposit limits before play.

    True if the jurisdiction requires them and not all are set. Never for players of an operator
    wallet.
    """
    return _due(player) == "limits"


def should_offer(player: Player) -> bool:
    """Return whether the player is to be offered deposit limits.

    True if the jurisdiction asks for the offer and the player has neither set limits nor answered.
    Never for players of an operator wallet.
    """
    return _due(player) == "offer"


@transaction.atomic
def decline_offer(*, player: Player) -> None:
    """Record that the player declined the offer of deposit limits. The offer is not repeated."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_answer_limit_offer(%s::bigint)", [player.pk])
        (is_first,) = cursor.fetchone()
    if is_first:
        log.record("limits.declined", by=str(player), on=str(player), data={})


def to_remind(after: int, most: int) -> list[int]:
    """Return the ids of at most *most* players above *after* whose reminder of their limits is due.

    People who may not play here are not written to.
    """
    with connection.cursor() as cursor:
        cursor.execute(TO_REMIND, [after, most])
        return [player_id for (player_id,) in cursor]


@transaction.atomic
def remind(player: Player) -> bool:
    """Record that the player is reminded of the limits, and return whether this was due."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_remind_of_limits(%s::bigint)", [player.pk])
        (is_due,) = cursor.fetchone()
    if is_due:
        log.record("limits.reminded", by="system", on=str(player), data={})
    return bool(is_due)


def should_review(player: Player) -> bool:
    """Return whether the player was reminded of the limits and has not reviewed them since."""
    if player.jurisdiction.limit_reminder_days is None:
        return False
    newest = LimitReminder.objects.filter(player=player).order_by("-pk").first()
    return newest is not None and not newest.is_review


@transaction.atomic
def review(player: Player) -> None:
    """Record that the player has reviewed the limits. Does nothing without a reminder before it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_review_limits(%s::bigint)", [player.pk])
        (was_reminded,) = cursor.fetchone()
    if was_reminded:
        log.record("limits.reviewed", by=str(player), on=str(player), data={})


def required(player: Player) -> set[tuple[LimitKind, Period]]:
    """Return the limits that the player must have set before play."""
    where = player.jurisdiction
    if where.deposit_limits != LimitsAsked.REQUIRED:
        return set()
    return {(LimitKind.DEPOSIT, Period(period)) for period in where.deposit_periods}


def _due(player: Player) -> str | None:
    """Return what the player must do about deposit limits: "limits" to set, an "offer" to answer, or None."""
    if player.uses_operator_wallet:
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT reason FROM players_limits_due(%s::bigint)", [player.pk])
        (reason,) = cursor.fetchone()
    return reason


def _change(
    player: Player, source: LimitSource, kind: LimitKind, period: Period, amount: int | None, by: str, reason: str
) -> LimitChange:
    found = LimitChange.objects.raw(
        "SELECT * FROM players_change_limit(%s::bigint, %s::text, %s::text, %s::text, %s::bigint, %s::text, %s::text)",
        [player.pk, source.value, kind.value, period.value, amount, by, reason],
    )
    changes = list(found)
    if not changes:
        raise NothingChanges
    return changes[0]


def _record(event: str, change: LimitChange) -> None:
    """Record a change of a limit as an event of the alterations report."""
    data: dict[str, log.Json] = {
        "change": change.pk,
        "source": change.source,
        "kind": change.kind,
        "period": change.period,
        "before": change.before,
        "after": change.amount,
        "effective_at": change.effective_at.isoformat(),
        "needs_confirmation": change.needs_confirmation,
    }
    if change.reason:
        data["reason"] = change.reason
    log.record(event, by=change.asked_by, on=f"player:{change.player_id}", data=data)
