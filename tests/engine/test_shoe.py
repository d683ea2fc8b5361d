"""The order of the cards of a seed."""

import hashlib
from collections import Counter

import pytest

from games.engine import shoe
from games.engine.cards import FULL_DECK, Card
from games.engine.shoe import SeedError, hkdf_blocks, shuffle

SEED = bytes(range(32))


# RFC 5869, appendix A, test cases 1 to 3: key material, salt, info, length, output.
RFC_5869 = {
    "basic": (
        b"\x0b" * 22,
        bytes(range(0x0D)),
        bytes(range(0xF0, 0xFA)),
        42,
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
    ),
    "longer inputs and outputs": (
        bytes(range(0x50)),
        bytes(range(0x60, 0xB0)),
        bytes(range(0xB0, 0x100)),
        82,
        (
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        ),
    ),
    "no salt and no info": (
        b"\x0b" * 22,
        b"",
        b"",
        42,
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
}


def digest_of(cards: tuple[Card, ...]) -> str:
    """Return the SHA-256 of the codes of these cards."""
    return hashlib.sha256(" ".join(map(str, cards)).encode()).hexdigest()


@pytest.mark.parametrize(("key", "salt", "info", "length", "expected"), RFC_5869.values(), ids=RFC_5869)
def test_gli19_3_3_2_seeds_are_stretched_by_the_standard(
    key: bytes, salt: bytes, info: bytes, length: int, expected: str
) -> None:
    assert b"".join(hkdf_blocks(key, salt, info))[:length].hex() == expected


def test_the_standard_allows_255_blocks_and_no_more() -> None:
    assert len(list(hkdf_blocks(SEED, b"", b""))) == 255


@pytest.mark.parametrize("seed", [b"", SEED[:-1], SEED + b"\0"])
def test_a_seed_has_thirty_two_bytes(seed: bytes) -> None:
    with pytest.raises(SeedError):
        shuffle(seed, 1)


@pytest.mark.parametrize("decks", [1, 2, 6, 8])
def test_a_shuffle_keeps_every_card(decks: int) -> None:
    assert Counter(shuffle(SEED, decks)) == Counter(FULL_DECK * decks)


def test_the_same_seed_always_gives_the_same_cards() -> None:
    assert shuffle(SEED, 8, "my own words") == shuffle(bytes(SEED), 8, "my own words")


def test_what_the_player_chooses_changes_the_cards() -> None:
    orders = {shuffle(SEED, 1, value) for value in ("", "a", "b", "7", "ț", "♣" * 100)}
    assert len(orders) == 6


def test_one_bit_of_the_seed_changes_the_cards() -> None:
    assert len({shuffle(bytes([bit]) + SEED[1:], 1) for bit in range(256)}) == 256


def test_shoes_of_different_size_begin_differently() -> None:
    assert shuffle(SEED, 6)[:20] != shuffle(SEED, 8)[:20]


@pytest.mark.parametrize(
    ("decks", "player_value", "first", "digest"),
    [
        (1, "", "9C 9D AH 5D 2S JH", "918dc0c1e2762ba384133636c5f7c48229b31f2d30ff39fcd3a3e0b705c618ff"),
        (1, "my own words", "TC 4S AS QH 2H 3C", "dcacf28d050274a01a0cd0b5da8bfc748f3ee13e9bcb5663a2d3d5638e6784fc"),
        (1, "mărțișor ♣", "AC 2D 2S KS 6S 3S", "985e466a344b693ebfcee4e07f5fa9c7f2c37bea2c4b179a22b958d404d7f66f"),
        (6, "", "9D 8S 3C 6S 5D TC", "921ee5ea8c8d8129429c493b490d9859e3d3ac40eee72469509b4e8d6453af97"),
        (8, "", "3C TH 9D TD TS 4C", "7b1f5e65e1f2ff1dc667dd8126a214430b722f1c063815656d5fb7cc5c9210cf"),
        (8, "my own words", "6H 8C 4C QS KH 7S", "b58d5558249d9730c4aeb088bd030f1591c3e12f4929c8419b3456ee0fa1aad7"),
    ],
)
def test_known_seeds_give_known_cards(decks: int, player_value: str, first: str, digest: str) -> None:
    cards = shuffle(SEED, decks, player_value)
    assert " ".join(map(str, cards[:6])) == first
    assert digest_of(cards) == digest


def test_gli19_3_2_numbers_that_would_favour_a_position_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """65535 is not a fair choice among 52; 65519 is the last fair one and selects position 51."""
    numbers = [65535, 65520, 65519, *range(50, 0, -1)]
    monkeypatch.setattr(shoe, "_draws", lambda *_: iter(numbers))
    assert shuffle(SEED, 1) == FULL_DECK


def test_a_seed_whose_numbers_run_out_gives_no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoe, "hkdf_blocks", lambda *_, **__: iter([b"\xff" * 32]))
    with pytest.raises(SeedError):
        shuffle(SEED, 1)
