"""Tables of Chemin de Fer as staff see them: pending question, deadline, seats, bank, bids and stakes.

It covers coups in progress and finished ones, and reads no card. `games.shared.round_status` returns
the face-up cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Prefetch
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from games.engine.chemin import Phase, State
from games.engine.chemin.frozen import UNREADABLE, thaw
from games.engine.chemin.state import Chips
from games.models import (
    OPEN_PHASES,
    CheminCoup,
    CheminSeat,
    CheminStake,
    CheminTable,
    LiveRound,
    Shape,
    TableVersion,
)
from games.models import Phase as RoundPhase
from games.tables.chemin_rules import CheminRules

GOES_ON: Final[Mapping[Phase, str | Promise]] = {
    Phase.ALONE: gettext_lazy("waiting for a second player"),
    Phase.FREE: gettext_lazy("the bank is open to any player"),
    Phase.OFFER: gettext_lazy("the bank is offered"),
    Phase.SUITE: gettext_lazy("the bank is offered at its full amount"),
    Phase.AUCTION: gettext_lazy("the bank is auctioned"),
    Phase.SHOE: gettext_lazy("waiting for a new shoe"),
    Phase.CALLS: "calls",
    Phase.STAKES: "stakes",
    Phase.CARDS: gettext_lazy("waiting for the banker to draw the cards"),
    Phase.PUNTER: gettext_lazy("the punter draws or stands"),
    Phase.BANKER: gettext_lazy("the banker draws or stands"),
    Phase.CHOICE: gettext_lazy("the banker keeps or passes the bank"),
}
COUP: Final[Mapping[str, str | Promise]] = {
    RoundPhase.BETTING: gettext_lazy("calls and stakes are open"),
    RoundPhase.CLOSED: gettext_lazy("no more bets; waiting for the banker to draw the cards"),
    RoundPhase.DEALT: gettext_lazy("cards are drawn; punter and banker decide"),
    RoundPhase.SETTLED: gettext_lazy("paid; the bank is kept, passed or offered"),
    RoundPhase.VOID: gettext_lazy("void, or ended without a stake"),
}


@dataclass(frozen=True)
class SeatedPlayer:
    """A player or house player at a seat."""

    number: int
    player: int | None  # None: a house player
    is_away: bool = False

    def __str__(self) -> str:
        """Return the name that staff see."""
        return gettext("seat %(number)s, %(value)s") % {
            "number": self.number,
            "value": f"player:{self.player}" if self.player else gettext("house player"),
        }


@dataclass(frozen=True)
class Laid:
    """Chips on the table and their owner. Minor units."""

    seated: SeatedPlayer
    amount: int


@dataclass(frozen=True)
class CheminState:
    """A table of Chemin de Fer at one moment. Amounts in minor units of *currency*."""

    currency: str
    goes_on: str
    seated: Sequence[SeatedPlayer]
    asked: SeatedPlayer | None = None
    deadline: datetime | None = None
    bank: Laid | None = None
    full_amount: int | None = None  # of a bank for sale
    bids: Sequence[Laid] = ()
    stakes: Sequence[Laid] = ()


@dataclass(frozen=True)
class Parts:
    """The bank and the stakes of a coup. Amounts in minor units of *currency*."""

    currency: str
    bank: Laid | None
    stakes: Sequence[Laid]


def parts_of(coups: Iterable[LiveRound]) -> Mapping[UUID, Parts]:
    """Return the bank and stakes of these coups, finished or in progress, by id.

    Rounds of other tables are left out. A fixed number of queries.
    """
    wanted = [each for each in coups if each.live_table.table.shape == Shape.CHEMIN]
    running = {each.live_table_id: each.pk for each in wanted if each.phase in OPEN_PHASES}
    parts = {
        running[live_table]: Parts(chemin_state.currency, chemin_state.bank, chemin_state.stakes)
        for live_table, chemin_state in read_chemin_states(running).items()
    }
    stakes = Prefetch("stakes", CheminStake.objects.select_related("seat").order_by("pk"))
    over = CheminCoup.objects.filter(pk__in=[each.pk for each in wanted]).select_related("banker", "round__version")
    for coup in over.prefetch_related(stakes):
        (currency,) = coup.round.version.limits
        laid = tuple(Laid(SeatedPlayer(each.seat.number, each.player_id), each.stake) for each in coup.stakes.all())
        parts[coup.pk] = Parts(currency, Laid(SeatedPlayer(coup.banker.number, coup.banker_player_id), coup.bank), laid)
    return parts


def phase_text(live_round: LiveRound) -> str:
    """Return the phase of a round as text; at Chemin de Fer, that of the coup."""
    if live_round.live_table.table.shape == Shape.CHEMIN:
        return str(COUP[live_round.phase])
    return live_round.get_phase_display()


def read_chemin_states(live_tables: Iterable[int]) -> Mapping[int, CheminState]:
    """Return the state of these tables of Chemin de Fer, by id. Two queries."""
    ids = list(live_tables)
    seated: dict[int, dict[int, SeatedPlayer]] = {}
    for seat in CheminSeat.objects.filter(live_table__in=ids, left_at=None).order_by("number"):
        seated.setdefault(seat.live_table_id, {})[seat.number] = SeatedPlayer(
            seat.number, seat.player_id, seat.away_since is not None
        )
    found = CheminTable.objects.filter(pk__in=ids).select_related("live_table__table__version")
    return {each.pk: _chemin_state(each, seated.get(each.pk, {})) for each in found}


def _chemin_state(chemin: CheminTable, seated: Mapping[int, SeatedPlayer]) -> CheminState:
    try:
        return _readable_state(chemin, seated)
    except UNREADABLE:
        return CheminState(currency="", goes_on=gettext("its state cannot be read"), seated=tuple(seated.values()))


def _readable_state(chemin: CheminTable, seated: Mapping[int, SeatedPlayer]) -> CheminState:
    rules = _rules(chemin.live_table.table.version)
    state = _without_cards(chemin.state, rules)

    def laid(chips: Chips) -> Laid:
        return Laid(seated[chips.seat], chips.amount)

    return CheminState(
        currency=rules.currency,
        goes_on=str(GOES_ON[state.phase]),
        seated=tuple(seated.values()),
        asked=None if state.turn is None else seated[state.turn],
        deadline=chemin.deadline,
        bank=None if state.bank is None else laid(state.bank),
        full_amount=None if state.sale is None else state.sale.full_amount,
        bids=tuple(map(laid, state.sale.bids)) if state.sale else (),
        stakes=tuple(map(laid, state.coup.stakes)) if state.coup and state.coup.outcome is None else (),
    )


def _rules(version: TableVersion | None) -> CheminRules:
    if version is None:
        raise LookupError
    return CheminRules.of(version.limits)


def _without_cards(frozen: Mapping[str, Any], rules: CheminRules) -> State:
    """Return a table state without shoe, hands and balances."""
    coup = frozen["coup"] and {**frozen["coup"], "hands": None}
    seats = dict.fromkeys((number for number, _ in frozen["seats"]), 0)
    return thaw({**frozen, "coup": coup, "shoe": None}, rules=rules.table_rules, cards=(), balances=seats)
