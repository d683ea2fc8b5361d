"""Plays Chemin de Fer with the engine and stores it as the product does: many coups in little time.

Each seat has a policy. The honest policy plays like a house player, with a rare departure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final
from uuid import UUID, uuid4

from games.chemin import event_codec
from games.chemin.tick import choose
from games.engine.cards import FULL_DECK
from games.engine.chemin import Phase, SeatView, State, apply, new_table, options, view
from games.engine.chemin.actions import (
    Action,
    BringShoe,
    DrawCard,
    Join,
    LayStake,
    MakeCall,
    Pass,
    SetBalance,
    Stand,
    TableAction,
)
from games.engine.chemin.events import BankTaken, Declared, Event, Settled
from games.engine.chemin.rules import DECKS, Side, banker_rule, punter_rule
from games.engine.chemin.state import Hands, there
from games.models import (
    CheminCoup,
    CheminMove,
    CheminSeat,
    CheminStake,
    CheminTenure,
    Decider,
    LiveRound,
    LiveTable,
    Round,
    Shoe,
)
from games.models import Phase as LivePhase
from games.tables.chemin_rules import CheminRules
from players.models import Player
from tests.chemin.at_table import a_seat_as_owner
from tests.harness.owner import create_as_owner, update_as_owner

Policy = Callable[[SeatView, Random], TableAction]

RICH: Final = 10**9
ONE_IDEA_IN: Final = 20
"""An honest player departs from the rule once in this many free decisions."""

KINDS: Final = {Pass: "pass", MakeCall: "make_call", LayStake: "lay_stake"}


def honest(seen: SeatView, chance: Random) -> TableAction:
    """Play like a house player, with a random choice between draw and stand once in a while."""
    free = [option.action for option in seen.options if isinstance(option.action, DrawCard | Stand)]
    if len(free) == 2 and chance.randrange(ONE_IDEA_IN) == 0:
        return chance.choice(free)
    return choose(seen, chance.randrange)


@dataclass
class Evening:
    """A table with its players, and the records of its coups."""

    live_table: LiveTable
    players: Sequence[Player | None]  # None: a house player
    policies: Mapping[int, Policy]
    chance: Random
    began: datetime
    sessions: Sequence[UUID | None] = ()
    rows: dict[type, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        version = there(self.live_table.table.version)
        self.state: State = new_table(CheminRules.of(version.limits).table_rules)
        self.now = self.began
        self.coups = self.dealt = 0
        self.round: UUID | None = None
        self.tenure: UUID | None = None
        self.bank = 0
        self.declared: dict[Side, bool] = {}
        self.number = CheminMove.objects.filter(live_table=self.live_table).count()
        self.shoe = self._keep(self._shoe())
        update_as_owner(CheminSeat.objects.filter(live_table=self.live_table, left_at=None), left_at=self.began)
        self.seats = {
            number: a_seat_as_owner(
                live_table=self.live_table,
                number=number,
                player=player,
                account_id=0,
                joined_at=self.began,
                session=self.sessions[number - 1] if self.sessions else None,
            )
            for number, player in enumerate(self.players, start=1)
        }
        for number in self.seats:
            self._apply(Join(number, RICH))

    def play(self, coups: int) -> None:
        """Play this many more coups and store them."""
        goal = self.coups + coups
        while self.coups < goal:
            self._step()
        for written in (Shoe, LiveRound, Round, CheminTenure, CheminCoup, CheminStake, CheminMove):
            create_as_owner(*self.rows.pop(written, []))

    def _step(self) -> None:
        if self.state.phase is Phase.SHOE:
            cards = list(FULL_DECK * DECKS)
            self.chance.shuffle(cards)
            self._apply(BringShoe(tuple(cards)))
            self.shoe, self.dealt = self._keep(self._shoe()), 0
        number = self.state.turn
        if number is None:
            number = next(seat.number for seat in self.state.seats if options(self.state, seat.number))
        policy = self.policies.get(number, honest)
        self._do(policy(view(self.state, number), self.chance))

    def _do(self, action: TableAction) -> None:
        before, asked = self.state, self.now
        self.now += timedelta(seconds=1 + self.chance.randrange(8))
        events = self._apply(action)
        if type(action) in KINDS and before.phase in (Phase.CALLS, Phase.STAKES):
            self._keep_move(action, events, asked)
        for event in events:
            self._note(before, event)
        if self.state.phase is Phase.CHOICE:
            self.round = None
            for seat in self.state.seats:
                self._apply(SetBalance(seat.number, RICH))

    def _apply(self, action: Action) -> tuple[Event, ...]:
        self.state, events = apply(self.state, action)
        if self.state.phase is Phase.CALLS and self.round is None:
            self.round, self.bank = uuid4(), self.state.held_bank.amount
        return events

    def _note(self, before: State, event: Event) -> None:
        match event:
            case BankTaken(seat, amount):
                tenure = CheminTenure(
                    id=uuid4(),
                    live_table=self.live_table,
                    seat=self.seats[seat],
                    account_id=0,
                    put_up=amount,
                    began_at=self.now,
                    ended_at=self.now,  # the tenure in progress is that of a table state, which is not stored here
                )
                self.tenure = self._keep(tenure).pk
            case Declared(side=side, draws=draws):
                self.declared[side] = draws
            case Settled():
                self._keep_coup(before, event)
                self.round, self.declared = None, {}
                self.coups += 1

    def _keep_move(self, action: TableAction, events: Sequence[Event], asked: datetime) -> None:
        self.number += 1
        call = action.call if isinstance(action, MakeCall) else ""
        self._keep(
            CheminMove(
                live_table=self.live_table,
                number=self.number,
                round_id=self.round,
                tenure_id=self.tenure,
                seat=self.seats[action.seat],
                kind=KINDS[type(action)],
                amount=getattr(action, "amount", None),
                call=call,
                decider=Decider.PLAYER if self.seats[action.seat].player_id else Decider.HOUSE_PLAYER,
                events=[event_codec.write(event) for event in events],
                asked_at=asked,
                at=self.now,
            )
        )

    def _keep_coup(self, before: State, settled: Settled) -> None:
        coup = there(self.state.coup)
        hands = there(coup.hands)
        live = self._keep(self._live_round())
        cards = [hands.punter.pair[0], hands.banker.pair[0], hands.punter.pair[1], hands.banker.pair[1]]
        thirds = [card for card in (hands.punter.third, hands.banker.third) if card]
        self._keep(
            Round(
                id=live.pk,
                code=uuid4().hex[:14],
                table_version=self.live_table.table.version,
                mode=self.live_table.mode,
                commitment="",
                shoe=self.shoe,
                first_card=0,
                player_value="",
                cards=" ".join(card.code for card in (*cards, *thirds)),
                outcome=settled.outcome,
                at=self.now,
            )
        )
        banker = self.seats[before.held_bank.seat]
        kept = self._keep(
            CheminCoup(
                round=live,
                tenure_id=there(self.tenure),
                banker=banker,
                banker_player_id=banker.player_id,
                bank=self.bank,
                call=coup.call or "",
                at_risk=coup.at_risk,
                punter=self.seats[there(coup.punter)],
                outcome=settled.outcome,
                punter_total=settled.punter_total,
                banker_total=settled.banker_total,
                punter_draws=self.declared.get(Side.PUNTER),
                banker_draws=self.declared.get(Side.BANKER),
                punter_departs=self._departs(Side.PUNTER, hands),
                banker_departs=self._departs(Side.BANKER, hands),
                tax=settled.tax,
                at=self.now,
            )
        )
        for stake in settled.stakes:
            seat = self.seats[stake.seat]
            self._keep(
                CheminStake(coup=kept, seat=seat, player_id=seat.player_id, stake=stake.stake, returned=stake.returned)
            )

    def _departs(self, side: Side, hands: Hands) -> bool:
        draws = self.declared.get(side)
        if draws is None:
            return False
        if side is Side.PUNTER:
            return not punter_rule(hands.punter.pair_total).allows(draws)
        third = hands.punter.third
        return not banker_rule(hands.banker.pair_total, None if third is None else third.points).allows(draws)

    def _shoe(self) -> Shoe:
        number = Shoe.objects.filter(live_table=self.live_table).count() + len(self.rows.get(Shoe, [])) + 1
        return Shoe(
            id=uuid4(),
            live_table=self.live_table,
            number=number,
            decks=DECKS,
            commitment=uuid4().hex,
            rules_digest=there(self.live_table.table.version).rules_digest,
            entropy="",
            root="",
            burn_card="",
            burn_salt=b"",
            burned=0,
            cut=298,
            gone=0,
            dealer_key="",
            signature=b"",
        )

    def _live_round(self) -> LiveRound:
        self.dealt += 1
        return LiveRound(
            id=there(self.round),
            live_table=self.live_table,
            version=self.live_table.table.version,
            shoe=self.shoe,
            number=self.dealt,
            is_last=False,
            code="",
            phase=LivePhase.SETTLED,
            deadline=self.now,
        )

    def _keep(self, row: Any) -> Any:
        self.rows.setdefault(type(row), []).append(row)
        return row
