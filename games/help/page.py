"""Renders a game's Markdown help: sections with anchors, placeholders filled in, examples dealt."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import override

from games.engine.bets import Shape, Variant
from games.help.examples import Example, chemin_example, deal_example
from games.help.figures import HelpTextError, UnknownPlaceholder
from games.help.placeholders import Placeholder, placeholders_of
from games.help.tables import CHEMIN_TABLES, tables_of
from games.labels import FALLBACK
from games.variants import GAMES, LANGUAGES, help_text
from games.variants.common import Game

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BLOCK = re.compile(r"<p>\{\{ ([a-z_]+) \}\}</p>")
PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}")
INSIDE = re.compile(r" ([a-z_]+)(?::([a-z0-9_.]+))? ")
HEADING = re.compile(r"(</?h)([2-5])\b")
PANEL_PREFIX = "rules-"  # prefix of anchors if the help is part of another page
SECTION = re.compile(r"(.+) \{#([a-z-]+)\}")


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # slow to import, and every process imports this module

    return MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True)
class Section:
    """A heading of the page with its anchor."""

    anchor: str
    title: SafeString


@dataclass(frozen=True)
class GameLine:
    """A game in a list."""

    slug: str
    name: str
    tagline: str


@dataclass(frozen=True)
class RulesPage:
    """A game's help, ready to print."""

    slug: str
    name: str
    version: str
    changed: date
    sections: tuple[Section, ...]
    body: SafeString
    before: GameLine | None
    after: GameLine | None
    has_others: bool  # other people are at its tables
    may_squeeze: bool  # and may turn the cards of a hand


def rules_page(game: Game, language: str) -> RulesPage:
    """Return the help of *game* in *language*, or in English if not available.

    Raises HelpTextError.
    """
    spoken = language if language in LANGUAGES else FALLBACK
    with override(spoken):
        sections, body = _printed(game, help_text(game.slug, spoken), spoken)
    lines = game_lines(spoken)
    place = [line.slug for line in lines].index(game.slug)
    return RulesPage(
        slug=game.slug,
        name=game.label(spoken, "name"),
        version=game.version,
        changed=game.changed,
        sections=sections,
        body=body,
        before=lines[place - 1] if place else None,
        after=lines[place + 1] if place + 1 < len(lines) else None,
        has_others=not isinstance(game, Variant) or game.shape is Shape.SHARED,
        may_squeeze=isinstance(game, Variant) and game.shape is Shape.SHARED,
    )


def rules_panel(game: Game, language: str) -> RulesPage:
    """Return the help for use inside another page.

    Headings are one level lower, anchors have a prefix, and links open in a new tab.
    """
    page = rules_page(game, language)
    sections = tuple(Section(f"{PANEL_PREFIX}{section.anchor}", section.title) for section in page.sections)
    lower = HEADING.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", page.body)
    anchored = lower.replace('<h3 id="', f'<h3 id="{PANEL_PREFIX}').replace('<a href="#', f'<a href="#{PANEL_PREFIX}')
    body = anchored.replace('<a href="/', '<a target="_blank" href="/')
    return replace(page, sections=sections, body=mark_safe(body))  # noqa: S308  (the input is safe)


def game_lines(language: str) -> tuple[GameLine, ...]:
    """Return every game in *language*, or in English if not available."""
    spoken = language if language in LANGUAGES else FALLBACK
    return tuple(
        GameLine(slug, game.label(spoken, "name"), game.label(spoken, "tagline")) for slug, game in GAMES.items()
    )


def _printed(game: Game, text: str, language: str) -> tuple[tuple[Section, ...], SafeString]:
    tokens = _markdown().parse(text)
    examples = _deal_examples(tokens, game, language)
    headings = _name_sections(tokens)
    placeholders = placeholders_of(game, examples)
    tables = tables_of(game) if isinstance(game, Variant) else CHEMIN_TABLES

    html, pieces, end = _markdown().renderer.render(tokens, _markdown().options, {}), list[str](), 0
    for found in BLOCK.finditer(html):
        if table := tables.get(found[1]):  # the name of a table can look like a placeholder
            pieces += [_filled(html[end : found.start()], placeholders, language), table(language)]
            end = found.end()
    body = "".join([*pieces, _filled(html[end:], placeholders, language)])
    sections = tuple(Section(anchor, mark_safe(_filled(title, placeholders, language))) for anchor, title in headings)  # noqa: S308  (as below)
    return sections, mark_safe(body)  # noqa: S308  (Markdown with raw HTML switched off)


def _filled(html: str, placeholders: Mapping[str, Placeholder], language: str) -> str:
    """Fill in the placeholders. Raises UnknownPlaceholder."""

    def fill(found: re.Match[str]) -> str:
        inside = INSIDE.fullmatch(found[1])
        if inside is None or inside[1] not in placeholders:
            raise UnknownPlaceholder(found[0])
        return conditional_escape(placeholders[inside[1]](inside[2] or "", language))

    return PLACEHOLDER.sub(fill, html)


def _deal_examples(tokens: "list[Token]", game: Game, language: str) -> list[Example]:
    """Replace every fenced block by the example it describes. Raises BadExample."""
    examples = []
    for token in tokens:
        if token.type == "fence":
            if isinstance(game, Variant) and token.info == "deal":
                example = deal_example(game, token.content, language)
            elif not isinstance(game, Variant) and token.info == "chemin":
                example = chemin_example(token.content, language)
            else:
                raise HelpTextError(f"{game.slug} has no examples of the kind {token.info!r}")
            token.type, token.content = "html_block", example.html
            examples.append(example)
    return examples


def _name_sections(tokens: "list[Token]") -> list[tuple[str, str]]:
    """Set the anchor of every second-level heading; return anchors and titles.

    Raises HelpTextError if a heading has no anchor.
    """
    headings = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            found = SECTION.fullmatch(inline.content)
            if found is None:
                raise HelpTextError(f"the heading {inline.content!r} has no anchor, such as {{#aim}}")
            title, anchor = found[1], found[2]
            opening.attrSet("id", anchor)
            inline.content, inline.children = title, _markdown().parseInline(title)[0].children
            headings.append((anchor, title))
    return headings
