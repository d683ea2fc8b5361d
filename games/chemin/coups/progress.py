"""A coup as a round of the live table: in progress, and stored when it is finished.

The phase of the round follows the engine's. Calls and stakes are taken while betting is open. *Rien ne va plus* closes
bets. The cards are drawn when the banker draws them. The row does not contain the cards: `DealtCards` has them.

A finished coup is stored as a round with participations, as all games do, and as a `CheminCoup`. Before anything is
stored, the engine recomputes the coup from its cards and declarations alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import uuid4

from django.utils.translation import gettext_noop

from audit import log
from audit.log import Json
from games.chemin import event_codec
from games.chemin import moves as chemin_moves
from games.chemin.shoes import proof_of
from games.chemin.state.table_state import Transition
from games.engine.cards import Card
from games.engine.chemin import Call, Outcome, Side
from games.engine.chemin import Phase as Engine
from games.engine.chemin.events import CoupVoided, Declared, Event, Settled, SettledStake
from games.engine.chemin.record import Played, RecordError, recompute_coup
from games.engine.chemin.state import there
from games.models import (
    CheminMove,
    CheminSeat,
    CheminTenure,
    LiveRound,
    Phase,
)
from games.models.rounds import round_code
from games.rounds.integrity import NotRecomputed
from games.rounds.redeal import Finding
from games.shared import moves
from games.shared.shoes import SYSTEM, written
from wallet.ledger import system_key

PHASES: Final[Mapping[Engine, Phase]] = {
    Engine.CALLS: Phase.BETTING,
    Engine.STAKES: Phase.BETTING,
    Engine.CARDS: Phase.CLOSED,
    Engine.PUNTER: Phase.DEALT,
    Engine.BANKER: Phase.DEALT,
}
COURSE: Final = (Phase.BETTING, Phase.CLOSED, Phase.DEALT, Phase.SETTLED)


def begin(transition: Transition, tenure: CheminTenure | None) -> LiveRound | None:
    """Open the coup that begins with this move, or return the coup in progress.

    A coup in which nobody can call or stake ends before it begins, so no round is opened for it.
    """
    before = transition.before
    if before.live_round is not None or not transition.in_coup:
        return before.live_round
    shoe, coup_id, bank = there(before.shoe), uuid4(), there(tenure)
    live_round = moves.open_round(before.live_table, coup_id, version_id=before.version.pk, code=round_code(coup_id))
    live_round.shoe, live_round.version = shoe, before.version
    data: dict[str, Json] = {
        "bank": transition.state.held_bank.amount,
        "code": live_round.code,
        "shoe": str(shoe.pk),
        "table_version": live_round.version_id,
        "tenure": str(bank.pk),
    }
    log.record("coup.opened", by=SYSTEM, on=f"round:{coup_id}", data=data)
    return live_round


def follow(transition: Transition, live_round: LiveRound | None, deadline: datetime | None) -> LiveRound | None:
    """Take the coup through the phases of the move; return it unless it has ended.

    *deadline* is that of the pending question. A void coup is ended by the code that voids it.
    """
    if live_round is None or transition.first(CoupVoided) is not None:
        return None
    target = PHASES.get(transition.state.phase)
    if target is None:
        target = Phase.SETTLED if transition.first(Settled) is not None else Phase.VOID
    if target is Phase.VOID:
        moves.end_void(live_round)
        return None
    for phase in COURSE[COURSE.index(Phase(live_round.phase)) + 1 : COURSE.index(target) + 1]:
        if phase is Phase.SETTLED:
            _draw(transition, live_round)
        _enter(transition, live_round, phase, deadline or transition.at)
    if target is not Phase.SETTLED:
        _draw(transition, live_round)
    return None if target is Phase.SETTLED else live_round


def _enter(transition: Transition, live_round: LiveRound, phase: Phase, deadline: datetime) -> None:
    """Take the coup one phase on. PostgreSQL refuses to skip a phase."""
    moves.move_coup(live_round, phase, at=transition.at, deadline=deadline)
    if phase is Phase.CLOSED:
        _record_stakes(transition, live_round)
    elif phase is Phase.DEALT:
        # The cards are not logged yet, so that a reader of
        # the log does not see them before the players.
        data: dict[str, Json] = {"first_card": live_round.first_card, "shoe": str(live_round.shoe_id)}
        log.record("round.dealt", by=SYSTEM, on=f"round:{live_round.pk}", data=data)


def _record_stakes(transition: Transition, live_round: LiveRound) -> None:
    """Commit to every stake: one line "seat player stake" each, in order, minor units, separated by line feeds."""
    stakes, seats = transition.state.running_coup.stakes, transition.before.seats
    lines = [f"{seats[chips.seat].pk} {seats[chips.seat].player_id or 'house'} {chips.amount}" for chips in stakes]
    data: dict[str, Json] = {
        "at_risk": transition.state.running_coup.at_risk,
        "code": live_round.code,
        "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        "shoe": str(live_round.shoe_id),
        "stakes": len(lines),
        "table_version": live_round.version_id,
    }
    log.record("bets.closed", by=SYSTEM, on=f"round:{live_round.pk}", data=data)


def _draw(transition: Transition, live_round: LiveRound) -> None:
    """Store the cards that left the shoe in this move."""
    if transition.dealt is not None:
        live_round.shoe.gone = moves.draw_cards(live_round.pk, transition.dealt)


@dataclass(frozen=True)
class Finished:
    """A finished coup, in minor units. Without an outcome it is void, and nothing is won or lost."""

    live_round: LiveRound
    tenure: CheminTenure
    banker: CheminSeat
    bank: int
    """At the opening of the coup."""
    call: Call | None
    stakes: tuple[SettledStake, ...]
    seats: Mapping[int, CheminSeat]
    punter: int | None
    """The seat that held the punters' cards."""
    at: datetime
    outcome: Outcome | None = None
    cards: tuple[Card, ...] = ()
    punter_draws: bool | None = None
    banker_draws: bool | None = None
    played: Played | None = None
    tax: int = 0

    @property
    def at_risk(self) -> int:
        """The covered part of the bank."""
        return sum(stake.stake for stake in self.stakes)


def finish(transition: Transition, settled: Settled) -> Finished:
    """Return the coup that a move has settled. Raises NotRecomputed where recomputing it gives another result."""
    before, after = transition.before, transition.state
    live_round, coup = there(before.live_round), after.running_coup
    shoe = there(after.shoe)
    first = shoe.drawn - sum(
        2 if hand.third is None else 3 for hand in (after.dealt_hands.punter, after.dealt_hands.banker)
    )
    declared = {event.side: event.draws for event in _declarations(transition, live_round)}
    punter_draws, banker_draws = declared.get(Side.PUNTER), declared.get(Side.BANKER)
    bank = before.state.held_bank.amount
    try:
        played = recompute_coup(
            shoe.cards[first:], stakes=coup.stakes, bank=bank, punter_draws=punter_draws, banker_draws=banker_draws
        )
    except RecordError as error:
        found = Finding("coup", "settled", "impossible by its record")
        raise NotRecomputed(gettext_noop("The coup violates the rules."), found) from error
    _demand_same(settled, played, cards=shoe.drawn - first)
    return Finished(
        live_round=live_round,
        tenure=there(before.tenure),
        banker=before.seats[before.state.held_bank.seat],
        bank=bank,
        call=coup.call,
        stakes=settled.stakes,
        seats=before.seats,
        punter=coup.punter,
        at=transition.at,
        outcome=settled.outcome,
        cards=played.cards,
        punter_draws=punter_draws,
        banker_draws=banker_draws,
        played=played,
        tax=settled.tax,
    )


def keep(finished: Finished) -> None:
    """Pay and store a finished coup, or store a void one, with every player's part.

    PostgreSQL takes stakes and bank from the ledger. Raises RoundRefused, WrongCoup, LedgerError.
    """
    played, live_round = finished.played, finished.live_round
    chemin_moves.finish_coup(
        {
            "round": live_round.pk,
            "tenure": finished.tenure.pk,
            "key": system_key(live_round.pk, "settle"),
            "cards": written(finished.cards),
            "proof": proof_of(live_round) if finished.outcome else None,
            "outcome": finished.outcome.value if finished.outcome else "",
            "punter_draws": finished.punter_draws,
            "banker_draws": finished.banker_draws,
            "punter_departs": played.punter_departs if played else False,
            "banker_departs": played.banker_departs if played else False,
            "at": finished.at,
        }
    )
    if finished.outcome is not None:
        log.count("round.settled", {})


def _declarations(transition: Transition, live_round: LiveRound) -> Iterator[Declared]:
    """Yield the declarations of the coup, including those of this move."""
    said = CheminMove.objects.filter(round_id=live_round.pk, kind__in=("draw_card", "stand")).order_by("number")
    earlier: list[Event] = [event_codec.read(event) for move in said for event in move.events]
    yield from (event for event in (*earlier, *transition.events) if isinstance(event, Declared))


def _demand_same(settled: Settled, played: Played, *, cards: int) -> None:
    """Raise NotRecomputed where recomputing the coup gives another result.

    The error names the fields that differ but no values: the move is rolled back, and its cards are
    face down again.
    """
    compared = {
        "outcome": (settled.outcome, played.outcome),
        "totals": ((settled.punter_total, settled.banker_total), (played.punter.total, played.banker.total)),
        "stakes": (settled.stakes, played.stakes),
        "tax": (settled.tax, played.tax),
        "bank": (settled.bank, played.bank),
        "cards": (cards, len(played.cards)),
    }
    wrong = [Finding(what, "of the table", "another") for what, (was, again) in compared.items() if was != again]
    if wrong:
        raise NotRecomputed(gettext_noop("The settlement differs from the record of the coup."), *wrong)
