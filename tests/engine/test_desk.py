"""The settlement calculator, line by line."""

import json
from fractions import Fraction

import pytest

from games.engine.bets import Variant
from games.engine.odds import as_json, as_table, exact, percent
from games.management.commands.settle import answers
from games.variants import VARIANTS


def ask(slug: str, *lines: object) -> list[dict]:
    """Return the answers to requests, given as objects or as raw bytes."""
    written = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return list(answers(VARIANTS[slug], written))


def test_a_question_is_answered_with_everything_the_coup_came_to() -> None:
    question = {"cards": ["2C", "7D", "KC", "KD", "3H"], "stakes": {"player": 100, "banker": 200, "tie": 50}}
    assert ask("baccarat", question) == [
        {
            "outcome": "banker",
            "player_total": 5,
            "banker_total": 7,
            "cards_used": 5,
            "payouts": {"player": 0, "banker": 390, "tie": 0},
        }
    ]


def test_surplus_cards_are_not_read() -> None:
    (answer,) = ask("baccarat", {"cards": ["9C", "2D", "KC", "KD", "joker", None], "stakes": {"player": 1}})
    assert (answer["cards_used"], answer["payouts"]) == (4, {"player": 2})


def test_table_limits_do_not_apply() -> None:
    (answer,) = ask("no_commission", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 1, "tie": 10**12}})
    assert answer["payouts"] == {"player": 2, "tie": 0}


@pytest.mark.parametrize(
    ("slug", "question", "fault"),
    [
        ("baccarat", b"", "JSON"),
        ("baccarat", b"{", "JSON"),
        ("baccarat", b"\xff\xfe\xff", "JSON"),
        ("baccarat", b"[" * 100_000, "JSON"),
        ("baccarat", b"1" * 5000, "JSON"),
        ("baccarat", [], "object"),
        ("baccarat", {"stakes": {"player": 1}}, '"cards"'),
        ("baccarat", {"cards": "9C2DKCKD", "stakes": {"player": 1}}, '"cards"'),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"]}, '"stakes"'),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"], "stakes": [1]}, '"stakes"'),
        ("baccarat", {"cards": ["9C", "2D", "10C", "KD"], "stakes": {"player": 1}}, "10C"),
        ("baccarat", {"cards": ["9C", "2D", 7, "KD"], "stakes": {"player": 1}}, "7"),
        ("baccarat", {"cards": ["9C", "2D", "KC"], "stakes": {"player": 1}}, "ran out"),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {}}, "nothing is staked"),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 0}}, "player"),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 1.5}}, "player"),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": True}}, "player"),
        ("baccarat", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"super_6": 1}}, "super_6"),
        ("baccarat", {"cards": ["9C", "2D", "KC", "9C"], "stakes": {"player": 1}}, "9C stands 2 times"),
        ("golden", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 1, "banker": 1}}, "exclude"),
        ("pairs", {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"tie": 1}}, "tie"),
        ("baccarat", b'{"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 1, "player": 2}}', "twice"),
    ],
)
def test_a_bad_line_is_answered_with_its_number_and_fault_and_the_rest_goes_on(
    slug: str, question: object, fault: str
) -> None:
    good = {"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 5}}
    before, bad, after = ask(slug, good, question, good)
    assert before == after == {**before, "payouts": {"player": 10}}
    assert list(bad) == ["error"]
    assert bad["error"].startswith("line 2: ")
    assert fault in bad["error"]


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_odds_for_machines_are_the_exact_fractions(variant: Variant) -> None:
    sheet = as_json(variant, variant.decks)
    assert (sheet["variant"], sheet["decks"]) == (variant.slug, variant.decks)
    for bet, odds in exact(variant).items():
        written = sheet["bets"][bet]
        for name in ("rtp", "edge", "win", "push", "lose", "variance"):
            assert Fraction(written[name]) == getattr(odds, name)
            assert "/" in written[name]
        assert written["percent"] == percent(odds.rtp, 4)


def test_odds_for_people_have_a_line_for_every_bet() -> None:
    _, head, *lines = as_table(VARIANTS["no_commission"], 8)
    assert head.split()[:2] == ["bet", "return"]
    assert [line.split()[0] for line in lines] == [bet.code for bet in VARIANTS["no_commission"].bets]
    assert lines[0].split() == ["player", "98.7649", "1.2351", "44.6247", "9.5156", "45.8597", "0.9511"]
