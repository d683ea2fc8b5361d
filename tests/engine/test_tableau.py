"""The third-card rules, cell by cell as in the rulebook."""

import pytest

from games.engine.coup import banker_draws, player_draws

#     Player's third card:  0123456789, then Player stood; D draws, s stands.
BANKER_TABLE = {
    0: ("DDDDDDDDDD", "D"),
    1: ("DDDDDDDDDD", "D"),
    2: ("DDDDDDDDDD", "D"),
    3: ("DDDDDDDDsD", "D"),
    4: ("ssDDDDDDss", "D"),
    5: ("ssssDDDDss", "D"),
    6: ("ssssssDDss", "s"),
    7: ("ssssssssss", "s"),
}


@pytest.mark.parametrize("total", range(6))
def test_player_draws_on_nought_to_five(total: int) -> None:
    assert player_draws(total)


@pytest.mark.parametrize("total", [6, 7])
def test_player_stands_on_six_and_seven(total: int) -> None:
    assert not player_draws(total)


def test_banker_answers_player_s_third_card_by_the_table() -> None:
    wrong = [
        (total, third)
        for total, (answers, _) in BANKER_TABLE.items()
        for third in range(10)
        if banker_draws(total, third) != (answers[third] == "D")
    ]
    assert wrong == []


@pytest.mark.parametrize("total", BANKER_TABLE)
def test_banker_draws_on_nought_to_five_where_player_stood(total: int) -> None:
    assert banker_draws(total, None) == (BANKER_TABLE[total][1] == "D")
