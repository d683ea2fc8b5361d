"""A Chemin de Fer table as it stands: its rows, who sits there, and the state of the engine put together again from the
frozen one, the cards of its shoe and what is free on the accounts of its guests.

This is the croupier's knowledge. What anyone may see of it is `games.engine.chemin.view`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet

from games.chemin import shoes
from games.engine.cards import FULL_DECK, Card
from games.engine.chemin import Phase, State
from games.engine.chemin.frozen import thaw
from games.engine.chemin.phases import IN_COUP
from games.engine.chemin.rules import DECKS
from games.models import (
    OPEN_PHASES,
    CheminSeat,
    CheminTable,
    CheminTenure,
    LiveRound,
    LiveTable,
    Shoe,
    TableVersion,
)
from games.rounds.integrity import WrongCard
from games.rounds.redeal import Finding
from games.tables import clock
from games.tables.chemin_rules import GuestClock, GuestRules
from wallet import house_stop
from wallet.models import Account, Mode

# Whoever falls silent with the table loses it. Not FOR UPDATE: what is said at the table goes on meanwhile.
LOCK = """
SELECT set_config('idle_in_transaction_session_timeout', %(silence)s, true)
FROM (SELECT id FROM games_livetable WHERE id = %(live_table)s FOR NO KEY UPDATE) AS locked
"""
LOCK_IF_FREE = LOCK.replace("FOR NO KEY UPDATE", "FOR NO KEY UPDATE SKIP LOCKED")

UNDER_ITS_VERSION: Final = IN_COUP | {Phase.CHOICE, Phase.SUITE, Phase.AUCTION, Phase.SHOE}
"""Phases in which a bank is held or on sale: the rules it was put up under hold until it is free again."""

PLAIN: Final = FULL_DECK * DECKS
"""Six decks that nobody shuffled, where no card may be looked at."""


@dataclass(frozen=True)
class Standing:
    """A table at one moment. Everything in it belongs to the transaction that read it."""

    live_table: LiveTable
    chemin: CheminTable
    version: TableVersion
    rules: GuestRules
    clock: GuestClock
    seats: Mapping[int, CheminSeat]
    """Who sits at each place."""
    state: State = field(repr=False)
    live_round: LiveRound | None = None
    """The coup in progress."""
    tenure: CheminTenure | None = None
    """Of whoever is banker."""
    is_house_stopped: bool = False
    """Whether the whole house is stopped."""

    @property
    def mode(self) -> Mode:
        """For which money it is played."""
        return Mode(self.live_table.mode)

    @property
    def shoe(self) -> Shoe | None:
        """The shoe on the table; one that has ended is there no more."""
        shoe = self.live_table.shoe
        return shoe if shoe is not None and shoe.ended_at is None else None

    @property
    def in_coup(self) -> bool:
        """Whether a coup is being played."""
        return self.state.phase in IN_COUP

    @property
    def asked(self) -> CheminSeat | None:
        """Who is asked to decide now."""
        return None if self.state.turn is None else self.seats[self.state.turn]

    def seat_of(self, player_id: int) -> CheminSeat | None:
        """Return where a player sits, if they do."""
        return next((seat for seat in self.seats.values() if seat.player_id == player_id), None)

    def free_places(self) -> list[int]:
        """Return the places at which nobody sits."""
        return [place for place in range(1, self.rules.places + 1) if place not in self.seats]


def locked(live_table_id: int, *, newcomer: int | None = None, blind: bool = False) -> Standing:
    """Return a table that nobody else moves until the transaction ends, with the accounts of all who sit there and that
    of a *newcomer*. *blind*: without looking at the shoe, for what needs no card; the cards of the state are any then.

    Waits for a stop of the whole house that is on its way, as one waits from then on, and then locks the live table,
    its row here, the round in progress, and accounts ascending by id. Raises CheminTable.DoesNotExist, and what
    `games.chemin.shoes.cards_of` raises unless blind.
    """
    is_house_stopped = house_stop.is_stopped()
    _lock(LOCK, live_table_id)
    return _standing(live_table_id, newcomer, blind=blind, is_house_stopped=is_house_stopped)


def locked_if_free(live_table_id: int) -> Standing | None:
    """Return a table as `locked` does, None where somebody else has it. Raises what `locked` raises."""
    is_house_stopped = house_stop.is_stopped()
    if not _lock(LOCK_IF_FREE, live_table_id):
        return None
    return _standing(live_table_id, None, blind=False, is_house_stopped=is_house_stopped)


def _lock(statement: str, live_table_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"live_table": live_table_id, "silence": clock.LONGEST_SILENCE})
        return cursor.fetchone() is not None


def _standing(live_table_id: int, newcomer: int | None, *, blind: bool, is_house_stopped: bool) -> Standing:
    chemin = CheminTable.objects.select_for_update(of=("self",)).select_related("tenure").get(pk=live_table_id)
    live_table = LiveTable.objects.select_related("table__version", "shoe", "round__version").get(pk=live_table_id)
    version = _version(live_table, Phase(chemin.state["phase"]))
    rules = GuestRules.of(version.limits)
    seats = {seat.number: seat for seat in _seated(live_table_id)}
    live_round = _round_in_progress(live_table_id)
    balances = _balances(seats, newcomer)
    frozen = on_the_table(chemin.state, live_table.shoe)
    cards = _unseen(frozen) if blind else cards_on_table(frozen, live_table.shoe)
    return Standing(
        live_table=live_table,
        chemin=chemin,
        version=version,
        rules=rules,
        clock=GuestClock.of(version.clock or {}),
        seats=seats,
        state=thaw(frozen, rules=rules.table_rules, cards=cards, balances=balances),
        live_round=live_round,
        tenure=chemin.tenure,
        is_house_stopped=is_house_stopped,
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


def _balances(seats: Mapping[int, CheminSeat], newcomer: int | None) -> Mapping[int, int]:
    """Return what each guest may still put down: what is held, a bid among it, covers nothing."""
    ids = [seat.account_id for seat in seats.values()]
    theirs = Account.objects.filter(pk__in=[*ids, newcomer] if newcomer else ids)
    free = {each.pk: (each.balance or 0) - each.held for each in theirs.order_by("pk").select_for_update()}
    return {number: free[seat.account_id] for number, seat in seats.items()}


def on_the_table(frozen: dict[str, Any], shoe: Shoe | None) -> dict[str, Any]:
    """Take a shoe that has ended off a frozen table, with the cards of the last coup from it."""
    if frozen["shoe"] is None or (shoe is not None and shoe.ended_at is None):
        return frozen
    return {**frozen, "shoe": None, "coup": None}


def cards_on_table(frozen: dict[str, Any], shoe: Shoe | None) -> tuple[Card, ...]:
    """Return the cards of the shoe on a frozen table, none where there is no shoe.

    Raises WrongCard where the two do not stand at the same card, and what `games.chemin.shoes.cards_of` raises.
    """
    if frozen["shoe"] is None or shoe is None:
        return ()
    if (gone := frozen["shoe"]["gone"]) != shoe.gone:
        raise WrongCard(
            "The table does not stand where its shoe does.", Finding("cards gone", str(shoe.gone), str(gone))
        )
    return shoes.cards_of(shoe)


def _unseen(frozen: dict[str, Any]) -> tuple[Card, ...]:
    return PLAIN if frozen["shoe"] else ()
