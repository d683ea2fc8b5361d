"""The shoe of a Chemin de Fer table: six decks, committed to, dealt to the cut card, published at the end.

No card is burned. Players decide whether to draw, so the dealer deals the cards of a coup step by
step: four, then each third card. When the coup is over it proves which it dealt, so that nobody can
look at a card and then decide otherwise.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from django.utils.translation import gettext_noop

from games import deals
from games.dealer.client import CardsDealt
from games.engine.cards import FULL_DECK, Card
from games.engine.chemin.rules import DECKS
from games.engine.chemin.state import State, there
from games.models import LiveRound, Round, Shoe, ShoeEnding
from games.rounds.integrity import WrongCard
from games.rounds.redeal import Finding
from games.shared import moves, shoes

UNKNOWN: Final = FULL_DECK * DECKS
"""Six unshuffled decks, which replace cards that are not known."""


def cards_of(shoe: Shoe) -> tuple[Card, ...]:
    """Return six decks that begin with the cards that have left a shoe; the others are not those of the shoe.

    Some of them are face down: never pass them to a page or a log before their time. Raises what
    `games.shared.shoes.cards_of` raises.
    """
    known = shoes.cards_of(shoe)[: shoe.gone]
    return known + UNKNOWN[len(known) :]


def deal(shoe: Shoe, live_round: LiveRound, count: int) -> CardsDealt:
    """Have the dealer deal the next cards of a coup.

    Raises DealerAway, NotDealt, WrongCard, and what `moves.ask_for_cards` does.
    """
    asked = moves.ask_for_cards(live_round.pk)
    if asked.count != count:
        raise WrongCard(
            gettext_noop("The coup needs a different number of cards."), Finding("cards", str(count), str(asked.count))
        )
    with shoes.refusals():
        return deals.deal_cards(shoe, live_round.pk, asked)


def with_cards(state: State, dealt: CardsDealt) -> State:
    """Return a table state whose shoe gives these cards next."""
    shoe = there(state.shoe)
    cards = tuple(map(Card.parse, dealt.cards.split()))
    return replace(
        state, shoe=replace(shoe, cards=(*shoe.cards[: shoe.drawn], *cards, *UNKNOWN[shoe.drawn + len(cards) :]))
    )


def proof_of(live_round: LiveRound) -> bytes:
    """Return the dealer's proof of the cards that it dealt for a coup. Raises DealerAway, NotDealt."""
    with shoes.refusals():
        return deals.prove_coup(live_round.shoe, live_round.pk)[1]


def demand_in_order(shoe: Shoe) -> None:
    """Raise WrongCard where the coups of a shoe were not dealt in order, so that no card can be skipped.

    Also raises what `cards_of` raises.
    """
    if found := dealt_otherwise(shoe):
        raise WrongCard(gettext_noop("The shoe was not dealt in order."), *found)


def end(shoe: Shoe, ending: ShoeEnding) -> tuple[Finding, ...]:
    """End a shoe, and return what of its coups does not follow from its cards.

    Raises ShoeInUse, and what `cards_of` raises unless the shoe is retired.
    """
    return shoes.end(shoe, ending, dealt_otherwise)


def dealt_otherwise(shoe: Shoe) -> tuple[Finding, ...]:
    """Return what differs between the stored coups of a shoe and its cards. Raises what `cards_of` raises."""
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
