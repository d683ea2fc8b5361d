"""Placeholders and example blocks of help texts are rendered correctly, or refused."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from games.engine.bets import Variant
from games.help import BadExample, HelpTextError, UnknownPlaceholder, page
from games.help.examples import chemin_example, deal_example
from games.help.placeholders import placeholders_of
from games.variants import GAMES, LANGUAGES, VARIANTS
from tests.games.help_pages import parsed
from tests.harness.sweeps import sample

A_BANKER_WIN = "cards: 2H 3C 3D 2S 6C 2D\nstakes: banker=20 tie=5"
A_BANCO = "bank: 300\nstakes: 200 100\ncall: banco\npunter: 9H 4D 2C\nbanker: KS 6C"


def printed(slug: str, text: str, language: str = "en") -> str:
    """Render a help text as HTML."""
    with override(language):
        return page._printed(GAMES[slug], text, language)[1]


@pytest.mark.parametrize(
    ("slug", "key", "says"),
    [
        ("baccarat", "pays:tie", "8:1"),
        ("baccarat", "return:banker", "98.99%"),
        ("baccarat", "edge:tie", "15.75%"),
        ("baccarat", "cost:player", "£1.29"),
        ("baccarat", "headline", "93.985%"),
        ("baccarat", "decks_number", "1"),
        ("pairs", "shoe_cards", "416"),
        ("pairs", "deck_cards", "52"),
        ("pairs", "minimum_return", "75%"),
        ("pairs", "idle_minutes", "9"),
        ("no_commission", "bet:super_6", "Super 6"),
        ("no_commission", "pays:banker.banker_wins_with_six", "1:2"),
        ("no_commission", "pays:perfect_pair", "200:1 / 25:1"),
        ("chemin_de_fer", "tax", "5%"),
        ("chemin_de_fer", "cut_cards", "14"),
        ("chemin_de_fer", "call:banco_avec_la_table", "Banco avec la table"),
        ("chemin_de_fer", "chance:banker", "46.15%"),
        ("chemin_de_fer", "gain:punter", "−1.51%"),
        ("chemin_de_fer", "gain:banker", "−0.79%"),
        ("baccarat", "money:100", "£100.00"),
        ("baccarat", "money:0.50", "£0.50"),
    ],
)
def test_a_placeholder_prints_its_figure(slug: str, key: str, says: str) -> None:
    assert parsed(printed(slug, f"It says {{{{ {key} }}}}.")).text == f"It says {says}."


@pytest.mark.parametrize(
    ("language", "button", "meter"),
    [
        ("sv", "Satsa igen", "Saldo"),
        ("da", "Sats igen", "Saldo"),
        ("ro", "Repetă", "Sold"),
        ("de", "Wiederholen", "Guthaben"),
    ],
)
def test_buttons_and_meters_are_called_what_the_screen_calls_them(language: str, button: str, meter: str) -> None:
    text = parsed(printed("baccarat", "{{ control:rebet }}, {{ meter:balance }}", language)).text
    assert text.replace("\u00ad", "") == f"{button}, {meter}"


@pytest.mark.parametrize(
    "key",
    [
        "{{ roulette }}", "{{ pays:zero }}", "{{ control:spin }}", "{{ meter:speed }}", "{{ page:bar }}",
        "{{ game:faro }}", "{{ money:much }}", "{{ money:0.001 }}", "{{ example:1.paid.tie }}",
        "{{paytable}}", "{{ Paytable }}", "{{ }}",
        "A table {{ decks }} inside a sentence.",
    ],
)  # fmt: skip
def test_an_unknown_placeholder_is_an_error(key: str) -> None:
    for slug in GAMES:
        with pytest.raises(UnknownPlaceholder):
            printed(slug, key)


@pytest.mark.parametrize(
    ("slug", "key"), [("baccarat", "tax"), ("baccarat", "call:banco"), ("chemin_de_fer", "headline")]
)
def test_a_game_has_no_placeholders_of_the_other_kind(slug: str, key: str) -> None:
    with pytest.raises(UnknownPlaceholder):
        printed(slug, f"{{{{ {key} }}}}")


@pytest.mark.parametrize("slug", GAMES)
def test_every_game_can_speak_of_every_button(slug: str) -> None:
    marks = placeholders_of(GAMES[slug], ())
    assert {"control", "meter", "page", "game", "money", "example"} <= marks.keys()


def test_a_heading_needs_an_anchor() -> None:
    with pytest.raises(HelpTextError):
        printed("baccarat", "## Aim")
    assert '<h2 id="aim">Aim</h2>' in printed("baccarat", "## Aim {#aim}")


def test_html_of_an_author_is_only_text() -> None:
    assert "<script>" not in printed("baccarat", "<script>alert(1)</script>")


def test_a_deal_is_dealt_by_the_rules_and_settled() -> None:
    example = deal_example(VARIANTS["baccarat"], A_BANKER_WIN, "en")
    assert example.figures["score.banker"] == "5:7"
    assert example.figures["paid.banker"] == "£39.00"
    assert example.figures["won.banker"] == "£19.00"
    assert example.figures["paid.tie"] == "£0.00"
    assert "won.tie" not in example.figures


@pytest.mark.parametrize(
    "source",
    [
        "cards: 2H 3C 3D 2S 6C\nstakes: banker=20",
        "cards: 2H 3C 3D 2S 6C 2D 9H\nstakes: banker=20",
        "cards: 2H 3C 3D 2S 6C XX\nstakes: banker=20",
        "cards: 2H 3C 3D 2S 6C 2D\nstakes: zero=20",
        "cards: 2H 3C 3D 2S 6C 2D\nstakes: banker=much",
        "cards: 2H 3C 3D 2S 6C 2D\nstakes: banker=0.001",
        "cards: 2H 3C 3D 2S 6C 2D\nstakes:",
        "cards: 2H 3C 3D 2S 6C 2D",
        "cards: 2H 3C 3D 2S 6C 2D\nstakes: banker=20\nresult: 7",
    ],
)
def test_a_deal_that_cannot_be_is_refused(source: str) -> None:
    with pytest.raises(BadExample):
        deal_example(VARIANTS["baccarat"], source, "en")


def test_stakes_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(BadExample):
        deal_example(VARIANTS["golden"], "cards: 9S 4H KD 3C\nstakes: player=10 banker=10", "en")


def test_a_coup_is_played_at_a_table_of_the_real_rules() -> None:
    figures = chemin_example(A_BANCO, "en").figures
    assert figures["total.punter"] == "5"
    assert figures["total.banker"] == "6"
    assert (figures["risk"], figures["tax"], figures["bank"]) == ("£300.00", "£15.00", "£585.00")
    assert (figures["staked.1"], figures["paid.2"]) == ("£200.00", "£0.00")


@pytest.mark.parametrize(
    "source",
    [
        A_BANCO.replace("200 100", "100 200"),  # the others may stake at most half
        A_BANCO.replace("200 100", "200 50"),  # the caller covers the rest
        A_BANCO.replace("banco", "bingo"),
        A_BANCO.replace(" 2C", ""),  # on three the rule requires a card
        A_BANCO.replace("KS 6C", "KS 6C 2D"),  # and on six against a two it requires standing
        A_BANCO.replace("9H 4D 2C", "9H 9D 2C"),  # nobody draws after a natural
        A_BANCO.replace("9H 4D 2C", "9H"),
        A_BANCO.replace("bank: 300\n", ""),
        A_BANCO.replace("300", "lots"),
    ],
)
def test_a_coup_that_cannot_be_is_refused(source: str) -> None:
    with pytest.raises(BadExample):
        chemin_example(source, "en")


@pytest.mark.parametrize(("slug", "kind"), [("baccarat", "chemin"), ("chemin_de_fer", "deal"), ("baccarat", "python")])
def test_only_examples_of_the_game_itself_are_dealt(slug: str, kind: str) -> None:
    with pytest.raises(HelpTextError):
        printed(slug, f"```{kind}\n{A_BANKER_WIN}\n```")


@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
def test_names_of_games_and_bets_are_the_games_own(language: str) -> None:
    for slug, game in GAMES.items():
        assert game.label(language, "name") in parsed(printed("baccarat", f"{{{{ game:{slug} }}}}", language)).text
        if isinstance(game, Variant):
            for bet in game.bets:
                text = parsed(printed(slug, f"{{{{ bet:{bet.code} }}}}", language)).text
                assert text == game.label(language, f"bet.{bet.code}")
