"""Round codes."""

from uuid import UUID, uuid4

from games.models.rounds import ALPHABET, round_code


def test_a_code_is_three_groups_of_four_unmistakable_characters():
    groups = round_code(uuid4()).split("-")
    assert [len(group) for group in groups] == [4, 4, 4]
    assert set("".join(groups)) <= set(ALPHABET)


def test_a_code_spells_the_last_sixty_bits_of_the_round_id():
    assert round_code(UUID(int=0)) == "0000-0000-0000"
    assert round_code(UUID(int=(1 << 60) - 1)) == "ZZZZ-ZZZZ-ZZZZ"
    assert round_code(UUID(int=1 << 60)) == "0000-0000-0000"


def test_codes_of_random_rounds_use_every_letter_in_every_position():
    codes = [round_code(uuid4()).replace("-", "") for _ in range(5000)]
    for place in range(12):
        assert {code[place] for code in codes} == set(ALPHABET)
