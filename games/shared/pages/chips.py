"""The chips in a player's tray at a shared table.

A table has more chips than a tray shows. The player's choice is stored by value, so it applies at
every table that has those chips. A table that has none of them shows its default tray.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from games.betting.limits import Limits
from games.errors import NoChipChosen, TooManyChips, UnknownChip
from games.models import ChipSet
from games.tables.board import chip_view
from games.tables.presentation import ChipView
from players.models import Player, User

MOST = 8  # in a tray


@dataclass(frozen=True)
class ChipChoice:
    """The chips of a table for the player to choose from."""

    chips: tuple[ChipView, ...]  # `chosen` marks those in the tray
    currency: str
    is_own: bool  # the player has picked them


def tray(limits: Limits, wanted: Iterable[int]) -> tuple[int, ...]:
    """Return the tray for a player who wants these chips."""
    chosen = set(wanted)
    return tuple(chip for chip in limits.chips if chip in chosen) or limits.tray


def in_hand(limits: Limits, shown: tuple[int, ...], last: int | None) -> int:
    """Return the selected chip: the one used last, or the smallest that is a valid stake on Player and Banker."""
    if last in shown:
        return last
    return min((chip for chip in shown if chip >= limits.main.minimum), default=max(shown))


def choice(player: Player, limits: Limits) -> ChipChoice:
    """Return the chips of a table, with those the player has chosen."""
    wanted = _wanted(player)
    shown = tray(limits, wanted)
    chips = tuple(chip_view(chip, limits.chips, chosen=chip in shown) for chip in limits.chips)
    return ChipChoice(chips, limits.currency, is_own=any(chip in limits.chips for chip in wanted))


@transaction.atomic
def choose_chips(*, player: Player, limits: Limits, chips: Iterable[int]) -> None:
    """Set the player's tray to these chips of a table.

    Chips chosen at other tables are kept if this table does not have them. Raises NoChipChosen,
    TooManyChips, UnknownChip.
    """
    chosen = set(chips)
    if not chosen:
        raise NoChipChosen
    if chosen - set(limits.chips):
        raise UnknownChip
    if len(chosen) > MOST:
        raise TooManyChips
    _keep(player, limits, chosen)


@transaction.atomic
def reset(*, player: Player, limits: Limits) -> None:
    """Reset the tray to the table's default."""
    _keep(player, limits, set())


def _keep(player: Player, limits: Limits, chosen: set[int]) -> None:
    # another tab may choose chips at another table
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)
    amounts = chosen | (set(_wanted(player)) - set(limits.chips))
    if amounts:
        ChipSet.objects.update_or_create(player=player, defaults={"chips": sorted(amounts)})
    else:
        ChipSet.objects.filter(player=player).delete()


def _wanted(player: Player) -> list[int]:
    found = ChipSet.objects.filter(player=player).first()
    return found.chips if found else []
