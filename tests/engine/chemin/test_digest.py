"""The digest of Chemin de Fer changes with every rule about money, and not with texts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from games.engine.chemin import machine, rules
from games.engine.chemin.rules import Advice, Call, Outcome, Side
from games.variants.chemin_de_fer import GAME

PUBLISHED = {"1.0": "5fff57ab7d3c3d2f6263be7c5fd88b909cc86c62a6b2d01b14c3655b301d405d"}
"""The digest of each published version. Changed rules need a new version."""

OTHER_FIGURES: dict[str, tuple[object, str, object]] = {
    "decks": (rules, "DECKS", 8),
    "cut card": (rules, "CUT_CARD", 20),
    "tax": (rules, "TAX", Fraction(4, 100)),
    "fewest seats": (rules, "FEWEST_SEATS", 2),
    "most seats": (rules, "MOST_SEATS", 10),
    "fewest players": (rules, "FEWEST_PLAYERS", 3),
    "naturals": (rules, "NATURALS", frozenset({9})),
    "when the banker draws": (rules, "BANKER_DRAWS_AGAINST", {**rules.BANKER_DRAWS_AGAINST, 6: frozenset({6})}),
    "when the banker chooses": (rules, "BANKER_CHOOSES_AGAINST", {3: frozenset({9})}),
    "what comes back": (rules, "STAKES_RETURNED", {**rules.STAKES_RETURNED, Outcome.DRAW: 0}),
    "the croupier's choice": (machine, "AT_A_FREE_CHOICE", {**machine.AT_A_FREE_CHOICE, Side.PUNTER: Advice.DRAW}),
    "when the punter draws": (rules, "punter_rule", lambda total: Advice.DRAW if total < 5 else Advice.STAND),
    "how the tax is rounded": (rules, "tax_on", lambda won: -(-won // 20)),
    "who wins": (rules, "outcome_of", lambda punter, banker: Outcome.BANKER),
}


def digest_now() -> str:
    """Return the current digest, not the cached one."""
    return replace(GAME).digest


@pytest.mark.parametrize(("place", "name", "other"), OTHER_FIGURES.values(), ids=OTHER_FIGURES)
def test_other_rules_have_another_digest(
    place: object, name: str, other: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest_now()
    monkeypatch.setattr(place, name, other)
    assert digest_now() != before


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("smallest_stake", lambda call, bank: bank // 2),
        ("share_for_others", lambda call, bank: bank - bank // 2),
    ],
)
def test_another_share_for_a_call_has_another_digest(
    name: str, other: Callable[[Call, int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest_now()
    monkeypatch.setattr(Call, name, other)
    assert digest_now() != before


def test_another_version_has_another_digest() -> None:
    assert replace(GAME, version="2.0").digest != GAME.digest


def test_words_and_dates_leave_the_digest_as_it_is() -> None:
    assert replace(GAME, labels={}, changed=date(2030, 1, 1)).digest == GAME.digest


def test_rules_that_change_take_a_new_version() -> None:
    assert PUBLISHED.get(GAME.version) == GAME.digest
    assert len(bytes.fromhex(GAME.digest)) == 32
