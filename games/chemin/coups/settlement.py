"""Store a finished coup as a round with participations, as all games do, and as a `CheminCoup`.

Before anything is stored, the engine recomputes the coup from its cards and declarations alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_noop

from audit import log
from games.chemin import event_codec, moves
from games.chemin.shoes import proof_of
from games.chemin.transition import Transition
from games.engine.cards import Card
from games.engine.chemin import Call, Outcome, Side
from games.engine.chemin.events import Declared, Event, Settled, SettledStake
from games.engine.chemin.record import Played, RecordError, replay_coup
from games.engine.chemin.state import there
from games.models import (
    CheminMove,
    CheminSeat,
    CheminTenure,
    LiveRound,
)
from games.rounds.integrity import NotRecomputed
from games.rounds.redeal import Finding
from games.shared.shoes import written
from wallet.ledger import system_key


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
        played = replay_coup(
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
    moves.finish_coup(
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
