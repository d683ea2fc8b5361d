"""Independent accounts of a table, kept from its events alone: money and shown cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from games.engine.cards import Card
from games.engine.chemin import Outcome, Side, State
from games.engine.chemin.events import (
    Announced,
    Announcement,
    BalanceSet,
    BankEnded,
    BankTaken,
    BidMade,
    BidReturned,
    CallMade,
    CardsDealt,
    CoupVoided,
    Declared,
    Event,
    ExcessTakenHome,
    HandShown,
    PlayerJoined,
    PlayerLeft,
    Settled,
    StakeLaid,
    StakeRelieved,
    ThirdCard,
)
from games.engine.chemin.state import Chips


@dataclass
class Books:
    """The accounts, in minor units. `brought` is the money brought in less the money taken out."""

    brought: int = 0
    balances: Counter[int] = field(default_factory=Counter)
    banker: int | None = None
    bank: int = 0
    bids: Counter[int] = field(default_factory=Counter)
    stakes: Counter[int] = field(default_factory=Counter)
    tax: int = 0
    coups: int = 0
    punter: int | None = None
    declared: dict[Side, bool] = field(default_factory=dict)
    shown: dict[Side, tuple[Card, ...]] = field(default_factory=dict)
    thirds: dict[Side, Card] = field(default_factory=dict)

    def enter(self, events: Iterable[Event]) -> None:
        """Record events and check that they are consistent."""
        for event in events:
            self._money(event)
            self._cards(event)

    def agree_with(self, state: State) -> None:
        """Check that the state matches the events and no money is lost."""
        assert {seat.number: seat.balance for seat in state.seats} == dict(self.balances)
        assert all(balance >= 0 for balance in self.balances.values())
        assert (state.bank.seat if state.bank else None) == self.banker
        assert (state.bank.amount if state.bank else 0) == self.bank
        running = state.coup is not None and state.coup.outcome is None
        assert placed(state.coup.stakes if state.coup and running else ()) == +self.stakes
        assert placed(state.sale.bids if state.sale else ()) == +self.bids
        on_the_table = self.bank + self.stakes.total() + self.bids.total()
        assert self.balances.total() + on_the_table + self.tax == self.brought

    def _money(self, event: Event) -> None:
        match event:
            case PlayerJoined(seat, balance):
                self.brought += balance
                self.balances[seat] = balance
            case BalanceSet(seat, balance):
                self.brought += balance - self.balances[seat]
                self.balances[seat] = balance
            case PlayerLeft(seat, balance):
                self.brought -= balance
                assert self.balances.pop(seat) == balance
            case BankTaken(seat, amount):
                self._move(seat, -amount)
                self.banker, self.bank = seat, amount
            case BankEnded(seat, amount):
                assert (self.banker, self.bank) == (seat, amount)
                self._move(seat, amount)
                self.banker, self.bank = None, 0
            case ExcessTakenHome(seat, amount):
                self._move(seat, amount)
                self.bank -= amount
            case BidMade(seat, amount):
                self._move(seat, -amount)
                self.bids[seat] += amount
            case BidReturned(seat, amount):
                self._move(seat, amount)
                self.bids[seat] -= amount
            case CallMade(seat, _, amount) | StakeLaid(seat, amount):
                self._move(seat, -amount)
                self.stakes[seat] += amount
            case StakeRelieved(seat, amount):
                self._move(seat, amount)
                self.stakes[seat] -= amount
            case Settled():
                self._settle(event)
            case CoupVoided(stakes):
                assert placed(stakes) == +self.stakes
                for stake in stakes:
                    self._move(stake.seat, stake.amount)
                self.stakes.clear()

    def _settle(self, settled: Settled) -> None:
        assert {stake.seat: stake.stake for stake in settled.stakes} == +self.stakes
        at_risk = self.stakes.total()
        assert 0 < at_risk <= self.bank
        banker_won = settled.outcome is Outcome.BANKER
        assert settled.tax == (at_risk * 5 // 100 if banker_won else 0)
        times = {Outcome.BANKER: 0, Outcome.DRAW: 1, Outcome.PUNTER: 2}[settled.outcome]
        for stake in settled.stakes:
            assert stake.returned == times * stake.stake
            self._move(stake.seat, stake.returned)
        self.bank += (1 - times) * at_risk - settled.tax
        assert self.bank == settled.bank
        self.tax += settled.tax
        self.stakes.clear()
        self.coups += 1

    def _cards(self, event: Event) -> None:
        match event:
            case CardsDealt():
                assert not self.stakes[event.seat]
                assert self.stakes[event.punter] == max(self.stakes.values())
                self.punter, self.declared, self.shown, self.thirds = event.punter, {}, {}, {}
            case Declared():
                self.declared[event.side] = event.draws
            case HandShown():
                assert event.side is Side.PUNTER or self.declared or Side.PUNTER in self.shown
                self.shown[event.side] = event.cards
            case ThirdCard():
                assert self.declared
                self.thirds[event.side] = event.card
            case Announced(Announcement.NO_STAKES_NO_COUP) | CoupVoided():
                self.punter, self.shown, self.thirds = None, {}, {}

    def _move(self, seat: int, amount: int) -> None:
        self.balances[seat] += amount


def placed(chips: Iterable[Chips]) -> Counter[int]:
    """Return the chips in play by seat."""
    return Counter({chip.seat: chip.amount for chip in chips})
