"""The digest of the rules changes with whatever changes what is paid, and with nothing else."""

from dataclasses import replace
from datetime import date

import pytest

from games.engine import bets, conditions
from games.engine.bets import Pays, Prize, Variant
from games.engine.conditions import Condition
from games.variants import VARIANTS

BACCARAT = VARIANTS["baccarat"]
PLAYER, BANKER, TIE = BACCARAT.bets

OTHER_RULES = {
    "more decks": replace(BACCARAT, decks=8),
    "one bet less": replace(BACCARAT, bets=(PLAYER, BANKER)),
    "another price": replace(
        BACCARAT, bets=(PLAYER, BANKER, replace(TIE, prizes=(Prize(conditions.TIE, Pays(9, 1)),)))
    ),
    "no push": replace(BACCARAT, bets=(replace(PLAYER, prizes=PLAYER.prizes[:1]), BANKER, TIE)),
    "a side bet": replace(BACCARAT, bets=(PLAYER, BANKER, replace(TIE, needs=("player",)))),
    "no commission": replace(BACCARAT, bets=(PLAYER, replace(BANKER, commission=False), TIE)),
    "an exclusion": replace(BACCARAT, exclusions=(frozenset({"player", "tie"}),)),
    "a condition of the same name": replace(
        BACCARAT,
        bets=(
            PLAYER,
            BANKER,
            replace(TIE, prizes=(Prize(Condition("tie", conditions.NATURAL_TIE.holds), Pays(8, 1)),)),
        ),
    ),
}


@pytest.mark.parametrize("other", OTHER_RULES.values(), ids=OTHER_RULES)
def test_other_rules_have_another_digest(other: Variant) -> None:
    assert other.digest != BACCARAT.digest


def test_another_tableau_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bets, "player_draws", lambda total: total <= 4)
    assert replace(BACCARAT).digest != BACCARAT.digest


def test_words_and_dates_leave_the_digest_as_it_is() -> None:
    reworded = replace(BACCARAT, labels={}, changed=date(2030, 1, 1), controls=(), version="2.0")
    assert reworded.digest == BACCARAT.digest


def test_a_digest_is_sixty_four_hex_digits() -> None:
    assert len(bytes.fromhex(BACCARAT.digest)) == 32
