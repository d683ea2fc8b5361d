"""Every page in every state: nothing axe-core finds, and nothing cut off, overlapping, too wide or too small to press.

The pages are those of the matrix and the states of `tests.sights`, in one house that serves them all. `make test`
sees each page once, at the width of a desktop and of a phone, in one theme, in German, those of players in a second
language too, and some of the states and of the other roles that see a page, other ones each day; axe-core looks at a
sixteenth of the pages each day.
`make test-all` sees everything.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pytest_django import DjangoDbBlocker

from tests.harness.gallery import Gallery, open_gallery, resize, set_theme
from tests.harness.sweeps import LANGUAGES, LONGEST_LANGUAGE, SECOND_LANGUAGE, drawn, sweep
from tests.harness.web import WebServer
from tests.sights import STATES, Sight, sights

pytestmark = pytest.mark.browser

TESTS = Path(__file__).parents[1]
AXE = (TESTS / "vendor" / "axe.min.js").read_text()
LAYOUT = (TESTS / "harness" / "layout.js").read_text()

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EVERYTHING = {"runOnly": {"type": "tag", "values": STANDARDS}}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
# These rules read no style sheets, and the tests do not read axe-core's names of elements: both would take long.
FAST = {"resultTypes": ["violations"], "preload": False, "selectors": False}
OTHER_THEMES = ("light", "contrast")
USUAL_SIZES = {"wide", "phone"}

NAMES = {sight.name for sight in sights()}
# Staff see what visitors and players see, under a different header, which is checked in the lobby.
ALIKE = {name for name in NAMES if name.endswith(" as operator") and name.replace("operator", "anonymous") in NAMES}
VISITED = [sight for sight in sights() if sight.name not in ALIKE - {"lobby as operator"}]


def languages_of(sight: Sight) -> tuple[str, ...]:
    """Return the languages a sight is in; the first one is that in which axe-core looks at it."""
    return (LONGEST_LANGUAGE, *(language for language in LANGUAGES if language != LONGEST_LANGUAGE))


# One reader of each page, by its name: the player if there is one.
ONCE = {sight.name.partition(" as ")[0]: sight for sight in VISITED if sight not in STATES}
ONCE |= {sight.name.removesuffix(" as player"): sight for sight in VISITED if sight.name.endswith(" as player")}


OTHERS = [sight for sight in VISITED if sight not in ONCE.values()]
FOR_AXE = drawn(list(ONCE.values()), len(ONCE) // 16)
SEEN_TODAY = (*ONCE.values(), *drawn(OTHERS, 10))


def is_usual(visit: tuple[Sight, str]) -> bool:
    """Return whether `make test` makes this visit: every page in German, those of players in a second language too."""
    sight, language = visit
    if language == LONGEST_LANGUAGE:
        return sight in SEEN_TODAY
    return language == SECOND_LANGUAGE and sight in ONCE.values() and not sight.name.startswith("staff")


# The visits of one person follow each other, so that the browser rarely has to log out and in again.
IN_TURN = sorted(VISITED, key=lambda sight: sight.name.partition(" as ")[2])
VISITS = [(sight, language) for sight in IN_TURN for language in languages_of(sight)]
NUMBERS = {visit: number for number, visit in enumerate(filter(is_usual, VISITS))}


def usual_sizes(sight: Sight, language: str) -> tuple[str, ...]:
    """Return the sizes of `make test`. Every other page is loaded at the width of a phone and widened, so each begins
    at the size with which the one before ended; but axe-core sees the page of a desktop.
    """
    sizes = tuple(size for size in sight.sizes if size in USUAL_SIZES) or sight.sizes
    is_turned = NUMBERS[sight, language] % 2 and sight.show is Sight.show and sight not in FOR_AXE
    return sizes[::-1] if is_turned else sizes


@pytest.fixture(scope="module")
def gallery(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gallery]:
    """One house for all tests here."""
    log = tmp_path_factory.mktemp("gallery") / "web.log"
    with django_db_blocker.unblock(), open_gallery(browser, log) as opened:
        yield opened


def complaints(page: Page, options: dict[str, Any]) -> list[str]:
    """Return the findings of axe-core: the rule, and an element that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)  # a page in a frame has its own window
    found = page.evaluate("options => axe.run(document, options)", FAST | options)
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def faults_of_themes(page: Page, others: tuple[str, ...] = OTHER_THEMES) -> Iterator[str]:
    """Yield the findings of all rules in the default theme, and of the rules about colour in the others."""
    page.evaluate("scrollTo(0, 0)")  # what is under the header there cannot be pressed, which is no fault
    yield from complaints(page, EVERYTHING)
    for theme in others:
        set_theme(page, theme)
        yield from (f"{theme}: {complaint}" for complaint in complaints(page, COLOURS))


def faults_of_sizes(page: Page, sizes: tuple[str, ...]) -> Iterator[str]:
    """Return the layout faults at each size of the window."""
    for size in sizes:
        resize(page, size)
        yield from (f"{size}: {fault}" for fault in page.evaluate(LAYOUT))


def expect_none(faults: Iterator[str]) -> None:
    """Fail with all faults at once."""
    found = list(faults)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("sight", "language"), sweep(VISITS, is_usual), ids=lambda value: getattr(value, "name", value)
)
def test_is_accessible_and_fits_every_screen(gallery: Gallery, sight: Sight, language: str, is_sweep: bool):
    """One visit: no script fails and no policy is broken, axe-core finds nothing, and each size of the window fits."""
    sizes = sight.sizes if is_sweep else usual_sizes(sight, language)
    page = gallery.open(sight, language, sizes[0])
    is_for_axe = language == languages_of(sight)[0] and (is_sweep or sight in FOR_AXE)
    faults = faults_of_themes(page, OTHER_THEMES if is_sweep else ()) if is_for_axe else iter(())
    expect_none(chain(faults, faults_of_sizes(page, sizes), gallery.complaints()))


@pytest.mark.turns(3)
def test_an_empty_lobby_is_accessible_and_fits_every_screen(page: Page, web_server: WebServer):
    page.emulate_media(reduced_motion="reduce")
    page.goto("/en/")
    expect_none(chain(faults_of_themes(page), faults_of_sizes(page, ("wide", "phone"))))
