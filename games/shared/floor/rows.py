"""The floor: a page with one row for every table, rendered once for all staff who view it.

A row shows the table state and its alarms. It has no form, no token and no player's data, so it is
the same for every reader. Pages and streams send the same row, and replacing it does not touch what
a reader is typing. English only, like the whole back office.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import Max, Sum
from django.template.loader import get_template
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_lazy, ngettext

from audit.models import Event
from games.chemin.pages.floor import CheminState
from games.engine.coup import Outcome
from games.engine.roads import Bead
from games.labels import bet_name, variant_label
from games.models import GameHourlyTotal, ReturnsAlarm, Shape, Status, Table
from games.shared.floor import Floor, Risk, floor
from games.shared.round_status import in_hands, what_becomes
from games.tables import clock
from games.variants import GAMES, VARIANTS
from players.models import Notice, Staff
from wallet import house_stop
from wallet.models import Mode
from wallet.money import format_money

STATES: Final = ("stopped", "closing", "paused", "open", "closed")
"""Table states, those that may need attention first."""

RECENT: Final = timedelta(hours=3)
"""Maximum age of the last hourly totals that are shown."""

REPORTERS: Final = ("games.operate_table", "games.supervise_table")
READERS: Final = (*REPORTERS, "games.view_table")
"""Permissions to view the floor; any one of them is enough."""

Doubted = frozenset[tuple[str, str]]
"""Games and rules digests with a returns alarm."""

CHEMIN_OUTCOMES: Final[Mapping[Outcome, str | Promise]] = {
    Outcome.PLAYER: gettext_lazy("Punter"),
    Outcome.BANKER: gettext_lazy("Banker"),
    Outcome.TIE: gettext_lazy("Draw"),
}


@dataclass(frozen=True)
class Alarm:
    """A condition of a table that needs attention."""

    code: str  # unique in its row
    text: str
    incident: int | None = None


@dataclass(frozen=True)
class Result:
    """The result of a round."""

    side: str  # of `Outcome`
    name: str

    @property
    def letter(self) -> str:
        """Return the letter on its bead."""
        return self.name[0]


@dataclass(frozen=True)
class Row:
    """The row of a live table for one kind of money, or of a solo table, as text for the page."""

    key: str  # "live-3" for a live table, "solo-7" for a solo table
    table: Table = field(repr=False)
    on: Floor | None = field(repr=False)  # None for a solo table
    name: str
    mode: str  # as text; "" for a solo table
    game: str
    state: str
    version_number: int
    since: str = ""  # when a table was paused or closed, the staff member and the reason
    alarms: tuple[Alarm, ...] = ()
    round_code: str = ""
    phase: str = ""
    is_last: str = ""  # why no round follows the one in progress
    deadline: datetime | None = None
    cards: str = ""
    bettors: int = 0
    staked: tuple[tuple[str, int], ...] = ()  # currency, minor units
    risks: tuple[Risk, ...] = ()
    shoe: str = ""
    results: tuple[Result, ...] = ()
    chemin_state: tuple[tuple[str, str], ...] = ()  # label and value
    played: str = ""  # recent number of rounds, for a solo table

    @property
    def full_name(self) -> str:
        """Return the name of the table, with the kind of money where it has two rows."""
        return f"{self.name}, {self.mode}" if self.mode else self.name

    @property
    def deadline_stamp(self) -> int | None:
        """The deadline in milliseconds since 1970."""
        return int(self.deadline.timestamp() * 1000) if self.deadline else None

    @property
    def version(self) -> str:
        """Return a hash that changes when the row changes."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]

    @property
    def rank(self) -> tuple[object, ...]:
        """Return the sort key: rows with alarms first, then tables in play."""
        return (not self.alarms, STATES.index(self.state), not self.bettors, self.name, self.mode, self.key)


@dataclass(frozen=True)
class Rows:
    """The whole floor at the moment *now* of the database's clock."""

    now: datetime
    rows: Sequence[Row]
    stopped_since: datetime | None  # start of a house stop
    notices: int  # number of maintenance notices shown to everybody

    @property
    def version(self) -> str:
        """Return a hash that changes when the head of the page changes."""
        named = [(row.key, row.full_name, row.alarms) for row in self.alarmed]
        details = (self.counts, named, self.order, self.stopped_since, self.notices)
        return hashlib.sha256(repr(details).encode()).hexdigest()[:16]

    @property
    def counts(self) -> Sequence[tuple[str, int]]:
        """The number of tables in each state."""
        counted = Counter(row.state for row in self.rows)
        return [(state, counted[state]) for state in STATES if counted[state]]

    @property
    def alarmed(self) -> Sequence[Row]:
        """The rows with alarms."""
        return [row for row in self.rows if row.alarms]

    def row(self, key: str) -> Row | None:
        """Return the row with that key, or None."""
        return next((row for row in self.rows if row.key == key), None)

    @property
    def order(self) -> str:
        """The keys in the order of the rows."""
        return " ".join(row.key for row in self.rows)


def read_rows() -> Rows:
    """Return a row for every table that was ever put live, alarms first. A fixed number of queries."""
    stop, now = house_stop.current(), clock.now()
    doubted = frozenset(ReturnsAlarm.objects.values_list("variant", "rules_digest"))
    played, shared = _played_lately(now), [on for tables in floor().values() for on in tables]
    alone = list(Table.objects.filter(shape=Shape.SOLO, version__isnull=False).select_related("version"))
    details = since([*alone, *(on.live_table.table for on in shared)])
    live = [_live_row(on, doubted, details.get(on.live_table.table_id, "")) for on in shared]
    solo = [_solo_row(table, doubted, details.get(table.pk, ""), played.get(table.pk, "")) for table in alone]
    return Rows(
        now=now,
        rows=sorted([*live, *solo], key=lambda row: row.rank),
        stopped_since=stop.at if stop else None,
        notices=Notice.objects.filter(withdrawn_at=None, shown_from__lte=now, shown_until__gt=now).count(),
    )


def render_row(row: Row, now: datetime, *, is_hidden: bool = False, unfolds: bool = True) -> str:
    """Return the list item of a row. With *unfolds*, it opens the actions of the table."""
    context = {"row": row, "now": now, "is_hidden": is_hidden, "unfolds": unfolds}
    return get_template("staff/floor.html#row").render(context)


def render_head(rows: Rows) -> str:
    """Return the head of the page: the number of tables in each state, and the tables with alarms."""
    return get_template("staff/floor.html#head").render({"floor": rows})


def _live_row(on: Floor, doubted: Doubted, since_when: str) -> Row:
    table, chemin_state = on.live_table.table, on.chemin_state
    bettors = len(chemin_state.stakes) if chemin_state else on.bettors
    staked = _staked_at_chemin(chemin_state) if chemin_state else tuple(on.staked.items())
    return Row(
        key=f"live-{on.live_table.pk}",
        table=table,
        on=on,
        name=table.name,
        mode=gettext("real money") if on.live_table.mode == Mode.REAL else gettext("free money"),
        game=variant_label(GAMES[table.variant], "name", get_language() or "en"),
        state=on.state,
        version_number=table.version.number if table.version else 0,
        since=since_when,
        alarms=(*_alarms(on, bettors, staked), *_alarms_over_returns(table, doubted)),
        round_code=on.round.code if on.round else "",
        phase=_goes_on(on, chemin_state) if chemin_state else on.phase,
        is_last="" if chemin_state else on.is_last,
        deadline=on.deadline,
        cards=on.turned if chemin_state else in_hands(on.turned),
        bettors=bettors,
        staked=staked,
        risks=tuple(on.risks),
        shoe=_shoe(on),
        results=tuple(_result(bead, table) for bead in on.results),
        chemin_state=tuple(_chemin_lines(chemin_state)) if chemin_state else (),
    )


def _solo_row(table: Table, doubted: Doubted, since_when: str, played: str) -> Row:
    return Row(
        key=f"solo-{table.pk}",
        table=table,
        on=None,
        name=table.name,
        mode="",
        game=variant_label(GAMES[table.variant], "name", get_language() or "en"),
        state=str(table.status),
        version_number=table.version.number if table.version else 0,
        since=since_when,
        alarms=tuple(_alarms_over_returns(table, doubted)),
        played=played,
    )


def _alarms(on: Floor, bettors: int, staked: Iterable[tuple[str, int]]) -> Iterable[Alarm]:
    for incident in on.waiting:
        said = gettext("Incident %(incident)s awaits a ruling: %(kind)s") % {
            "incident": incident.pk,
            "kind": incident.get_kind_display(),
        }
        if on.round and incident.live_round and incident.live_round.pk != on.round.pk:
            said += gettext(", about round %(code)s, which has ended") % {"code": incident.live_round.code}
            said += f". {what_becomes(on.round, bettors, staked)}" if on.is_playing else ""
        yield Alarm(f"incident-{incident.pk}", said, incident.pk)
    if on.live_table.stopped_by_id and not on.waiting:
        yield Alarm("stopped", gettext("Stopped; all incidents are ruled on. A supervisor can resume the table"))
    if late := on.late_since:
        yield Alarm(
            "late",
            (
                gettext("Delayed: the next step was due at %(astimezone)s UTC")
                % {"astimezone": f"{late.astimezone(UTC):%H:%M:%S}"}
            ),
        )
    if on.reports:
        yield Alarm("chat", (gettext("Reported chat messages: %(reports)s") % {"reports": on.reports}))


def _alarms_over_returns(table: Table, doubted: Doubted) -> Iterable[Alarm]:
    """Yield an alarm for a closed table whose rules have a returns alarm, which may have closed it."""
    if table.status == Status.CLOSED and table.version and (table.variant, table.version.rules_digest) in doubted:
        yield Alarm("returns", gettext("Closed; there is an RTP alarm for its game"))


def _shoe(on: Floor) -> str:
    if on.shoe is None:
        return ""
    if on.shoe.ended_at:
        return f"{on.shoe.number}, {on.shoe.get_ending_display()}"
    is_dealt_from = on.round is not None and on.round.shoe_id == on.shoe.pk
    return (
        (gettext("%(number)s, round %(number_2)s") % {"number": on.shoe.number, "number_2": on.round.number})
        if is_dealt_from and on.round
        else str(on.shoe.number)
    )


def _result(bead: Bead, table: Table) -> Result:
    if table.shape == Shape.CHEMIN:
        return Result(bead.outcome.value, str(str(CHEMIN_OUTCOMES[bead.outcome])))
    return Result(bead.outcome.value, bet_name(VARIANTS[table.variant], bead.outcome.value, get_language() or "en"))


def _goes_on(on: Floor, chemin_state: CheminState) -> str:
    if on.state == Status.CLOSED and not chemin_state.seated:
        return gettext("no coup: the table is closed")
    return (
        chemin_state.goes_on
        if on.time_runs
        else (gettext("%(goes_on)s; clock stopped") % {"goes_on": chemin_state.goes_on})
    )


def _chemin_lines(chemin_state: CheminState) -> Iterable[tuple[str, str]]:
    """Yield the state of a table of Chemin de Fer by seat numbers; viewing players' names would be logged."""

    def laid(amount: int) -> str:
        return format_money(amount, chemin_state.currency, get_language() or "en")

    away = sum(seated.is_away for seated in chemin_state.seated)
    house = sum(seated.player is None for seated in chemin_state.seated)
    notes = [(gettext("%(away)s away") % {"away": away})] * bool(away) + [
        (gettext("%(house)s house players") % {"house": house})
    ] * bool(house)
    said = f" ({', '.join(notes)})" if notes else ""
    yield gettext("Seats taken"), f"{len(chemin_state.seated)}{said}"
    if chemin_state.asked:
        yield gettext("To act"), (gettext("seat %(number)s") % {"number": chemin_state.asked.number})
    if chemin_state.bank:
        yield (
            gettext("Bank"),
            (
                gettext("seat %(number)s: %(amount)s")
                % {"number": chemin_state.bank.seated.number, "amount": laid(chemin_state.bank.amount)}
            ),
        )
    if chemin_state.full_amount:
        yield gettext("Bank on offer"), laid(chemin_state.full_amount)
    if chemin_state.bids:
        yield (
            gettext("Bids"),
            ", ".join(
                (gettext("seat %(number)s: %(amount)s") % {"number": bid.seated.number, "amount": laid(bid.amount)})
                for bid in chemin_state.bids
            ),
        )


def _staked_at_chemin(chemin_state: CheminState) -> tuple[tuple[str, int], ...]:
    staked = sum(each.amount for each in chemin_state.stakes)
    return ((chemin_state.currency, staked),) if staked else ()


def _played_lately(now: datetime) -> Mapping[int, str]:
    """Return the rounds played in the last hour with hourly totals, as text, by table.

    Rounds are too many to count while a page loads.
    """
    last = GameHourlyTotal.objects.aggregate(last=Max("hour"))["last"]
    if last is None or now - last > RECENT:
        return {}
    counted = GameHourlyTotal.objects.filter(hour=last, version__table__shape=Shape.SOLO)
    sums = counted.values_list("version__table").annotate(rounds=Sum("rounds"))
    hours = f"{last.astimezone(UTC):%H:%M}–{last.astimezone(UTC) + timedelta(hours=1):%H:%M} UTC"
    return {
        table: ngettext("%(count)s round, %(hours)s", "%(count)s rounds, %(hours)s", rounds)
        % {"count": rounds, "hours": hours}
        for table, rounds in sums
    }


TURNED: Final = ("table.opened", "table.paused", "table.went_on", "table.closed")


def since(tables: Iterable[Table]) -> Mapping[int, str]:
    """Return the text by table id, for tables that are not open and have such an event. Two queries."""
    of_tables = {f"table:{table.pk}": table.pk for table in tables if table.status != Status.OPEN}
    turned = Event.objects.filter(on__in=of_tables, kind__in=TURNED).order_by("on", "-pk").distinct("on")
    latest = list(turned)
    names = _names(event.by for event in latest)
    return {of_tables[event.on]: _describe_change(event, names) for event in latest}


def _describe_change(event: Event, names: Mapping[str, str]) -> str:
    reason = json.loads(bytes(event.body))["data"]["reason"]
    return gettext("since %(astimezone)s UTC, by %(get)s: %(reason)s") % {
        "astimezone": f"{event.at.astimezone(UTC):%Y-%m-%d %H:%M}",
        "get": names.get(event.by, event.by),
        "reason": reason,
    }


def _names(called: Iterable[str]) -> Mapping[str, str]:
    """Return the names of staff by their identifier in events."""
    numbers = {each.removeprefix("staff:") for each in called if each.startswith("staff:")}
    members = Staff.objects.filter(pk__in=[int(number) for number in numbers if number.isdecimal()])
    return {str(member): member.name for member in members}
