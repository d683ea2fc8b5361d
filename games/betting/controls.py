"""What follows from the controls a game offers: what its table does, and which of the player's accounts it plays on."""

from collections.abc import Mapping
from enum import StrEnum

from games.engine.bets import Control, Variant
from games.errors import NotOffered
from wallet.models import AccountKind


class Deal(StrEnum):
    """How the slip is dealt: as it lies, doubled first, or replaced by last round's bets first."""

    AS_IT_LIES = "deal"
    DOUBLED = "double_deal"
    REPEATED = "rebet_deal"


class Change(StrEnum):
    """A change of the whole slip."""

    UNDO = "undo"
    CLEAR = "clear"
    DOUBLE = "double"
    REPEAT = "rebet"
    LOWER = "lower"  # to the most that the balance of the game still covers


CONTROL_OF: Mapping[Deal | Change, Control] = {
    Deal.AS_IT_LIES: Control.DEAL,
    Deal.DOUBLED: Control.DOUBLE_AND_DEAL,
    Deal.REPEATED: Control.REBET_AND_DEAL,
    Change.UNDO: Control.UNDO,
    Change.CLEAR: Control.CLEAR,
    Change.DOUBLE: Control.DOUBLE,
    Change.REPEAT: Control.REBET,
    Change.LOWER: Control.REBUY,
}


def demand(variant: Variant, control: Control) -> None:
    """Refuse what the game's table does not offer. Raises NotOffered."""
    if control not in variant.controls:
        raise NotOffered


def demand_deal(variant: Variant, how: Deal) -> None:
    """Refuse a way to deal that the game does not offer. To deal the bets as they lie is for the table to offer, which
    does so where it has one player, whatever the game. Raises NotOffered.
    """
    if how is not Deal.AS_IT_LIES:
        demand(variant, CONTROL_OF[how])


def plays_on(variant: Variant) -> AccountKind:
    """Return which of the player's accounts the game plays on: where there is Re-buy, a purse of its own."""
    return AccountKind.PURSE if Control.REBUY in variant.controls else AccountKind.CASH


def bets_stand(variant: Variant) -> bool:
    """Say whether the bets of a round stay on the table for the next: they do where there is no Rebet."""
    return Control.REBET not in variant.controls
