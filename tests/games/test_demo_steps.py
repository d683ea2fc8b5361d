"""The step-by-step explanation of a round agrees with its cards and payouts."""

import pytest
from django.utils.translation import override

from games.demo.steps import Step, explain_steps
from games.engine.cards import Card
from games.engine.coup import Coup, deal
from games.engine.settle import settle
from games.variants import VARIANTS
from tests.harness.sweeps import sample

VARIANT = VARIANTS["baccarat"]


def story(cards: str, language: str = "en", **stakes: int) -> tuple[Coup, tuple[Step, ...]]:
    """Return a coup of these cards and its explanation, with ten pounds on Player by default."""
    coup = deal([Card.parse(code) for code in cards.split()])
    with override(language):
        lines = settle(VARIANT, coup, stakes or {"player": 1000}).lines
        return coup, explain_steps(coup, lines, VARIANT, "GBP", language)


COUPS = {
    "9H 2D KS 3C": "Player has a natural 9 with two cards. No third card is drawn.",
    "2H 5D KS 3C": "Banker has a natural 8 with two cards. No third card is drawn.",
    "9H 5D KS 3C": "Both sides have a natural, 8 or 9 with two cards. No third card is drawn.",
    "2H 2D 4S 4C": "Player stood, so Banker draws on 5 or less. Banker has 6 and stands.",
    "2H 2D 4S 3C 9C": "Banker has 5 and draws a third card. The card is the nine of clubs,",
    "2H 2D 3S KC 6C 4C": "Banker has 2 and draws a third card, regardless of Player’s third card. The card is the "
    "four of clubs, worth 4.",
    "2H 3D 3S KC 9C 4C": "draws if Player’s third card is worth 0–7 or 9. It is worth 9: Banker draws.",
    "2H 3D 3S KC 8C": "draws if Player’s third card is worth 0–7 or 9. It is worth 8: Banker stands.",
    "2H 6D 3S KC 6C AC": "draws if Player’s third card is worth 6–7. It is worth 6: Banker draws.",
    "2H 7D 3S KC 6C": "Banker has 7 and stands, regardless of Player’s third card.",
}

NAMES = [cards.replace(" ", "-") for cards in COUPS]


@pytest.mark.parametrize(("cards", "reason"), COUPS.items(), ids=NAMES)
def test_the_reason_for_every_third_card_is_given(cards, reason):
    coup, steps = story(cards)
    assert len(coup.cards) == len(cards.split())
    assert reason in " ".join(step.text for step in steps)


@pytest.mark.parametrize("cards", COUPS, ids=NAMES)
def test_each_card_has_its_step_in_dealing_order(cards):
    coup, steps = story(cards)
    dues = [step.due for step in steps]
    assert dues == sorted(dues)
    assert set(range(len(coup.cards) + 1)) <= set(dues)


@pytest.mark.parametrize(
    ("cards", "stakes", "message"),
    [
        ("9H 2D KS 3C", {"player": 1000}, "Player wins and pays 1:1. £20.00 is paid out, including the stake."),
        ("2H 5D KS 3C", {"player": 1000}, "Player loses. The stake of £10.00 goes to the house."),
        (
            "2H 5D KS 3C",
            {"banker": 1000},
            "Banker wins. £19.50 is paid out, including the stake; £0.50 is deducted as commission.",
        ),
        ("9H 9D KS QC", {"player": 1000}, "Player is a push. The stake of £10.00 is returned."),
        ("9H 9D KS QC", {"tie": 100}, "Tie wins and pays 8:1. £9.00 is paid out, including the stake."),
    ],
    ids=["won", "lost", "won less commission", "push", "tie"],
)
def test_what_was_paid_is_said(cards, stakes, message):
    _coup, steps = story(cards, **stakes)
    assert message in steps[-1].text


def test_totals_over_nine_are_explained():
    _coup, steps = story("9H 2D 5S 3C 2C")
    assert "The last digit of 14 counts: Player has 4." in steps[3].text


@pytest.mark.parametrize(
    ("language", "totals"), [("sv", "0–7 eller 9"), ("da", "0–7 eller 9"), ("ro", "0–7 sau 9"), ("de", "0–7 oder 9")]
)
def test_totals_are_joined_by_a_word(language, totals):
    _coup, steps = story("2H 3D 3S KC 9C 4C", language)
    assert totals in steps[-3].text


@pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de"], 1))
def test_the_story_is_in_the_readers_language(language):
    for cards in COUPS:
        _coup, steps = story(cards, language)
        english = {step.text for step in story(cards)[1]}
        assert not english & {step.text for step in steps}
