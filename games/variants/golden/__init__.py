"""Golden Baccarat: one player, one deck, shuffled before every round.

A player bets on Player or Banker, not on both. Tie can be added or played alone.
"""

from datetime import date
from typing import Final

from games.engine.bets import Control, Headline, Shape, Variant
from games.variants.common import BANKER, PLAYER, THREE_BETS, TIE_AT_EIGHT, with_common

LABELS: Final = {
    "sv": {
        "name": "Golden Baccarat",
        "tagline": "Välj sida, lägg till Oavgjort om du vill – och ge igen med ett klick.",
    },
    "da": {"name": "Golden Baccarat", "tagline": "Vælg side, læg Uafgjort til, hvis du vil – og giv igen med ét klik."},
    "ro": {
        "name": "Golden Baccarat",
        "tagline": "Alegeți o parte, adăugați Egalitate dacă doriți și jucați din nou cu un clic.",
    },
    "de": {
        "name": "Golden Baccarat",
        "tagline": "Eine Seite wählen, Unentschieden dazu, wenn Sie mögen – und mit einem Klick weiter.",
    },
    "en": {"name": "Golden Baccarat", "tagline": "Pick a side, add a Tie if you like, and go again with one click."},
}


VARIANT: Final = Variant(
    slug="golden",
    version="1.0",
    changed=date(2026, 11, 21),
    decks=1,
    shape=Shape.SOLO,
    bets=(PLAYER, BANKER, TIE_AT_EIGHT),
    exclusions=(frozenset({"player", "banker"}),),
    controls=(Control.TAKE_OFF, Control.DEAL, Control.CLEAR, Control.REBUY),
    declared={"player": "98.71", "banker": "98.99", "tie": "84.25"},
    headline=Headline(("player", "banker", "tie"), "93.985"),
    labels=with_common(LABELS),
    felt=THREE_BETS,
)
