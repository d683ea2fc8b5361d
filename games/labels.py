"""Names of games, bets and cards in the reader's language."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from audit.staff_text import Stored
from games.engine.bets import Variant
from games.engine.cards import FULL_DECK, Card, Rank, Suit
from games.engine.coup import NATURALS, Coup, Outcome, total
from games.variants import GAMES
from games.variants.common import Game

FALLBACK = "en"
TWO: Final = 2
FOUR: Final = 4


def variant_label(variant: Game, key: str, language: str) -> str:
    """Return one of the game's own labels, such as ``name`` or ``bet.tie``."""
    return variant.label(language if language in variant.labels else FALLBACK, key)


def game_cell(slug: str) -> Stored | str:
    """Return a game as the cell of a report, in the reader's language; *slug* if it has no rules here."""
    return ["%(game)s", {"game": {"game": [slug]}}] if slug in GAMES else slug


def write_game(slug: str) -> str:
    """Return the name of a game in the active language."""
    return variant_label(GAMES[slug], "name", get_language() or FALLBACK) if slug in GAMES else slug


def names_of_games(*, without: str) -> set[str]:
    """Return the names of all games but one in every language, in lower case; *without* is a slug."""
    others = [game for slug, game in GAMES.items() if slug != without]
    return {variant_label(game, "name", language).lower() for game in others for language in game.labels}


def bet_name(variant: Variant, bet: str, language: str) -> str:
    """Return the name of a bet."""
    return variant_label(variant, f"bet.{bet}", language)


def card_name(card: Card) -> str:
    """Return the spoken name of a card: "nine of hearts"."""
    return _card_names(get_language() or FALLBACK)[card]


def announcement(coup: Coup) -> str:
    """Return the croupier's announcement of a finished coup."""
    if coup.outcome is Outcome.TIE:
        return _("Tie, %(total)d all.") % {"total": coup.player_total}
    totals = {"high": max(coup.player_total, coup.banker_total), "low": min(coup.player_total, coup.banker_total)}
    if coup.outcome is Outcome.PLAYER:
        return _("Player wins with %(high)d over %(low)d.") % totals
    return _("Banker wins with %(high)d over %(low)d.") % totals


def calls(coup: Coup) -> Mapping[int, str]:
    """Return what the croupier says once so many cards are open: four, and five if six come.

    It follows from those cards alone.
    """
    first = {"player": total(coup.player[:2]), "banker": total(coup.banker[:2])}
    natural = max(first.values()) in NATURALS
    if natural and first["player"] == first["banker"]:
        said = {FOUR: _("Both hands have a natural %(total)d.") % {"total": first["player"]}}
    elif natural and first["player"] > first["banker"]:
        said = {FOUR: _("Player has a natural %(total)d.") % {"total": first["player"]}}
    elif natural:
        said = {FOUR: _("Banker has a natural %(total)d.") % {"total": first["banker"]}}
    elif len(coup.player) > TWO:
        said = {FOUR: _("%(player)d against %(banker)d. A card for Player.") % first}
    elif len(coup.banker) > TWO:
        said = {FOUR: _("%(player)d against %(banker)d. A card for Banker.") % first}
    else:
        said = {FOUR: _("%(player)d against %(banker)d. Both stand.") % first}
    if len(coup.player) > TWO and len(coup.banker) > TWO:
        said[FOUR + 1] = _("Player has %(total)d. A card for Banker.") % {"total": coup.player_total}
    elif len(coup.player) > TWO:
        said[FOUR + 1] = _("Player has %(total)d. Banker stands.") % {"total": coup.player_total}
    return said


@cache
def _card_names(language: str) -> dict[Card, str]:
    """Return the names of the 52 cards in the active *language*."""
    ranks, suits = _rank_names(), _suit_names()
    return {
        card: _("%(rank)s of %(suit)s") % {"rank": ranks[card.rank], "suit": suits[card.suit]} for card in FULL_DECK
    }


def _rank_names() -> dict[Rank, str]:
    return {
        Rank.ACE: pgettext("card", "ace"),
        Rank.TWO: pgettext("card", "two"),
        Rank.THREE: pgettext("card", "three"),
        Rank.FOUR: pgettext("card", "four"),
        Rank.FIVE: pgettext("card", "five"),
        Rank.SIX: pgettext("card", "six"),
        Rank.SEVEN: pgettext("card", "seven"),
        Rank.EIGHT: pgettext("card", "eight"),
        Rank.NINE: pgettext("card", "nine"),
        Rank.TEN: pgettext("card", "ten"),
        Rank.JACK: pgettext("card", "jack"),
        Rank.QUEEN: pgettext("card", "queen"),
        Rank.KING: pgettext("card", "king"),
    }


def _suit_names() -> dict[Suit, str]:
    return {
        Suit.CLUBS: pgettext("card", "clubs"),
        Suit.DIAMONDS: pgettext("card", "diamonds"),
        Suit.HEARTS: pgettext("card", "hearts"),
        Suit.SPADES: pgettext("card", "spades"),
    }
