"""The published shoes of `docs/vectors`: commitment, order, leaves, root, a coup, and what the dealer signs."""

from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from games.engine import card_tree
from games.engine.cards import Card
from games.engine.chemin.record import redeal_coup
from games.engine.commitments import Binding, CardsStatement, Purpose, ShoeStatement, digest_of_entropy, entropy_of
from games.engine.dealing import CUT_CARD, coup_at, opening
from games.engine.shoe import shuffle
from tests.vectors import SHOES

every_shoe = pytest.mark.parametrize("case", SHOES, ids=[f"{case['purpose']}{case['decks']}" for case in SHOES])


def binding_of(case: dict[str, Any]) -> Binding:
    return Binding(Purpose(case["purpose"]), case["id"], case["table"], case["decks"], case["rules"])


@every_shoe
def test_the_published_shoes_are_shuffled_and_committed_to(case: dict[str, Any]) -> None:
    seed, value = bytes.fromhex(case["seed"]), case["entropy"]
    cards = shuffle(seed, case["decks"], value)
    salts = card_tree.salts(seed, len(cards), value)
    leaves = card_tree.leaves(cards, salts)
    codes = " ".join(card.code for card in cards)
    assert binding_of(case).commitment(seed) == case["commitment"]
    assert sha256(codes.encode()).hexdigest() == case["order_sha256"]
    assert codes.startswith(case["first_cards"])
    assert [salt.hex() for salt in salts[:3]] == case["first_salts"]
    assert [leaf.hex() for leaf in leaves[:3]] == case["first_leaves"]
    assert card_tree.root(leaves).hex() == case["root"]
    begins = opening(cards)
    is_burned = case["purpose"] == "shoe"
    assert (case["burn"], case["burned"]) == ((begins.burn_card.code, begins.burned) if is_burned else ("", 0))
    assert case["cut"] == begins.cut == len(cards) - CUT_CARD
    for card in case["coup"]:
        assert cards[card["place"]].code == card["card"]
        assert salts[card["place"]].hex() == card["salt"]
        assert [each.hex() for each in card_tree.path(leaves, card["place"])] == card["path"]


@every_shoe
def test_the_published_coups_have_the_cards_that_the_rules_deal(case: dict[str, Any]) -> None:
    cards, first = shuffle(bytes.fromhex(case["seed"]), case["decks"], case["entropy"]), case["coup"][0]["place"]
    if case["purpose"] == "chemin":  # both are naturals of the punter: nobody draws, and four cards are the coup
        dealt = redeal_coup(cards[first:], punter_draws=None, banker_draws=None).cards
    else:
        dealt = coup_at(cards, first).cards
    assert [(card["place"], card["card"]) for card in case["coup"]] == [
        (first + number, card.code) for number, card in enumerate(dealt)
    ]


def test_what_players_added_to_the_published_shoes_is_mixed_into_the_shuffle() -> None:
    cut = [case for case in SHOES if "chances" in case]
    assert {case["purpose"] for case in cut} == {"shoe", "chemin"}
    for case in cut:
        assert [line for line in case["chances"] if len(line) == 64 + 1 + 32] == case["chances"] != []
        assert entropy_of(case["chances"]) == case["entropy"]


@every_shoe
def test_a_published_card_leads_to_the_root_only_at_its_position(case: dict[str, Any]) -> None:
    size, root = 52 * case["decks"], bytes.fromhex(case["root"])
    for card in case["coup"]:
        made = card_tree.leaf(card["place"], Card.parse(card["card"]), bytes.fromhex(card["salt"]))
        way = [bytes.fromhex(each) for each in card["path"]]
        assert card_tree.climb(card["place"], size, made, way) == root
        assert card_tree.climb(card["place"] ^ 1, size, made, way) != root
        assert card_tree.climb(card["place"], size, made[::-1], way) != root
        assert card_tree.climb(card["place"], size, made, way[1:]) != root
        assert card_tree.climb(card["place"], size, made, [*way, root]) != root


@every_shoe
def test_the_published_statements_are_signed(case: dict[str, Any]) -> None:
    binding = binding_of(case)
    of_shoe = ShoeStatement(
        case["key"],
        binding,
        case["commitment"],
        digest_of_entropy(case["entropy"]),
        case["root"],
        case["burn"],
        case["burned"],
        case["cut"],
    )
    of_cards = CardsStatement(
        case["key"],
        binding,
        case["commitment"],
        case["round"],
        case["coup"][0]["place"],
        case["stakes"],
        " ".join(card["card"] for card in case["coup"]),
        "".join(card["salt"] for card in case["coup"]),
    )
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(case["key"]))
    for statement, what in ((of_shoe, "shoe"), (of_cards, "cards")):
        assert statement.text == case[f"{what}_text"]
        key.verify(bytes.fromhex(case[f"{what}_signature"]), statement.text.encode())
