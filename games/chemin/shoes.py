"""The shoe of a Chemin de Fer table: six decks, committed to, dealt to the cut card, published at the end.

No card is burned. Players decide whether to draw, so only `games.chemin.apply` receives the cards:
the cards on the table follow from the sealed seed and the number of cards gone.
"""

from collections.abc import Iterator
from typing import Final

from games.engine.cards import Card
from games.engine.chemin.rules import CUT_CARD, DECKS
from games.engine.commitments import Purpose
from games.models import LiveRound, LiveTable, Round, Shoe, ShoeEnding
from games.rounds.integrity import WrongCard
from games.rounds.redeal import Finding
from games.seeds import new_sealed_seed
from games.shared import shoes

CARDS: Final = 52 * DECKS
CUT: Final = CARDS - CUT_CARD
"""Number of cards before the cut card."""


def open_shoe(live_table: LiveTable) -> Shoe:
    """Commit to six decks shuffled with a new seed, and put them on the table."""
    return shoes.put_on_table(live_table, new_sealed_seed(Purpose.SHOE), decks=DECKS, burn_card="", burned=0, cut=CUT)


def cards_of(shoe: Shoe) -> tuple[Card, ...]:
    """Return the cards of a shoe in dealing order. Never pass them to a page or a log before their time.

    Raises NotReproduced, WrongCard; InvalidTag where the seed cannot be unsealed.
    """
    cards = shoes.shuffled(shoe)
    shoes.demand_beginning(shoe, burn_card="", burned=0, cut=CUT)
    return cards


def demand_in_order(shoe: Shoe) -> None:
    """Raise WrongCard where the coups of a shoe were not dealt in order, so that no card can be skipped.

    Also raises what `cards_of` raises.
    """
    if found := _dealt_otherwise(shoe):
        raise WrongCard("The shoe was not dealt in order.", *found)


def end(shoe: Shoe, ending: ShoeEnding) -> tuple[Finding, ...]:
    """End a shoe, publish its seed, and return what of its coups does not follow from it.

    Raises ShoeInUse, and what `cards_of` raises unless the shoe is retired.
    """
    return shoes.end(shoe, ending, _dealt_otherwise)


def _dealt_otherwise(shoe: Shoe) -> tuple[Finding, ...]:
    return tuple(_misdealt(shoe))


def _misdealt(shoe: Shoe) -> Iterator[Finding]:
    """Deal the shoe again, coup by coup, each from where the last one ended, and yield the differences."""
    cards, gone = cards_of(shoe), 0
    of_shoe = LiveRound.objects.filter(shoe=shoe).values("pk")  # a round has no index by shoe
    for coup in Round.objects.filter(pk__in=of_shoe).exclude(cards="").order_by("first_card"):
        dealt = len(coup.cards.split())
        yield from shoes.unlike(
            Finding(f"{coup.code} first card", str(coup.first_card), str(gone)),
            Finding(f"{coup.code} cards", coup.cards, shoes.written(cards[gone : gone + dealt])),
        )
        gone += dealt
    yield from shoes.unlike(Finding("cards gone", str(shoe.gone), str(gone)))
