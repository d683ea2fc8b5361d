"""The rules of the demo game as pure functions on plain values.

The cards come from a random seed that is committed to and sealed before the bets, as in every game.
This module uses no database and no ledger: the chips are play chips.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from games.betting.controls import CONTROL_OF, Change, Deal, bets_stand, demand, demand_deal
from games.betting.limits import Limits
from games.betting.rules import Slip, changed, check_change, stakes_of
from games.engine.bets import Control, Variant
from games.engine.coup import deal
from games.engine.settle import Line, settle
from games.engine.shoe import shuffle
from games.errors import BalanceTooLow, PlayError, SlipChanged, StalePage, TableChanged, UnknownChip
from games.seeds import SealedSeed, new_sealed_seed, unseal

EXAMPLE_CHIP = 2  # index in the tray of the chip on the main bet of a demonstration; Tie gets the smallest


@dataclass(frozen=True)
class GuestTable:
    """The current state of a table for a visitor."""

    variant: Variant
    limits: Limits
    version: int
    refusal: PlayError | None = None
    """Why it takes no bets now."""


@dataclass(frozen=True)
class GuestRound:
    """A round that a visitor has played or watched. Amounts in minor units of play chips."""

    id: UUID
    currency: str
    commitment: str
    seed: str  # hex; public because the round is over
    player_value: str
    cards: str  # in dealing order: "9H 4D KS 2C"
    lines: tuple[Line, ...]
    balance_before: int

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
class GuestPlace:
    """A visitor's seat at a table. Amounts in minor units of play chips."""

    currency: str
    chips: int
    next: SealedSeed
    slip: Slip = field(default_factory=Slip)
    slip_version: int = 0
    last_stakes: Mapping[str, int] = field(default_factory=dict)
    last_chip: int | None = None
    player_value: str = ""
    last: GuestRound | None = None


@dataclass(frozen=True)
class Click:
    """Values sent by a page: the round, slip version and table version that it showed."""

    round_id: UUID
    slip_version: int
    table_version: int


def sit_down(currency: str, chips: int) -> GuestPlace:
    """Create a seat. It commits to the first round before anything can be staked."""
    return GuestPlace(currency, chips, new_sealed_seed())


def add_chip(place: GuestPlace, table: GuestTable, bet: str, chip: int) -> GuestPlace:
    """Put one chip on a bet. Raises UnknownChip and what `check_change` raises."""
    if chip not in table.limits.chips:
        raise UnknownChip
    return _keep(replace(place, last_chip=chip), table, place.slip.add(bet, chip))


def take_chip(place: GuestPlace, table: GuestTable, bet: str, chip: int) -> GuestPlace:
    """Take one chip off a bet, or the whole bet if it is smaller. Raises NotOffered, UnknownChip."""
    demand(table.variant, Control.TAKE_OFF)
    if chip not in table.limits.chips:
        raise UnknownChip
    return _keep(replace(place, last_chip=chip), table, place.slip.take(bet, chip))


def change_slip(place: GuestPlace, table: GuestTable, change: Change) -> GuestPlace:
    """Undo, clear, double, rebet or lower the slip.

    Raises NotOffered, NothingToRepeat and what `check_change` raises.
    """
    demand(table.variant, CONTROL_OF[change])
    slip = changed(place.slip, change, last_stakes=place.last_stakes, limits=table.limits, funds=lambda: place.chips)
    return _keep(place, table, slip)


def refill(place: GuestPlace, chips: int) -> GuestPlace:
    """Raise the play chips to *chips*; a higher amount stays."""
    return replace(place, chips=max(place.chips, chips))


def check_version(table: GuestTable, click: Click) -> None:
    """Check that the click was made under the current limits and rules. Raises TableChanged."""
    if click.table_version != table.version:
        raise TableChanged


def was_played(place: GuestPlace, click: Click) -> bool:
    """Return True if the click repeats the round just played.

    Raises StalePage for an unknown round.
    """
    if click.round_id == place.next.round_id:
        return False
    if place.last is None or click.round_id != place.last.id:
        raise StalePage
    return True


def play_round(place: GuestPlace, table: GuestTable, click: Click, how: Deal) -> GuestPlace:
    """Stake the slip, deal, settle and pay in chips. Repeating a round changes nothing.

    Raises StalePage, TableChanged, SlipChanged, NothingStaked, NothingToRepeat, LimitError,
    BalanceTooLow, SettlementError, and the table's refusal.
    """
    if was_played(place, click):
        return place
    if table.refusal:
        raise table.refusal
    check_version(table, click)
    if click.slip_version != place.slip_version:
        raise SlipChanged
    demand_deal(table.variant, how)
    return _dealt(place, table, how)


def demonstration(table: GuestTable) -> GuestRound:
    """Deal a round with example bets on Player and Tie, which every table allows together.

    Raises the table's refusal.
    """
    if table.refusal:
        raise table.refusal
    limits = table.limits
    wanted = {"player": limits.chips[min(EXAMPLE_CHIP, len(limits.chips) - 1)], "tie": limits.chips[0]}
    allowed = {bet: limits.bets[bet] for bet in wanted}
    stakes = {bet: min(max(chip, allowed[bet].minimum), allowed[bet].maximum) for bet, chip in wanted.items()}
    place = replace(sit_down(limits.currency, sum(stakes.values())), slip=Slip(stakes))
    shown = _dealt(place, table, Deal.AS_IT_LIES).last
    assert shown is not None  # noqa: S101  (it has just been dealt)
    return shown


def _dealt(place: GuestPlace, table: GuestTable, how: Deal) -> GuestPlace:
    variant = table.variant
    stakes = stakes_of(place.slip, how, last_stakes=place.last_stakes, variant=variant, limits=table.limits)
    if sum(stakes.values()) > place.chips:
        raise BalanceTooLow
    seed = unseal(place.next.round_id, place.next.sealed)
    coup = deal(shuffle(seed, variant.decks, place.player_value))
    played = GuestRound(
        id=place.next.round_id,
        currency=place.currency,
        commitment=place.next.commitment,
        seed=seed.hex(),
        player_value=place.player_value,
        cards=" ".join(card.code for card in coup.cards),
        lines=settle(variant, coup, stakes).lines,
        balance_before=place.chips,
    )
    return replace(
        place,
        chips=played.balance_after,
        next=new_sealed_seed(),
        slip=Slip(stakes if bets_stand(variant) else {}),
        slip_version=0,
        last_stakes=stakes,
        last=played,
    )


def _keep(place: GuestPlace, table: GuestTable, slip: Slip) -> GuestPlace:
    if table.refusal and slip.total > place.slip.total:
        raise table.refusal
    check_change(place.slip, slip, variant=table.variant, limits=table.limits, funds=lambda: place.chips)
    return replace(place, slip=slip, slip_version=place.slip_version + 1)
