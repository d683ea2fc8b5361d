"""How deals stay fair: explained to anyone, and checked by the reader's own browser."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from games.engine.cards import FULL_DECK
from games.engine.dealing import CUT_CARD
from games.history.shoe_page import shoe_view
from games.tables.board import card_view

COMMAND = "python3 verify_round.py SEED SEAL --player-value TEXT --decks 1 --first-card 1"
SHOE_COMMAND = "python3 verify_round.py {seed} {seal} --decks {decks} {option}"
LONGEST = 64  # characters: of a seal, a seed and a player's own value alike


@require_safe
def fair(request: HttpRequest) -> HttpResponse:
    """Explain the shuffle, with a form that a link may fill in: `?commitment=…&seed=…&value=…&decks=…&first=…`.

    Nothing is checked here: that is for a script in the browser, since the house's word is what is in question.
    """
    asked = {name: request.GET.get(name, "")[:LONGEST] for name in ("commitment", "seed", "value")}
    asked["decks"] = request.GET.get("decks", "1")[:2]
    asked["first"] = request.GET.get("first", "1")[:3]
    # The script fills in %(high)d and %(low)d, or %(total)d.
    sentences = {
        "player": _("Player wins with %(high)d over %(low)d."),
        "banker": _("Banker wins with %(high)d over %(low)d."),
        "tie": _("Tie, %(total)d all."),
    }
    cards = [card_view(card, order=place, third=False) for place, card in enumerate(FULL_DECK)]
    return render(
        request,
        "games/fair.html",
        asked | {"cards": cards, "sentences": sentences, "command": COMMAND, "cut": CUT_CARD},
    )


@require_safe
def shoe(request: HttpRequest, shoe_id: UUID) -> HttpResponse:
    """A shoe with its rounds; anyone may look. One that has ended is dealt again by a script in the browser."""
    found = shoe_view(shoe_id, get_language() or "en")
    if found is None:
        raise Http404
    option = "--cards" if found.is_between_guests else "--shoe"
    command = SHOE_COMMAND.format(seed=found.seed, seal=found.commitment, decks=found.decks, option=option)
    return render(request, "games/shoe.html", {"shoe": found, "command": command})
