"""Commitments, and the statement of a deal: the published vectors, and what each binds."""

from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from games.engine.commitments import Binding, Purpose, Statement, digest_of_entropy, digest_of_stakes
from games.engine.coup import deal
from games.engine.shoe import SeedError, shuffle
from tests.vectors import DEALS, ROUNDS

SEED = bytes(range(32))
BINDING = Binding(Purpose.SOLO, "0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", 7, 8, "ab" * 32)
OTHERS: dict[str, Any] = {
    "purpose": Purpose.DEMO,
    "id": "0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6c",
    "table": 8,
    "decks": 6,
    "rules": "cd" * 32,
}


def binding_of(case: dict[str, Any]) -> Binding:
    return Binding(Purpose(case["purpose"]), case["id"], case["table"], case["decks"], case["rules"])


@pytest.mark.parametrize("case", ROUNDS, ids=[case["id"][:4] + case["purpose"] for case in ROUNDS])
def test_the_published_rounds_are_dealt(case: dict[str, Any]) -> None:
    seed = bytes.fromhex(case["seed"])
    cards = shuffle(seed, case["decks"], case["player_value"])
    coup = deal(cards)
    codes = [card.code for card in cards]
    assert binding_of(case).commitment(seed) == case["commitment"]
    assert sha256(" ".join(codes).encode()).hexdigest() == case["order_sha256"]
    assert " ".join(codes[:10]) == case["first_cards"]
    assert " ".join(card.code for card in coup.cards) == case["cards"]
    assert coup.outcome.value == case["outcome"]


@pytest.mark.parametrize("case", DEALS, ids=[case["round"][:4] for case in DEALS])
def test_the_published_deals_are_signed(case: dict[str, Any]) -> None:
    (of_round,) = (each for each in ROUNDS if each["id"] == case["round"] and each["purpose"] == "solo")
    said = Statement(
        case["key"],
        case["epoch"],
        case["deal"],
        binding_of(of_round),
        of_round["commitment"],
        digest_of_entropy(of_round["player_value"]),
        digest_of_stakes(case["stakes"]),
        of_round["cards"],
        of_round["outcome"],
    )
    assert (said.stakes, said.entropy) == (case["stakes_sha256"], case["entropy_sha256"])
    assert said.text == case["text"]
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(case["key"]))
    key.verify(bytes.fromhex(case["signature"]), said.text.encode())


def test_there_is_another_value_for_everything_that_a_commitment_names() -> None:
    assert OTHERS.keys() == {field.name for field in fields(Binding)}


@pytest.mark.parametrize("name", OTHERS)
def test_a_commitment_is_of_one_round_table_number_of_decks_and_rules(name: str) -> None:
    other: Binding = replace(BINDING, **{name: OTHERS[name]})
    assert other.commitment(SEED) != BINDING.commitment(SEED)


def test_a_commitment_is_of_one_seed_of_thirty_two_bytes() -> None:
    assert BINDING.commitment(SEED) != BINDING.commitment(SEED[::-1])
    with pytest.raises(SeedError):
        BINDING.commitment(SEED[1:])


def test_stakes_are_bound_in_whatever_order_they_were_laid() -> None:
    assert digest_of_stakes({"tie": 1, "banker": 2}) == digest_of_stakes({"banker": 2, "tie": 1})
    assert len({digest_of_stakes(each) for each in ({}, {"tie": 1}, {"tie": 11}, {"tie": 1, "banker": 1})}) == 4
