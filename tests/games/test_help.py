"""Every game's help in every language has the required content, and no figure is written by hand."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from django.test import Client
from django.urls import reverse

from games.help.placeholders import controls
from games.models import Table
from games.variants import GAMES, LANGUAGES, help_text
from tests.builders import a_table
from tests.chemin.at_table import a_chemin_table
from tests.games.help_pages import Tag, help_without_tables
from tests.games.help_requirements import (
    LEAST_EXAMPLES,
    LEAST_QUESTIONS,
    LEAST_WORDS,
    MOST_WORDS,
    VOID,
    required_placeholders,
    required_sections,
)
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample

pytestmark = pytest.mark.django_db

PLACEHOLDER = re.compile(r"\{\{ (\S+) \}\}")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NUMBERED = re.compile(r"^\d+\.", re.MULTILINE)
ALLOWED = ("SHA-256",)
BOLD = re.compile(r"\*\*([^*]+)\*\*")

every_language = pytest.mark.parametrize("language", sample(LANGUAGES, 1))
every_game = pytest.mark.parametrize("slug", GAMES)


def prose_source(language: str, slug: str) -> str:
    """Return the Markdown without the parts that the engine fills in."""
    text = PLACEHOLDER.sub("", FENCE.sub("", help_text(slug, language)))
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    return text


def section(page: Tag, anchor: str) -> list[Tag]:
    """Return the elements between the heading with this anchor and the next one."""
    parts = [part for part in page.one("article").inside if isinstance(part, Tag)]
    starts = [place for place, part in enumerate(parts) if part.name == "h2"] + [len(parts)]
    for start, end in pairwise(starts):
        if parts[start].attributes["id"] == anchor:
            return parts[start + 1 : end]
    raise AssertionError(f"no section {anchor}")


def headings(parts: list[Tag]) -> list[Tag]:
    """Return the third-level headings of a section."""
    return [part for part in parts if part.name == "h3"]


@every_language
@every_game
class TestEveryHelp:
    def test_gli19_4_4_1_is_readable_without_an_account_and_says_its_version_and_date(
        self, language: str, slug: str
    ) -> None:
        said = next(
            tag.text for tag in help_without_tables(language, slug).all("p") if tag.attributes.get("id") == "version"
        )
        assert GAMES[slug].version in said
        assert str(GAMES[slug].changed.year) in said

    def test_gli19_4_4_4_tells_how_many_decks_it_is_played_with(self, language: str, slug: str) -> None:
        line = help_without_tables(language, slug).one("article").one("p", "decks").text
        assert re.findall(r"\d+", line)[0] == str(GAMES[slug].decks)

    def test_has_its_sections_in_order(self, language: str, slug: str) -> None:
        found = [tag.attributes["id"] for tag in help_without_tables(language, slug).one("article").all("h2")]
        assert tuple(found) == required_sections(slug)

    def test_leads_to_each_section_from_the_top(self, language: str, slug: str) -> None:
        page = help_without_tables(language, slug)
        titles = [(f"#{tag.attributes['id']}", tag.text) for tag in page.one("article").all("h2")]
        assert [(link.attributes["href"], link.text) for link in page.one("nav", "contents").all("a")] == titles

    def test_has_no_anchor_twice(self, language: str, slug: str) -> None:
        anchors = [tag.attributes["id"] for tag in help_without_tables(language, slug).all() if "id" in tag.attributes]
        assert len(anchors) == len(set(anchors))

    def test_goes_no_deeper_than_questions_and_examples(self, language: str, slug: str) -> None:
        levels = [
            tag.name for tag in help_without_tables(language, slug).one("article").all() if re.match(r"h\d$", tag.name)
        ]
        assert levels[0] == "h2"
        assert set(levels) == {"h2", "h3"}

    def test_has_a_length_one_reads(self, language: str, slug: str) -> None:
        assert LEAST_WORDS <= len(help_without_tables(language, slug).one("article").words()) <= MOST_WORDS

    def test_speaks_of_every_bet_button_and_table(self, language: str, slug: str) -> None:
        assert required_placeholders(slug) - set(PLACEHOLDER.findall(help_text(slug, language))) == set()

    def test_shows_worked_examples(self, language: str, slug: str) -> None:
        shown = section(help_without_tables(language, slug), "examples")
        examples = [tag for tag in shown if "example" in tag.classes]
        assert len(examples) >= LEAST_EXAMPLES
        assert len(headings(shown)) == len(examples)

    def test_answers_what_players_ask(self, language: str, slug: str) -> None:
        questions = headings(section(help_without_tables(language, slug), "questions"))
        assert len(questions) >= LEAST_QUESTIONS
        assert all(question.text.endswith("?") for question in questions)

    def test_says_what_happens_when_something_goes_wrong(self, language: str, slug: str) -> None:
        trouble = section(help_without_tables(language, slug), "trouble")
        assert len(headings(trouble)) >= 2
        assert VOID in " ".join(part.text for part in trouble)

    def test_has_no_figure_typed_by_hand(self, language: str, slug: str) -> None:
        typed = NUMBERED.sub("", prose_source(language, slug))
        assert re.findall(r".{0,20}\d.{0,20}", typed) == []

    def test_has_no_button_typed_by_hand(self, language: str, slug: str) -> None:
        typed = {bold.upper() for bold in BOLD.findall(prose_source(language, slug))}
        assert typed & {label.upper() for label in controls().values()} == set()

    def test_leads_to_the_tables_at_top_and_bottom(self, language: str, slug: str) -> None:
        page = help_without_tables(language, slug)
        links = [tag.attributes.get("href") for tag in page.all("a")]
        assert links.count(f"/{language}/") >= 2
        first, last = links.index(f"/{language}/"), len(links) - 1 - links[::-1].index(f"/{language}/")
        assert first < links.index("#aim") < last


@every_language
def test_the_list_of_help_has_every_game_in_a_sentence(language: str) -> None:
    answer = Client().get(f"/{language}/help/")
    assert answer.status_code == 200
    for slug, game in GAMES.items():
        assert f'href="/{language}/help/{slug}/"' in answer.text
        assert game.label(language, "name") in answer.text
        assert game.label(language, "tagline") in answer.text


@pytest.mark.sweep
def test_one_gets_through_all_help_from_game_to_game() -> None:
    seen, slug = [], next(iter(GAMES))
    while slug:
        seen.append(slug)
        following = [
            tag
            for tag in help_without_tables("en", slug).one("nav", "neighbours").all("a")
            if tag.attributes["rel"] == "next"
        ]
        slug = following[0].attributes["href"].split("/")[-2] if following else ""
    assert seen == list(GAMES)


@every_language
def test_help_is_reached_from_the_foot_of_the_lobby(language: str) -> None:
    assert f'href="/{language}/help/"' in Client().get(f"/{language}/").text.partition("<footer")[2]


def test_an_unknown_game_has_no_rules() -> None:
    assert Client().get(reverse("rules", args=["roulette"])).status_code == 404


@pytest.mark.sweep
@every_game
def test_a_game_without_a_table_says_so(slug):
    a_table()
    says_so = "There is no table of this game at the moment." in Client().get(f"/en/help/{slug}/").text
    assert says_so == (slug != "baccarat")


@pytest.mark.sweep
def test_a_table_whose_name_resembles_a_placeholder_keeps_it():
    """Staff choose table names. Such a name was once read as a placeholder and made the page fail."""
    table = a_chemin_table().table
    update_as_owner(Table.objects.filter(pk=table.pk), name="{{ payout }} <b>")
    page = Client().get("/en/help/chemin_de_fer/")
    assert page.status_code == 200
    assert "{{ payout }} &lt;b&gt;" in page.text


@every_language
def test_the_help_of_a_table_with_others_says_what_they_see(language: str) -> None:
    said = {slug: Client().get(f"/{language}/help/{slug}/").text.lower() for slug in GAMES}
    assert {slug for slug, page in said.items() if "chat" in page.partition('<section class="panel">')[2]} == {
        "no_commission",
        "pairs",
        "chemin_de_fer",
    }
    assert {slug for slug, page in said.items() if "squeeze" in page} == {"no_commission", "pairs"}
