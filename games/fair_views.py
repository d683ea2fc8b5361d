"""How deals stay fair: explained to anyone, and checked by the reader's own browser."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from games.board import card_view
from games.engine.cards import FULL_DECK

COMMAND = "python3 verify_round.py SEED SEAL --player-value TEXT --decks 1"
LONGEST = 64  # characters: of a seal, a seed and a player's own value alike


@require_safe
def fair(request: HttpRequest) -> HttpResponse:
    """Explain the shuffle, with a form that a link may fill in: `?commitment=…&seed=…&value=…&decks=…`.

    Nothing is checked here: that is for a script in the browser, since the house's word is what is in question.
    """
    asked = {name: request.GET.get(name, "")[:LONGEST] for name in ("commitment", "seed", "value")}
    asked["decks"] = request.GET.get("decks", "1")[:2]
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
        asked | {"cards": cards, "sentences": sentences, "command": COMMAND},
    )
