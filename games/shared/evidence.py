"""Evidence for a request to void a round: does the seed reproduce the cards, does the settlement recompute.

Both people who decide read it. It reveals no face-down card.
"""

from games.chemin import shoes as chemin_shoes
from games.engine.coup import TooFewCards
from games.engine.dealing import coup_at
from games.models import LiveRound, Phase, Shape, Shoe
from games.rounds.integrity import Doubt
from games.rounds.redeal import Finding
from games.rounds.stored import OF_THE_CARDS, Problem, problems
from games.shared import shoes

YES, NO = "yes", "no"


def facts(live: LiveRound) -> list[tuple[str, str]]:
    """Return whether the seed of the shoe reproduces the cards, and whether the settlement recomputes."""
    if live.phase == Phase.DEALT:
        is_chemin = live.live_table.table.shape == Shape.CHEMIN
        found = shoe_found(live.shoe) if is_chemin else cards_found(live)
        return [("Seed reproduces it", _answer(found)), ("Settlement recomputes", "not settled yet")]
    problem = next((problem for _, problem in problems([live.pk])), None)
    of_cards, of_money = _split(problem)
    return [("Seed reproduces it", _answer(of_cards)), ("Settlement recomputes", _answer(of_money))]


def cards_found(live: LiveRound) -> tuple[Finding, ...]:
    """Deal a round again whose cards are drawn, and return the differences."""
    first = live.first_card or 0
    try:
        coup = coup_at(shoes.cards_of(live.shoe), first)
    except Doubt as doubt:
        return doubt.found
    except TooFewCards:  # cards that nobody may know yet
        return (Finding("first card", str(first), f"among the {live.shoe.gone} that have left the shoe"),)
    cards = Finding("cards", live.cards, " ".join(card.code for card in coup.cards))
    return () if cards.stored == cards.recomputed else (cards,)


def shoe_found(shoe: Shoe) -> tuple[Finding, ...]:
    """Return what is wrong with a shoe of Chemin de Fer.

    The cards of a coup in progress are not stored, so they cannot be compared.
    """
    try:
        chemin_shoes.cards_of(shoe)
    except Doubt as doubt:
        return doubt.found
    return ()


def _split(problem: Problem | None) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    found = problem.found if problem else ()
    of_cards = tuple(each for each in found if each.what in OF_THE_CARDS)
    return of_cards, tuple(each for each in found if each not in of_cards)


def _answer(found: tuple[Finding, ...]) -> str:
    if not found:
        return YES
    return f"{NO}: " + "; ".join(f"{each.what} stored {each.stored}, recomputed {each.recomputed}" for each in found)
