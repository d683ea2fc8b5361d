"""Favourite bets: layouts of bets that a player names and stores for each game, and places as a whole.

Saving and naming move no money and are not part of play, so they are not in the audit log. Placing
a favourite goes through `games.shared.bets`, as any chip does, and is logged there. The panel shows
each with its bets, and why the table would refuse them.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from games import errors
from games.betting.error_messages import refusal
from games.betting.limits import Limits
from games.engine.bets import Control, Variant
from games.engine.settle import SettlementError
from games.errors import (
    NameMissing,
    NameTaken,
    NameTooLong,
    NameUnreadable,
    NothingToSave,
    StalePage,
    TooManyFavourites,
)
from games.labels import bet_name
from games.models import FavouriteBet, LiveSeat, LiveTable
from games.shared import seats
from games.shared.state import State
from games.tables.presentation import Notice
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


REMOVED = "favourite_removed"  # session key: the favourite removed last, while it can be restored
SAID = "favourite_said"  # session key: a message for the page after a redirect


@dataclass(frozen=True)
class LaidBet:
    """One bet of a favourite. Minor units."""

    name: str
    stake: int
    tone: str  # games.engine.felt.Tone


@dataclass(frozen=True)
class FavouriteView:
    """A favourite as the panel shows it. Minor units."""

    id: int
    name: str
    bets: tuple[LaidBet, ...]
    total: int
    trouble: str  # why the table's present limits refuse it


@dataclass(frozen=True)
class Panel:
    """The whole panel."""

    items: tuple[FavouriteView, ...]
    currency: str
    takes_bets: bool
    name: str  # suggested name for the next favourite, or the refused name as typed
    longest: int
    is_full: bool
    said: Notice | None
    removed: str  # name of the favourite that can be restored


def panel(
    session: SessionBase, player: Player, live: LiveTable, state: State, language: str, *, typed: str = ""
) -> Panel | None:
    """Return the panel; None where the game has no favourites. *typed* is a refused name."""
    if Control.FAVOURITES not in state.variant.controls:
        return None
    saved, limits = of(player, state.variant), state.limits(player.currency)
    said, removed = session.pop(SAID, None), removed_of(session, live)
    return Panel(
        items=tuple(_shown(each, state, limits, language) for each in saved),
        currency=limits.currency,
        takes_bets=state.takes_bets,
        name=typed[:LONGEST] or free_name(pgettext("a favourite bet without a name", "Favourite"), saved),
        longest=LONGEST,
        is_full=len(saved) >= MOST,
        said=Notice(**said) if said else None,
        removed=removed.name if removed else "",
    )


def removed_of(session: SessionBase, live: LiveTable) -> Removed | None:
    """Return the favourite removed last, if it belongs to this game."""
    saved: Mapping[str, Any] | None = session.get(REMOVED)
    return Removed(**saved) if saved and saved["variant"] == live.table.variant else None


def message(error: errors.PlayError | SettlementError, state: State, language: str) -> str:
    """Return the error message of a failed save or rename."""
    match error:
        case errors.NameMissing():
            return _("Enter a name for this favourite.")
        case errors.NameTooLong():
            return ngettext(
                "A name can have at most %(number)d character.",
                "A name can have at most %(number)d characters.",
                LONGEST,
            ) % {"number": LONGEST}
        case errors.NameUnreadable():
            return _("This name contains invisible characters. Enter it again.")
        case errors.NameTaken():
            return _("You already have a favourite with this name.")
        case errors.NothingToSave():
            return _("There are no bets to save yet. Place some first.")
        case errors.TooManyFavourites():
            return _("You cannot save more favourites. Remove one first.")
        case errors.StalePage():
            return _("This favourite no longer exists. It was removed in another window.")
    return refusal(error, variant=state.variant, mode=state.mode, language=language).text


def _shown(favourite: FavouriteBet, state: State, limits: Limits, language: str) -> FavouriteView:
    stakes, variant = favourite.stakes, state.variant
    known = [bet.code for bet in variant.bets if bet.code in stakes]
    return FavouriteView(
        id=favourite.pk,
        name=favourite.name,
        bets=tuple(
            LaidBet(bet_name(variant, code, language), stakes[code], variant.felt.tone(code).value) for code in known
        ),
        total=sum(stakes.values()),
        trouble=_trouble(stakes, state, limits, language),
    )


def _trouble(stakes: Mapping[str, int], state: State, limits: Limits, language: str) -> str:
    try:
        state.variant.check(stakes)
        limits.check(stakes)
    except (errors.LimitError, SettlementError) as error:
        return message(error, state, language)
    return ""
