"""Which of a table's chips lie in a player's tray. The table has more than a tray shows at once; what a player picks is
kept by value, so that it holds at every table that has those chips. A table that has none of them shows its own tray.
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
    """A table's chips as one can pick them."""

    chips: tuple[ChipView, ...]  # `chosen` are those in the tray
    currency: str
    is_own: bool  # the player has picked them


def tray(limits: Limits, wanted: Iterable[int]) -> tuple[int, ...]:
    """Return the chips in the tray of whoever wants these."""
    chosen = set(wanted)
    return tuple(chip for chip in limits.chips if chip in chosen) or limits.tray


def in_hand(limits: Limits, shown: tuple[int, ...], last: int | None) -> int:
    """Return the chip in the player's hand: the one used last, or the smallest that is a stake on Player and Banker."""
    if last in shown:
        return last
    return min((chip for chip in shown if chip >= limits.main.minimum), default=max(shown))


def choice(player: Player, limits: Limits) -> ChipChoice:
    """Return what the player may choose from at a table, and has chosen."""
    wanted = _wanted(player)
    shown = tray(limits, wanted)
    chips = tuple(chip_view(chip, limits.chips, chosen=chip in shown) for chip in limits.chips)
    return ChipChoice(chips, limits.currency, is_own=any(chip in limits.chips for chip in wanted))


@transaction.atomic
def choose_chips(*, player: Player, limits: Limits, chips: Iterable[int]) -> None:
    """Have these of a table's chips lie in the player's tray. What was picked at other tables stays, as far as this
    one has no such chips. Raises NoChipChosen, TooManyChips, UnknownChip.
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
    """Have the table's own tray lie there again."""
    _keep(player, limits, set())


def _keep(player: Player, limits: Limits, chosen: set[int]) -> None:
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # another tab may choose at another table
    kept = chosen | (set(_wanted(player)) - set(limits.chips))
    if kept:
        ChipSet.objects.update_or_create(player=player, defaults={"chips": sorted(kept)})
    else:
        ChipSet.objects.filter(player=player).delete()


def _wanted(player: Player) -> list[int]:
    found = ChipSet.objects.filter(player=player).first()
    return found.chips if found else []
