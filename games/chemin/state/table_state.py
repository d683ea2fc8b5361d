"""The table state of Chemin de Fer (rows, seats, and the engine's state), and a move from one state to the next.

The engine's state is rebuilt from its stored form, the cards that have left the shoe and the
available balances of the players. It includes face-down cards; `games.engine.chemin.view` says what each reader may
see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from games.chemin import shoes
from games.dealer.client import CardsDealt
from games.engine.cards import Card
from games.engine.chemin import Phase, new_table
from games.engine.chemin.actions import Action, AskCroupier, TableAction, TimeUp
from games.engine.chemin.events import Event
from games.engine.chemin.frozen import freeze, thaw
from games.engine.chemin.machine import default_action
from games.engine.chemin.state import State
from games.engine.chemin.steps.phases import IN_COUP
from games.models import (
    OPEN_PHASES,
    CheminSeat,
    CheminTable,
    CheminTenure,
    Decider,
    LiveRound,
    LiveTable,
    Shoe,
    TableVersion,
    WhyLeft,
)
from games.rounds.integrity import WrongCard
from games.rounds.redeal import Finding
from games.tables import clock
from games.tables.chemin_rules import CheminClock, CheminRules
from wallet import house_stop
from wallet.models import Account, AccountKind, Mode

# The timeout releases the lock of a process that hangs. FOR NO KEY UPDATE rather than FOR UPDATE,
# so that chat messages of the table can still be inserted.
LOCK = """
SELECT set_config('idle_in_transaction_session_timeout', %(silence)s, true)
FROM (SELECT id FROM games_livetable WHERE id = %(live_table)s FOR NO KEY UPDATE) AS locked
"""
LOCK_IF_FREE = LOCK.replace("FOR NO KEY UPDATE", "FOR NO KEY UPDATE SKIP LOCKED")

UNDER_ITS_VERSION: Final = IN_COUP | {Phase.CHOICE, Phase.SUITE, Phase.AUCTION, Phase.SHOE}
"""Phases in which a bank is held or for sale. The version it was put up under applies until it is free."""


@dataclass(frozen=True)
class TableState:
    """A table at one moment. It is valid only in the transaction that read it."""

    live_table: LiveTable
    chemin: CheminTable
    version: TableVersion
    rules: CheminRules
    clock: CheminClock
    seats: Mapping[int, CheminSeat]
    """The occupied seats by number."""
    state: State = field(repr=False)
    live_round: LiveRound | None = None
    """The coup in progress."""
    tenure: CheminTenure | None = None
    """The tenure of the present banker."""
    is_house_stopped: bool = False
    """True if a house stop is in force."""
    is_emptied: bool = False
    """True if the stored state is lost, and `state` is that of a table without players."""

    @property
    def mode(self) -> Mode:
        """The kind of money of the table."""
        return Mode(self.live_table.mode)

    @property
    def shoe(self) -> Shoe | None:
        """The shoe on the table, or None after it has ended."""
        shoe = self.live_table.shoe
        return shoe if shoe is not None and shoe.ended_at is None else None

    @property
    def in_coup(self) -> bool:
        """True if a coup is in progress."""
        return self.state.phase in IN_COUP

    @property
    def asked(self) -> CheminSeat | None:
        """The seat that is asked to decide now."""
        return None if self.state.turn is None else self.seats[self.state.turn]

    def seat_of(self, player_id: int) -> CheminSeat | None:
        """Return the seat of a player, or None."""
        return next((seat for seat in self.seats.values() if seat.player_id == player_id), None)

    def free_seats(self) -> list[int]:
        """Return the numbers of the free seats."""
        return [seat_number for seat_number in range(1, self.rules.seat_count + 1) if seat_number not in self.seats]


def locked(
    live_table_id: int, *, newcomer: int | None = None, blind: bool = False, is_emptied: bool = False
) -> TableState:
    """Return a table, locked until the transaction ends, with the accounts of its players and of a *newcomer*.

    *blind*: do not read the shoe; the cards in the state are then placeholders. *is_emptied*: do
    not read the stored state either, which is lost.

    Waits for a house stop that is being committed. Then locks the live table, the round in
    progress, and accounts and purses by ascending id. Raises CheminTable.DoesNotExist, and what
    `games.chemin.shoes.cards_of` raises unless *blind*.
    """
    is_house_stopped = house_stop.is_stopped()
    _lock(LOCK, live_table_id)
    return _read_table(live_table_id, newcomer, blind=blind, is_house_stopped=is_house_stopped, is_emptied=is_emptied)


def locked_if_free(live_table_id: int) -> TableState | None:
    """Return a table as `locked` does, or None where another process has locked it."""
    is_house_stopped = house_stop.is_stopped()
    if not _lock(LOCK_IF_FREE, live_table_id):
        return None
    return _read_table(live_table_id, None, blind=False, is_house_stopped=is_house_stopped)


def _lock(statement: str, live_table_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"live_table": live_table_id, "silence": clock.LONGEST_SILENCE})
        return cursor.fetchone() is not None


def _read_table(
    live_table_id: int, newcomer: int | None, *, blind: bool, is_house_stopped: bool, is_emptied: bool = False
) -> TableState:
    chemin = CheminTable.objects.select_related("tenure").get(pk=live_table_id)
    live_table = LiveTable.objects.select_related("table__version", "shoe", "round__version").get(pk=live_table_id)
    version = _version(live_table, Phase.ALONE if is_emptied else Phase(chemin.state["phase"]))
    rules = CheminRules.of(version.limits)
    if is_emptied:
        chemin.state = freeze(new_table(rules.table_rules))
    seats = {seat.number: seat for seat in _seated(live_table_id)}
    live_round = _round_in_progress(live_table_id)
    balances = _balances(seats, newcomer, Mode(live_table.mode))
    frozen = on_the_table(chemin.state, live_table.shoe)
    cards = _unseen(frozen) if blind else cards_on_table(frozen, live_table.shoe)
    return TableState(
        live_table=live_table,
        chemin=chemin,
        version=version,
        rules=rules,
        clock=CheminClock.of(version.clock or {}),
        seats=seats,
        state=thaw(frozen, rules=rules.table_rules, cards=cards, balances=balances),
        live_round=live_round,
        tenure=chemin.tenure,
        is_house_stopped=is_house_stopped,
        is_emptied=is_emptied,
    )


def _version(live_table: LiveTable, phase: Phase) -> TableVersion:
    latest = live_table.round
    if phase in UNDER_ITS_VERSION and latest is not None:
        return latest.version
    if live_table.table.version is None:
        raise TableVersion.DoesNotExist
    return live_table.table.version


def _seated(live_table_id: int) -> QuerySet[CheminSeat]:
    return CheminSeat.objects.filter(live_table=live_table_id, left_at=None).select_related("player")


def _round_in_progress(live_table_id: int) -> LiveRound | None:
    rounds = LiveRound.objects.select_for_update(of=("self",)).select_related("version", "shoe")
    return rounds.filter(live_table=live_table_id, phase__in=OPEN_PHASES).first()


def _balances(seats: Mapping[int, CheminSeat], newcomer: int | None, mode: Mode) -> Mapping[int, int]:
    """Return each player's available balance: what is held, such as a bid, is not available.

    The purses are locked with the accounts that the table moves. A move counts the days of its players in several
    steps, and their play time in between; a round on their purses that ends at the same time would take the same rows
    in another order.
    """
    ids = [seat.account_id for seat in seats.values()]
    purses = Q(kind=AccountKind.PURSE, mode=mode, owner__in=[s.player_id for s in seats.values() if s.player_id])
    theirs = Account.objects.filter(Q(pk__in=[*ids, newcomer] if newcomer else ids) | purses)
    free = {each.pk: (each.balance or 0) - each.held for each in theirs.order_by("pk").select_for_update()}
    return {number: free[seat.account_id] for number, seat in seats.items()}


def on_the_table(frozen: dict[str, Any], shoe: Shoe | None) -> dict[str, Any]:
    """Remove a shoe that has ended, and the cards of its last coup, from a stored state."""
    if frozen["shoe"] is None or (shoe is not None and shoe.ended_at is None):
        return frozen
    return {**frozen, "shoe": None, "coup": None}


def cards_on_table(frozen: dict[str, Any], shoe: Shoe | None) -> tuple[Card, ...]:
    """Return the cards of the shoe in a stored state; empty where there is no shoe.

    Raises WrongCard where state and shoe differ in the number of cards gone, and what
    `games.chemin.shoes.cards_of` raises.
    """
    if frozen["shoe"] is None or shoe is None:
        return ()
    demand_same_position(frozen, shoe)
    return shoes.cards_of(shoe)


def demand_same_position(frozen: dict[str, Any], shoe: Shoe) -> None:
    """Raise WrongCard where state and shoe differ in the number of cards gone."""
    if (gone := frozen["shoe"]["gone"]) != shoe.gone:
        raise WrongCard(
            gettext_noop("The state of the table and its shoe differ."),
            Finding("cards gone", str(shoe.gone), str(gone)),
        )


def _unseen(frozen: dict[str, Any]) -> tuple[Card, ...]:
    return shoes.UNKNOWN if frozen["shoe"] else ()


E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Transition:
    """The result of an action. Rows and money follow from it."""

    before: TableState
    action: Action
    state: State = field(repr=False)
    events: tuple[Event, ...]
    number: int
    at: datetime
    decider: Decider
    dealt: CardsDealt | None = field(default=None, repr=False)
    """The cards that left the shoe in this move."""
    why: WhyLeft = WhyLeft.WISH
    """The reason recorded for a player who leaves in this move, unless they asked to leave before."""

    @property
    def decision(self) -> Action:
        """The decision; after an expired deadline, the one the croupier took by the rule."""
        if isinstance(self.action, TimeUp):
            return default_action(self.before.state) or self.action
        return self.action

    @property
    def seat_number(self) -> int | None:
        """The seat of the decision; None where the house acts for nobody."""
        return getattr(self.decision, "seat", None)

    @property
    def answers(self) -> bool:
        """True if the decision answers the pending question."""
        return isinstance(self.decision, TableAction) and not isinstance(self.decision, AskCroupier)

    @property
    def asks_new_question(self) -> bool:
        """True if another question is pending now than before."""
        before = self.before.state
        return self.answers or (before.phase, before.turn) != (self.state.phase, self.state.turn)

    @property
    def in_coup(self) -> bool:
        """True if a coup is in progress now."""
        return self.state.phase in IN_COUP

    def first(self, kind: type[E]) -> E | None:
        """Return the first event of a kind, or None."""
        return next((event for event in self.events if isinstance(event, kind)), None)
