"""What a game's controls decide: which buttons its table has and which of the player's accounts it plays on."""

from collections.abc import Mapping
from enum import StrEnum

from games.engine.bets import Control, Variant
from games.errors import NotOffered
from wallet.models import AccountKind


class Deal(StrEnum):
    """How the slip is dealt: unchanged, doubled first, or replaced by last round's bets first."""

    AS_PLACED = "deal"
    DOUBLED = "double_deal"
    REPEATED = "rebet_deal"


class Change(StrEnum):
    """A change of the whole slip."""

    UNDO = "undo"
    CLEAR = "clear"
    DOUBLE = "double"
    REPEAT = "rebet"
    LOWER = "lower"  # to the most that the game's balance covers


CONTROL_OF: Mapping[Deal | Change, Control] = {
    Deal.AS_PLACED: Control.DEAL,
    Deal.DOUBLED: Control.DOUBLE_AND_DEAL,
    Deal.REPEATED: Control.REBET_AND_DEAL,
    Change.UNDO: Control.UNDO,
    Change.CLEAR: Control.CLEAR,
    Change.DOUBLE: Control.DOUBLE,
    Change.REPEAT: Control.REBET,
    Change.LOWER: Control.REBUY,
}


def demand(variant: Variant, control: Control) -> None:
    """Refuse a control that the game does not offer. Raises NotOffered."""
    if control not in variant.controls:
        raise NotOffered


def demand_deal(variant: Variant, how: Deal) -> None:
    """Refuse a way to deal that the game does not offer. Raises NotOffered.

    Dealing the bets unchanged depends on the table, not on the game: every table for one player
    offers it.
    """
    if how is not Deal.AS_PLACED:
        demand(variant, CONTROL_OF[how])


def plays_on(variant: Variant) -> AccountKind:
    """Return the account that the game plays on: its own purse if the game has Re-buy."""
    return AccountKind.PURSE if Control.REBUY in variant.controls else AccountKind.CASH


def bets_stand(variant: Variant) -> bool:
    """Return whether bets stay on the table for the next round: they do if the game has no Rebet."""
    return Control.REBET not in variant.controls
