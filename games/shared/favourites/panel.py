"""The panel of favourite bets: each with its bets, and why the table would refuse them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from games import errors
from games.betting.error_messages import refusal
from games.betting.limits import Limits
from games.engine.bets import Control
from games.engine.settle import SettlementError
from games.labels import bet_name
from games.models import FavouriteBet, LiveTable
from games.shared import favourites
from games.shared.favourites import LONGEST, MOST, Removed
from games.shared.state import State
from games.tables.presentation import Notice
from players.models import Player

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
    saved, limits = favourites.of(player, state.variant), state.limits(player.currency)
    said, removed = session.pop(SAID, None), removed_of(session, live)
    return Panel(
        items=tuple(_shown(each, state, limits, language) for each in saved),
        currency=limits.currency,
        takes_bets=state.takes_bets,
        name=typed[:LONGEST] or favourites.free_name(pgettext("a favourite bet without a name", "Favourite"), saved),
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
