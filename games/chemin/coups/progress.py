"""A coup in progress: a round of the live table whose phase follows the engine's.

Calls and stakes are taken while betting is open. *Rien ne va plus* closes bets. The cards are drawn
when the banker draws them. The row does not contain the cards: `DealtCards` has them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import uuid4

from audit import log
from audit.log import Json
from games.chemin.transition import Transition
from games.engine.chemin import Phase as Engine
from games.engine.chemin.events import CoupVoided, Settled
from games.engine.chemin.state import there
from games.models import CheminTenure, LiveRound, Phase
from games.models.rounds import round_code
from games.shared import moves
from games.shared.shoes import SYSTEM

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
