"""State of live tables for staff: phase, shoe, open cards, bets, risk, results, stops and delays.

`games.chemin.pages.floor` adds the seats, bank and stakes of Chemin de Fer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Count
from django.utils.translation import gettext

from games.betting.eligibility import is_played_for
from games.betting.limits import Limits
from games.chat.moderation import open_reports
from games.chemin.pages.floor import CheminState, read_chemin_states
from games.chemin.pages.lobby_card import BEAD_OF
from games.engine.chemin import Outcome
from games.engine.roads import Bead
from games.engine.settle import largest_loss, largest_win
from games.incidents import unruled
from games.models import (
    OPEN_PHASES,
    UNDEALT,
    Incident,
    LiveRound,
    LiveSeat,
    LiveTable,
    LiveTotal,
    Phase,
    Shape,
    Shoe,
    Status,
    Void,
)
from games.shared.pages.scoreboard import beads_of
from games.shared.round_status import face_up, how_far, lying_open
from games.tables import clock
from games.variants import GAMES, VARIANTS
from wallet import house_stop
from wallet.models import Mode


@dataclass(frozen=True)
class Risk:
    """The house's risk in one currency, in its minor units."""

    currency: str
    staked: int
    worst: int | None
    """The loss on the worst outcome for the house; None where this version of the code has other rules."""
    limit: int | None
    """The limit of that loss under the version of the round."""

    @property
    def percent(self) -> int:
        """Percent of the limit in use, rounded up, so that only no risk reads as 0."""
        return min(100, -(-100 * self.worst // self.limit)) if self.worst and self.limit else 0


def risks_of(live_round: LiveRound | None, totals: Mapping[str, Mapping[str, int]]) -> Sequence[Risk]:
    """Return the risk of a round in progress in each currency of its bets.

    *totals*: currency, bet, minor units over all players. While bets are open, losing bets may
    still be taken off, so they do not offset winning ones; the limit is applied to bets in the same
    way. From the deal on they do offset. The drawn cards are never read, so the risk does not
    depend on them.
    """
    if live_round is None or live_round.phase not in OPEN_PHASES:
        return ()
    table = live_round.live_table.table
    if table.shape != Shape.SHARED:
        return ()
    variant, version = VARIANTS[table.variant], live_round.version
    is_known = version.rules_digest == variant.digest
    worst = largest_win if live_round.phase == Phase.BETTING else largest_loss
    return tuple(
        Risk(
            currency=currency,
            staked=sum(stakes.values()),
            worst=worst(variant, stakes) if is_known else None,
            limit=Limits.of(version.limits, currency).liability,
        )
        for currency, stakes in totals.items()
    )


DRAWN: Final = (Phase.DEALT, Phase.SETTLED)
LATE: Final = timedelta(seconds=10)
"""A deadline passed by this much is reported to staff. A tick comes every second."""

LAST: Final = 12
"""Number of results shown."""

# Parameters: number of results for each table, live tables. Uses the index of the list of rounds.
# Void rounds are left out, as on the players' scoreboard.
LAST_RESULTS: Final = f"""
SELECT live.id, past.cards, past.outcome FROM games_livetable AS live CROSS JOIN LATERAL (
    SELECT round.id, round.opened_at, round.cards, coup.outcome
    FROM games_liveround AS round LEFT JOIN games_chemincoup AS coup ON coup.round_id = round.id
    WHERE round.live_table_id = live.id AND round.phase = '{Phase.SETTLED}'
        AND NOT EXISTS (SELECT FROM games_void AS void WHERE void.round_id = round.id)
    ORDER BY round.opened_at DESC, round.id DESC LIMIT %s
) AS past
WHERE live.id = ANY (%s) ORDER BY past.opened_at, past.id
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Floor:
    """A live table for one kind of money at the moment *now* of the database's clock. Amounts in minor units."""

    now: datetime
    live_table: LiveTable
    round: LiveRound | None
    shoe: Shoe | None
    turned: str  # the face-up cards, in dealing order
    bettors: int
    staked: Mapping[str, int]  # currency -> total of the bets on the round
    # by currency, while a round is in progress; empty at Chemin de Fer, where the house bears no
    # risk
    risks: Sequence[Risk]
    waiting: Sequence[Incident]  # incidents that await the supervisor's ruling
    results: Sequence[Bead] = ()  # of the last rounds, the latest last
    reports: int = 0  # reported chat messages that await a decision
    chemin_state: CheminState | None = None  # at a table of Chemin de Fer
    is_house_stopped: bool = False
    is_void: bool = False  # the round is void and its stakes were returned

    @property
    def state(self) -> str:
        """The table state in one word."""
        if self.live_table.stopped_by_id:
            return "stopped"
        if self.live_table.table.status == Status.CLOSED and self.is_playing:
            return "closing"
        return str(self.live_table.table.status)

    @property
    def phase(self) -> str:
        """The phase of the round, and after its end what follows; "" where there is no round yet."""
        if self.round is None:
            return ""
        is_held = bool(self.live_table.stopped_by_id or self.waiting)
        if self.is_house_stopped and not is_held and self.round.phase == Phase.BETTING:
            return gettext("betting blocked by the house stop; accepted bets are dealt after the deadline")
        return how_far(self.round, is_void=self.is_void, is_held=is_held, then=self.what_follows)

    @property
    def is_last(self) -> str:
        """The reason why no round follows the one in progress; "" where one follows, or the round itself is held."""
        is_held = bool(self.live_table.stopped_by_id or self.waiting)
        return (
            (gettext("then %(what_follows)s") % {"what_follows": self.what_follows})
            if self.is_playing and not is_held and not self.goes_on
            else ""
        )

    @property
    def what_follows(self) -> str:
        """Text about what follows the round."""
        if self.goes_on:
            return gettext("the next round opens after the deadline")
        return gettext("no further round: %(why_none_opens)s") % {"why_none_opens": self.why_none_opens}

    @property
    def why_none_opens(self) -> str:
        """The reason why no other round opens."""
        if self.live_table.stopped_by_id:
            return gettext("the table is stopped")
        if self.is_house_stopped:
            return gettext("house stop in force")
        if self.live_table.table.is_open:
            return gettext("the rules of its version are not installed")
        return gettext("the table is %(status)s") % {"status": self.live_table.table.get_status_display()}

    @property
    def time_runs(self) -> bool:
        """True if players of Chemin de Fer must act in time: not while the table or the house is stopped."""
        if not self.is_playing and (self.is_house_stopped or self.live_table.table.status == Status.PAUSED):
            return False
        is_dealt = self.round is not None and self.round.phase == Phase.DEALT
        return self.live_table.stopped_by_id is None or (is_dealt and not self.waiting)

    @property
    def is_playing(self) -> bool:
        """True if a round is in progress."""
        return self.round is not None and self.round.phase in OPEN_PHASES

    @property
    def deadline(self) -> datetime | None:
        """The next deadline, or None. The end of a deal is not given: it would reveal the number of cards."""
        if self.chemin_state is not None:
            return self.chemin_state.deadline if self.time_runs else None
        if self.round is None or self.round.phase == Phase.DEALT or self.live_table.stopped_by_id:
            return None
        return self.round.deadline if self.is_playing or self.goes_on else None

    @property
    def goes_on(self) -> bool:
        """True if the state of the table lets another round follow this one."""
        table, mode = self.live_table.table, Mode(self.live_table.mode)
        if not table.is_open or table.version is None or self.live_table.stopped_by_id or self.is_house_stopped:
            return False
        return is_played_for(table.version, mode) and table.version.rules_digest == GAMES[table.variant].digest

    @property
    def late_since(self) -> datetime | None:
        """The deadline that passed without an action, although nobody has stopped the table.

        Betting time without a bet passes unnoticed while nobody watches (`ops.beat`).
        """
        if self.round and self.round.phase == Phase.BETTING and self.chemin_state is None and not self.bettors:
            return None
        due = self.round.deadline if self.is_dealing and self.round else self.deadline
        return due if due is not None and self.now - due > LATE else None

    @property
    def is_dealing(self) -> bool:
        """True if cards are being turned up at a table other than Chemin de Fer."""
        is_dealt = self.round is not None and self.round.phase == Phase.DEALT
        return is_dealt and self.chemin_state is None and not self.waiting

    @property
    def may_be_cancelled(self) -> bool:
        """True if a round is in progress whose cards are not drawn."""
        return self.round is not None and self.round.phase in UNDEALT

    @property
    def may_be_asked_about(self) -> Sequence[Incident]:
        """The incidents whose round has drawn cards, so that voiding it takes two people."""
        return [incident for incident in self.waiting if incident.live_round and incident.live_round.phase in DRAWN]

    @property
    def waiting_numbers(self) -> str:
        """Return the numbers of the incidents that await a ruling."""
        return ", ".join(str(incident.pk) for incident in self.waiting)

    @property
    def may_be_broken_up(self) -> bool:
        """True if players sit at the table of Chemin de Fer and no dealt coup has to be finished first."""
        is_dealt = self.round is not None and self.round.phase == Phase.DEALT
        return self.chemin_state is not None and bool(self.chemin_state.seated) and not is_dealt


def floor() -> Mapping[int, list[Floor]]:
    """Return the state of all live tables, real money first, by table id. A fixed number of queries."""
    live_tables = LiveTable.objects.select_related(
        "table__version", "shoe", "round__version", "round__shoe", "round__live_table__table"
    ).order_by("-mode")
    rounds = [each.round.pk for each in live_tables if each.round and each.round.phase != Phase.VOID]
    seats = LiveSeat.objects.filter(round_id__in=rounds).exclude(stakes={})
    bettors = dict(seats.values_list("round_id").annotate(number=Count("pk")))
    totals = _totals(rounds)
    waiting: dict[int, list[Incident]] = {}
    for incident in unruled().select_related("live_round"):
        if incident.live_round:
            waiting.setdefault(incident.live_round.live_table_id, []).append(incident)
    chemin_state = read_chemin_states(each.pk for each in live_tables if each.table.shape == Shape.CHEMIN)
    lying = face_up(each.round_id for each in live_tables if each.pk in chemin_state and each.round_id)
    results = _results([each.pk for each in live_tables])
    reports = dict(open_reports().values_list("message__live_table").annotate(number=Count("message", distinct=True)))
    latest = [each.round_id for each in live_tables if each.round_id]
    voided = set(Void.objects.filter(pk__in=latest).values_list("pk", flat=True))
    is_stopped = house_stop.current() is not None
    moment = clock.now()
    found: dict[int, list[Floor]] = {}
    for each in live_tables:
        found.setdefault(each.table_id, []).append(
            Floor(
                now=moment,
                live_table=each,
                round=each.round,
                shoe=each.shoe,
                turned=_turned(each, moment, chemin_state, lying),
                bettors=bettors.get(each.round_id, 0),
                staked={currency: sum(stakes.values()) for currency, stakes in totals.get(each.round_id, {}).items()},
                risks=risks_of(each.round, totals.get(each.round_id, {})),
                waiting=waiting.get(each.pk, ()),
                results=results.get(each.pk, ()),
                reports=reports.get(each.pk, 0),
                chemin_state=chemin_state.get(each.pk),
                is_house_stopped=is_stopped,
                is_void=each.round_id in voided,
            )
        )
    return found


def _turned(
    live_table: LiveTable, moment: datetime, chemin_state: Mapping[int, CheminState], lying: Mapping[UUID, str]
) -> str:
    if live_table.round is None:
        return ""
    if live_table.pk in chemin_state:
        return lying.get(live_table.round.pk, "")
    try:
        return lying_open(live_table.round, moment)
    except clock.ClockError:  # the number of open cards is unknown; the error must not affect other tables
        return ""


def _totals(rounds: Iterable[UUID]) -> Mapping[UUID | None, dict[str, Mapping[str, int]]]:
    """Return the total of each bet of the rounds, over all players, by currency."""
    totals: dict[UUID | None, dict[str, Mapping[str, int]]] = {}
    for total in LiveTotal.objects.filter(round__in=rounds).order_by("currency"):
        if any(total.stakes.values()):
            totals.setdefault(total.round_id, {})[total.currency] = total.stakes
    return totals


def _results(live_tables: list[int]) -> Mapping[int, Sequence[Bead]]:
    """Return the results of the last rounds of each table, the latest last."""
    results: dict[int, list[Bead]] = {}
    with connection.cursor() as cursor:
        cursor.execute(LAST_RESULTS, [LAST, live_tables])
        for live_table, cards, outcome in cursor.fetchall():
            beads = [BEAD_OF[Outcome(outcome)]] if outcome else beads_of(cards)
            results.setdefault(live_table, []).extend(beads)
    return results
