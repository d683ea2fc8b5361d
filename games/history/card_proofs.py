"""Proofs of the cards of a shoe: with its salt and a path, each leads to the root that the shoe is committed to.

So a round can be verified as soon as it is over, while the shoe is in play. The cards of a round in
progress are in no proof.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from games.deals import shoe_binding
from games.engine import card_tree
from games.models import OPEN_PHASES, DealtCards, LiveRound, Shoe
from games.shared import moves

Json = dict[str, Any]


@dataclass(frozen=True)
class SaltedCard:
    """A card that has left a shoe, with its salt in hex. *place* counts from 0 in dealing order."""

    place: int
    card: str  # "9H"
    salt: str


@dataclass(frozen=True)
class ProvenCard(SaltedCard):
    """A card with the path to the root of its shoe: hashes in hex, the nearest first."""

    path: tuple[str, ...]


def proven(shoe: Shoe, round_id: UUID) -> tuple[ProvenCard, ...]:
    """Return the cards of a round that is over. At Chemin de Fer some are face down until then."""
    found = [card for dealt in DealtCards.of(shoe) if dealt.round_id == round_id for card in _salted(dealt)]
    leaves = card_tree.stored(bytes(shoe.leaves.leaves)) if found else ()
    return tuple(
        ProvenCard(each.place, each.card, each.salt, tuple(node.hex() for node in card_tree.path(leaves, each.place)))
        for each in found
        if each.place < len(leaves)
    )


def file_of(shoe: Shoe) -> Json:
    """Return the proof of a shoe as a file: what it is committed to, all leaves, and the rounds that are over.

    `tools/verify_round.py --proof` reads it.
    """
    binding = shoe_binding(shoe)
    played = LiveRound.objects.filter(shoe=shoe).exclude(phase__in=OPEN_PHASES).order_by("number")
    cards: dict[UUID, list[Json]] = {}
    for dealt in DealtCards.of(shoe):
        cards.setdefault(dealt.round_id, []).extend(vars(card) for card in _salted(dealt))
    return {
        "purpose": binding.purpose.value,
        "id": binding.id,
        "table": binding.table,
        "decks": binding.decks,
        "rules": binding.rules,
        "commitment": shoe.commitment,
        "entropy": shoe.entropy,
        "chances": moves.chances(shoe.pk),
        "root": shoe.root,
        "burn": vars(SaltedCard(0, shoe.burn_card, bytes(shoe.burn_salt).hex())) if shoe.burn_card else None,
        "burned": shoe.burned,
        "cut": shoe.cut,
        "dealer": shoe.dealer_key,
        "signature": bytes(shoe.signature).hex(),
        "leaves": [leaf.hex() for leaf in card_tree.stored(bytes(shoe.leaves.leaves))],
        "seed": None if shoe.seed is None else bytes(shoe.seed).hex(),
        "rounds": [
            {"id": str(each.pk), "code": each.code, "number": each.number, "cards": cards[each.pk]}
            for each in played
            if each.pk in cards
        ],
    }


def _salted(dealt: DealtCards) -> Iterator[SaltedCard]:
    salts, size = bytes(dealt.salts), card_tree.SALT_BYTES
    for number, code in enumerate(dealt.cards.split()):
        yield SaltedCard(dealt.first_card + number, code, salts[number * size : (number + 1) * size].hex())
