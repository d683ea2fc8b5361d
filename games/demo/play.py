"""The rules of the demo game as pure functions on plain values.

The dealer commits to a round before the bets and deals it, as in every game. This module uses no
database and no ledger: the chips are play chips.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from games.betting.limits import Limits
from games.betting.rules import (
    CONTROL_OF,
    Change,
    Deal,
    Slip,
    bets_stand,
    changed,
    check_change,
    demand,
    demand_deal,
    stakes_of,
)
from games.deals import Commitment, commit, deal
from games.engine.bets import Variant
from games.engine.commitments import Purpose
from games.engine.settle import Line, settle
from games.errors import BalanceTooLow, PlayError, SlipChanged, StalePage, TableChanged, UnknownChip

EXAMPLE_CHIP = 2  # index in the tray of the chip on the main bet of a demonstration; Tie gets the smallest


@dataclass(frozen=True)
class DemoTable:
    """The current state of a table for a visitor."""

    id: int
    variant: Variant
    limits: Limits
    version: int
    refusal: PlayError | None = None
    """The reason why it takes no bets now."""


@dataclass(frozen=True)
class DemoRound:
    """A round that a visitor has played or watched. Amounts in minor units of play chips."""

    id: UUID
    currency: str
    commitment: str
    rules: str  # digest of the rules that the commitment names
    seed: str  # hex; public because the round is over
    player_value: str
    cards: str  # in dealing order: "9H 4D KS 2C"
    lines: tuple[Line, ...]
    balance_before: int
    epoch: str  # of the dealer
    deal: int  # its number in the epoch
    signature: str  # of the dealer, in hex

    @property
    def staked(self) -> int:
        """The sum of all stakes."""
        return sum(line.stake for line in self.lines)

    @property
    def paid(self) -> int:
        """The sum of all payouts, stakes included."""
        return sum(line.payout for line in self.lines)

    @property
    def balance_after(self) -> int:
        """The chips after the round."""
        return self.balance_before - self.staked + self.paid


@dataclass(frozen=True)
class DemoSeat:
    """A visitor's seat at a table. Amounts in minor units of play chips."""

    currency: str
    chips: int
    next: Commitment
    slip: Slip = field(default_factory=Slip)
    slip_version: int = 0
    last_stakes: Mapping[str, int] = field(default_factory=dict)
    last_chip: int | None = None
    last: DemoRound | None = None


@dataclass(frozen=True)
class Click:
    """Values sent by a page: the round, slip version and table version that it showed."""

    round_id: UUID
    slip_version: int
    table_version: int
    player_value: str = ""


def sit_down(table: DemoTable, chips: int) -> DemoSeat:
    """Create a seat. It commits to the first round before anything can be staked. Raises DealerAway."""
    return DemoSeat(table.limits.currency, chips, commit(Purpose.DEMO, table.id, table.variant))


def renew(demo_seat: DemoSeat, table: DemoTable) -> DemoSeat:
    """Commit the seat to another round, because the dealer does not deal the one it is committed to.

    Raises DealerAway.
    """
    return replace(demo_seat, next=commit(Purpose.DEMO, table.id, table.variant))


def add_chip(demo_seat: DemoSeat, table: DemoTable, bet: str, chip: int) -> DemoSeat:
    """Put one chip on a bet. Raises UnknownChip and what `check_change` raises."""
    if chip not in table.limits.chips:
        raise UnknownChip
    return _keep(replace(demo_seat, last_chip=chip), table, demo_seat.slip.add(bet, chip))


def take_chip(demo_seat: DemoSeat, table: DemoTable, bet: str, chip: int) -> DemoSeat:
    """Take one chip off a bet, or the whole bet if it is smaller. Raises UnknownChip."""
    if chip not in table.limits.chips:
        raise UnknownChip
    return _keep(replace(demo_seat, last_chip=chip), table, demo_seat.slip.take(bet, chip))


def change_slip(demo_seat: DemoSeat, table: DemoTable, change: Change) -> DemoSeat:
    """Undo, clear, double, rebet or lower the slip.

    Raises NotOffered, NothingToRepeat and what `check_change` raises.
    """
    demand(table.variant, CONTROL_OF[change])
    slip = changed(
        demo_seat.slip, change, last_stakes=demo_seat.last_stakes, limits=table.limits, funds=lambda: demo_seat.chips
    )
    return _keep(demo_seat, table, slip)


def refill(demo_seat: DemoSeat, chips: int) -> DemoSeat:
    """Raise the play chips to *chips*; a higher amount stays."""
    return replace(demo_seat, chips=max(demo_seat.chips, chips))


def check_version(table: DemoTable, click: Click) -> None:
    """Check that the click was made under the current limits and rules. Raises TableChanged."""
    if click.table_version != table.version:
        raise TableChanged


def was_played(demo_seat: DemoSeat, click: Click) -> bool:
    """Return True if the click repeats the round just played.

    Raises StalePage for an unknown round.
    """
    if click.round_id == demo_seat.next.round_id:
        return False
    if demo_seat.last is None or click.round_id != demo_seat.last.id:
        raise StalePage
    return True


def play_round(demo_seat: DemoSeat, table: DemoTable, click: Click, how: Deal) -> DemoSeat:
    """Stake the slip, deal, settle and pay in chips. Repeating a round changes nothing.

    Raises StalePage, TableChanged, SlipChanged, NothingStaked, NothingToRepeat, LimitError,
    BalanceTooLow, SettlementError, DealerAway, CommitmentSpent, and the table's refusal.
    """
    if was_played(demo_seat, click):
        return demo_seat
    if table.refusal:
        raise table.refusal
    check_version(table, click)
    if click.slip_version != demo_seat.slip_version:
        raise SlipChanged
    demand_deal(table.variant, how)
    return _dealt(demo_seat, table, how, click.player_value)


def demonstration(table: DemoTable) -> DemoRound:
    """Deal a round with example bets on Player and Tie, which every table allows together.

    Raises DealerAway and the table's refusal.
    """
    if table.refusal:
        raise table.refusal
    limits = table.limits
    wanted = {"player": limits.chips[min(EXAMPLE_CHIP, len(limits.chips) - 1)], "tie": limits.chips[0]}
    allowed = {bet: limits.bets[bet] for bet in wanted}
    stakes = {bet: min(max(chip, allowed[bet].minimum), allowed[bet].maximum) for bet, chip in wanted.items()}
    demo_seat = replace(sit_down(table, sum(stakes.values())), slip=Slip(stakes))
    shown = _dealt(demo_seat, table, Deal.AS_PLACED).last
    assert shown is not None  # noqa: S101  (it has just been dealt)
    return shown


def _dealt(demo_seat: DemoSeat, table: DemoTable, how: Deal, player_value: str = "") -> DemoSeat:
    variant = table.variant
    stakes = stakes_of(demo_seat.slip, how, last_stakes=demo_seat.last_stakes, variant=variant, limits=table.limits)
    if sum(stakes.values()) > demo_seat.chips:
        raise BalanceTooLow
    dealt = deal(
        Purpose.DEMO,
        demo_seat.next,
        table_id=table.id,
        variant=variant,
        player_value=player_value,
        stakes=stakes,
    )
    played = DemoRound(
        id=demo_seat.next.round_id,
        currency=demo_seat.currency,
        commitment=demo_seat.next.commitment,
        rules=demo_seat.next.rules,
        seed=dealt.answer.seed.hex(),
        player_value=player_value,
        cards=dealt.answer.cards,
        lines=settle(variant, dealt.coup, stakes).lines,
        balance_before=demo_seat.chips,
        epoch=dealt.answer.epoch,
        deal=dealt.answer.deal,
        signature=dealt.answer.signature.hex(),
    )
    return replace(
        demo_seat,
        chips=played.balance_after,
        next=dealt.following,
        slip=Slip(stakes if bets_stand(variant) else {}),
        slip_version=0,
        last_stakes=stakes,
        last=played,
    )


def _keep(demo_seat: DemoSeat, table: DemoTable, slip: Slip) -> DemoSeat:
    if table.refusal and slip.total > demo_seat.slip.total:
        raise table.refusal
    check_change(demo_seat.slip, slip, variant=table.variant, limits=table.limits, funds=lambda: demo_seat.chips)
    return replace(demo_seat, slip=slip, slip_version=demo_seat.slip_version + 1)
