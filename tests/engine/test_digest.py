"""The digest of the rules changes with every rule about payouts, and with nothing else."""

from dataclasses import replace
from datetime import date

import pytest

from games.engine import bets, conditions
from games.engine.bets import Pays, Prize, Variant
from games.engine.conditions import Condition
from games.engine.felt import Felt, Height, row
from games.variants import VARIANTS

BACCARAT = VARIANTS["baccarat"]
PLAYER, BANKER, TIE = BACCARAT.bets
TWO = (row(Height.MAIN, player=1, banker=1),)

PUBLISHED = {
    ("baccarat", "1.0"): "29687b13ef0d3558a5a5e34dc73a949ba88d5ed7bb348b72cc238093f1f56a9d",
    ("golden", "1.0"): "3419b3d1c3c5b1476305f32259ddd07d5d9c7860e26b31233cdc26400870c7f2",
    ("no_commission", "1.0"): "fbd5b97fd669f535ef65b8ae1954daeb8e220e7994b908d49f53c8788f61a417",
    ("pairs", "1.0"): "1a8d76b231df8fd9540d54ec507e408eae9bc4651a9b8481e9d1edc7e4f74c0c",
}
"""The digest of each published version. Changed rules need a new version, and every version needs an entry."""

OTHER_RULES = {
    "more decks": replace(BACCARAT, decks=8),
    "one bet less": replace(BACCARAT, bets=(PLAYER, BANKER), felt=Felt({}, TWO, TWO, TWO)),
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


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_rules_that_change_take_a_new_version(variant: Variant) -> None:
    assert PUBLISHED.get((variant.slug, variant.version)) == variant.digest
