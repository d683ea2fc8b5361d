"""Requirements of every game. A new folder among the variants is tested automatically."""

from fractions import Fraction

import pytest

from games.engine.bets import PUSH, BetRule, Variant
from games.engine.chemin.rules import DECKS
from games.engine.conditions import EVERY_COUP
from games.engine.odds import exact, percent, return_at
from games.variants import GAMES, LANGUAGES, VARIANTS, NoHelpText, help_text
from games.variants.common import Game

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
every_language = pytest.mark.parametrize("language", LANGUAGES)
every_bet = pytest.mark.parametrize(
    ("variant", "bet"),
    [pytest.param(variant, bet, id=f"{slug}-{bet.code}") for slug, variant in VARIANTS.items() for bet in variant.bets],
)


def decimals(printed: str) -> int:
    """Return the number of decimal places of a published figure."""
    return len(printed.partition(".")[2])


def test_the_house_deals_these_games() -> None:
    assert set(VARIANTS) >= {"baccarat", "golden", "no_commission", "pairs"}
    assert set(GAMES) >= {*VARIANTS, "chemin_de_fer"}


@every_game
def test_a_game_is_in_the_folder_of_its_name(game: Game) -> None:
    assert help_text(game.slug, "en")
    assert GAMES[game.slug] is game


@every_game
@every_language
def test_a_game_has_a_name_and_a_sentence_in_every_language(game: Game, language: str) -> None:
    assert game.label(language, "name").strip()
    assert game.label(language, "tagline").strip().endswith(".")


def test_chemin_de_fer_is_no_punto_banco_game() -> None:
    assert "chemin_de_fer" not in VARIANTS
    assert GAMES["chemin_de_fer"].decks == DECKS


@every_variant
def test_every_bet_declares_its_return(variant: Variant) -> None:
    assert list(variant.declared) == [bet.code for bet in variant.bets]


@every_bet
def test_gli19_4_6_the_exact_return_is_the_declared_one(variant: Variant, bet: BetRule) -> None:
    declared = variant.declared[bet.code]
    assert percent(exact(variant)[bet.code].rtp, decimals(declared)) == declared


@every_variant
def test_the_headline_is_the_mean_of_its_bets(variant: Variant) -> None:
    returns = [exact(variant)[bet].rtp for bet in variant.headline.bets]
    mean = sum(returns, Fraction()) / len(returns)
    assert percent(mean, decimals(variant.headline.percent)) == variant.headline.percent


@every_bet
def test_chances_come_to_one(variant: Variant, bet: BetRule) -> None:
    odds = exact(variant)[bet.code]
    assert odds.win + odds.push + odds.lose == 1
    assert odds.rtp + odds.edge == 1


@every_bet
def test_every_prize_can_be_won(variant: Variant, bet: BetRule) -> None:
    assert {bet.pays(coup) for coup in EVERY_COUP} == {*(prize.pays for prize in bet.prizes), None}


@every_bet
def test_the_smallest_stake_returns_whole_units_and_never_more_than_the_paytable(
    variant: Variant, bet: BetRule
) -> None:
    for _, pays in bet.prizes:
        assert pays.payout(1) == int(1 + pays.fraction)
    assert return_at(variant, bet.code, 1) <= exact(variant)[bet.code].rtp


@every_bet
def test_a_side_bet_is_allowed_with_bets_that_need_no_other(variant: Variant, bet: BetRule) -> None:
    assert all(variant.bet(main).needs == () for main in bet.needs)


@every_bet
def test_only_what_pays_less_than_even_money_bears_a_commission(variant: Variant, bet: BetRule) -> None:
    assert not bet.commission or all(pays is PUSH or pays.fraction < 1 for _, pays in bet.prizes)


@every_variant
def test_exclusions_are_between_bets_of_the_game(variant: Variant) -> None:
    codes = {bet.code for bet in variant.bets}
    assert all(rivals <= codes and len(rivals) > 1 for rivals in variant.exclusions)


@every_variant
@every_language
def test_everything_has_a_name_in_every_language(variant: Variant, language: str) -> None:
    keys = {"name", "tagline"}
    keys |= {f"bet.{bet.code}" for bet in variant.bets}
    keys |= {f"when.{when.name}" for bet in variant.bets for when, _ in bet.prizes}
    assert all(variant.label(language, key).strip() for key in keys)


@every_game
def test_help_in_five_languages_is_five_texts(game: Game) -> None:
    assert len({help_text(game.slug, language) for language in LANGUAGES}) == len(LANGUAGES) == 5


@pytest.mark.parametrize(("slug", "language"), [("baccarat", "fr"), ("faro", "en"), ("../engine", "en")])
def test_there_is_no_other_help(slug: str, language: str) -> None:
    with pytest.raises(NoHelpText):
        help_text(slug, language)


def test_no_two_games_have_the_same_digest() -> None:
    assert len({variant.digest for variant in VARIANTS.values()}) == len(VARIANTS)
