"""Round codes, and the sealing of unused seeds."""

from uuid import UUID, uuid4

import pytest
from cryptography.exceptions import InvalidTag

from games.engine.commitments import Purpose
from games.engine.shoe import commitment
from games.rounds.codes import ALPHABET, round_code
from games.seeds import new_sealed_seed, unseal


def test_a_code_is_three_groups_of_four_unmistakable_characters():
    groups = round_code(uuid4()).split("-")
    assert [len(group) for group in groups] == [4, 4, 4]
    assert set("".join(groups)) <= set(ALPHABET)


def test_a_code_spells_the_last_sixty_bits_of_the_round_id():
    assert round_code(UUID(int=0)) == "0000-0000-0000"
    assert round_code(UUID(int=(1 << 60) - 1)) == "ZZZZ-ZZZZ-ZZZZ"
    assert round_code(UUID(int=1 << 60)) == "0000-0000-0000"


def test_codes_of_random_rounds_use_every_letter_in_every_place():
    codes = [round_code(uuid4()).replace("-", "") for _ in range(5000)]
    for place in range(12):
        assert {code[place] for code in codes} == set(ALPHABET)


def test_a_sealed_seed_opens_for_its_own_round_and_matches_its_commitment():
    seed = new_sealed_seed(Purpose.SOLO)
    opened = unseal(Purpose.SOLO, seed.round_id, seed.sealed)
    assert len(opened) == 32
    assert commitment(opened) == seed.commitment


def test_a_sealed_seed_does_not_open_for_another_round():
    with pytest.raises(InvalidTag):
        unseal(Purpose.SOLO, uuid4(), new_sealed_seed(Purpose.SOLO).sealed)


@pytest.mark.parametrize("purpose", [Purpose.SHOE, Purpose.DEMO])
def test_the_sealed_seed_of_a_solo_seat_opens_for_no_other_purpose(purpose):
    seed = new_sealed_seed(Purpose.SOLO)
    with pytest.raises(InvalidTag):
        unseal(purpose, seed.round_id, seed.sealed)


def test_a_sealed_seed_with_a_flipped_bit_does_not_open():
    seed = new_sealed_seed(Purpose.SOLO)
    broken = seed.sealed[:-1] + bytes([seed.sealed[-1] ^ 1])
    with pytest.raises(InvalidTag):
        unseal(Purpose.SOLO, seed.round_id, broken)


def test_a_sealed_seed_does_not_show_the_seed():
    seed = new_sealed_seed(Purpose.SOLO)
    assert unseal(Purpose.SOLO, seed.round_id, seed.sealed) not in seed.sealed
