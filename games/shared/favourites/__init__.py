"""Favourite bets: layouts of bets that a player names and stores for each game, and places as a whole.

Saving and naming move no money and are not part of play, so they are not in the audit log. Placing
a favourite goes through `games.shared.bets`, as any chip does, and is logged there.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from games.engine.bets import Variant
from games.errors import (
    NameMissing,
    NameTaken,
    NameTooLong,
    NameUnreadable,
    NothingToSave,
    StalePage,
    TooManyFavourites,
)
from games.models import FavouriteBet, LiveSeat, LiveTable
from games.shared import seats
from games.variants import VARIANTS
from players.models import Player, User

MOST = 12  # per game
LONGEST = 40  # characters of a name
# Names may not contain invisible characters. `UNSEEN` lists Unicode categories: control, format,
# surrogate, private use and unassigned characters, and line and paragraph separators. `BLANK` lists
# characters of other categories that are displayed as blank.
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


@dataclass(frozen=True)
class Removed:
    """A favourite that was just removed and can be restored. Minor units."""

    variant: str
    name: str
    stakes: Mapping[str, int]


def of(player: Player, variant: Variant) -> list[FavouriteBet]:
    """Return the player's favourites for a game, oldest first."""
    return list(FavouriteBet.objects.filter(player=player, variant=variant.slug).order_by("pk"))


def stakes_of(player: Player, variant: Variant, favourite_id: int) -> Mapping[str, int]:
    """Return the bets of a favourite. Raises StalePage where the player has no such favourite for this game."""
    return _own(player, variant, favourite_id).stakes


def to_save(player: Player, live_table: LiveTable) -> Mapping[str, int]:
    """Return the bets that Save stores: those on the table, or those that Rebet would place."""
    seat = LiveSeat.objects.filter(player=player, live_table=live_table).first()
    round_id = live_table.round_id
    if seat is None or round_id is None:
        return seat.stakes or seat.last_stakes if seat else {}
    return seats.slip_for(seat, round_id).stakes or seats.last_stakes(seat, round_id)


@transaction.atomic
def save(*, player: Player, live_table: LiveTable, name: str) -> FavouriteBet:
    """Save the bets on the table under a name.

    Raises NameMissing, NameTooLong, NameUnreadable, NameTaken, NothingToSave, TooManyFavourites, or
    an engine's SettlementError where the rules no longer allow the bets together.
    """
    variant, normalised, stakes = VARIANTS[live_table.table.variant], readable(name), to_save(player, live_table)
    if not stakes:
        raise NothingToSave
    variant.check(stakes)
    return _keep(player, variant, normalised, stakes)


@transaction.atomic
def bring_back(*, player: Player, removed: Removed) -> FavouriteBet:
    """Restore a removed favourite, even if the rules have changed. Raises NameTaken, TooManyFavourites."""
    return _keep(player, VARIANTS[removed.variant], removed.name, removed.stakes)


@transaction.atomic
def rename(*, player: Player, variant: Variant, favourite_id: int, name: str) -> FavouriteBet:
    """Rename a favourite. Raises StalePage, NameMissing, NameTooLong, NameUnreadable, NameTaken."""
    wanted = readable(name)
    others = _locked(player, variant)
    favourite = _own(player, variant, favourite_id)
    _demand_free(wanted, [each for each in others if each.pk != favourite.pk])
    favourite.name = wanted
    with _named_by_the_database():
        favourite.save(update_fields=["name"])
    return favourite


@transaction.atomic
def remove(*, player: Player, variant: Variant, favourite_id: int) -> Removed:
    """Remove a favourite, and return the data to restore it. Raises StalePage."""
    _locked(player, variant)
    favourite = _own(player, variant, favourite_id)
    favourite.delete()
    return Removed(variant.slug, favourite.name, favourite.stakes)


def readable(name: str) -> str:
    """Return a name as stored, with single spaces. Raises NameMissing, NameTooLong, NameUnreadable."""
    if any(unicodedata.category(each) in UNSEEN or each in BLANK for each in name.strip()):
        raise NameUnreadable
    normalised = " ".join(unicodedata.normalize("NFC", name).split())
    if not normalised:
        raise NameMissing
    if len(normalised) > LONGEST:
        raise NameTooLong
    return normalised


def free_name(word: str, taken: list[FavouriteBet]) -> str:
    """Return an unused name: the word with the first free number."""
    names = {each.name.casefold() for each in taken}
    return next(name for number in range(1, len(names) + 2) if (name := f"{word} {number}").casefold() not in names)


def _keep(player: Player, variant: Variant, name: str, stakes: Mapping[str, int]) -> FavouriteBet:
    others = _locked(player, variant)
    _demand_free(name, others)
    if len(others) >= MOST:
        raise TooManyFavourites
    with _named_by_the_database():
        return FavouriteBet.objects.create(player=player, variant=variant.slug, name=name, stakes=dict(stakes))


def _locked(player: Player, variant: Variant) -> list[FavouriteBet]:
    """Return the player's favourites for a game, locked until the transaction ends.

    Without the lock, counting and comparing would miss a favourite that another tab is saving.
    """
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)
    return of(player, variant)


def _own(player: Player, variant: Variant, favourite_id: int) -> FavouriteBet:
    found = FavouriteBet.objects.filter(player=player, variant=variant.slug, pk=favourite_id).first()
    if found is None:
        raise StalePage
    return found


def _demand_free(name: str, others: list[FavouriteBet]) -> None:
    if any(each.name.casefold() == name.casefold() for each in others):
        raise NameTaken


@contextmanager
def _named_by_the_database() -> Iterator[None]:
    """Raise NameTaken where the database finds the name equal to another one.

    PostgreSQL's case folding differs from Python's.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise NameTaken from error
