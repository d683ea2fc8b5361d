"""Every page in every state: nothing axe-core finds, and nothing cut off, overlapping, too wide or too small to press.

The pages are those of the matrix and the states of `tests.sights`, in one house that serves them all.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pytest_django import DjangoDbBlocker

from tests.harness.gallery import Gallery, open_gallery, resize, set_theme
from tests.harness.web import WebServer
from tests.sights import Sight, sights

pytestmark = pytest.mark.browser

TESTS = Path(__file__).parents[1]
AXE = (TESTS / "vendor" / "axe.min.js").read_text()
LAYOUT = (TESTS / "harness" / "layout.js").read_text()

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EVERYTHING = {"runOnly": {"type": "tag", "values": STANDARDS}}
COLOURS = {  # which need no style sheet fetched a second time
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "preload": False,
}
OTHER_THEMES = ("light", "contrast")
LONG_LANGUAGES = ("de", "ro")
# What long words break, they break where it is narrow or where most stands side by side.
LONG_SIZES = {"wide", "phone"}

NAMES = {sight.name for sight in sights()}
# Staff see what visitors and players see, under a header of their own: that is looked at in the lobby.
ALIKE = {name for name in NAMES if name.endswith(" as operator") and name.replace("operator", "anonymous") in NAMES}
LOOKED_AT = [sight for sight in sights() if sight.name not in ALIKE - {"lobby as operator"}]
SIGHTS = [pytest.param(sight, id=sight.name) for sight in LOOKED_AT]
TRANSLATED = [
    pytest.param(sight, language, id=f"{sight.name} in {language}")
    for sight in LOOKED_AT
    if not sight.name.startswith("staff")
    for language in LONG_LANGUAGES
]


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
    """What axe-core finds: the rule, and an element that breaks it."""
    found = page.evaluate("options => axe.run(document, { resultTypes: ['violations'], ...options })", options)
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def faults_of_themes(page: Page) -> Iterator[str]:
    """Everything in the house's own light, what has to do with colour in the others."""
    page.evaluate(AXE)
    yield from complaints(page, EVERYTHING)
    for theme in OTHER_THEMES:
        set_theme(page, theme)
        yield from (f"{theme}: {complaint}" for complaint in complaints(page, COLOURS))


def faults_of_sizes(page: Page, sizes: tuple[str, ...]) -> Iterator[str]:
    """What is wrong with the layout at each size of the window."""
    for size in sizes:
        resize(page, size)
        yield from (f"{size}: {fault}" for fault in page.evaluate(LAYOUT))


def expect_none(faults: Iterator[str]) -> None:
    """Fail with all faults at once."""
    found = list(faults)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("sight", SIGHTS)
def test_is_accessible_and_fits_every_screen(gallery: Gallery, sight: Sight):
    page = gallery.open(sight)
    expect_none(chain(faults_of_themes(page), faults_of_sizes(page, sight.sizes)))


@pytest.mark.parametrize(("sight", "language"), TRANSLATED)
def test_fits_every_screen_in_long_languages(gallery: Gallery, sight: Sight, language: str):
    sizes = tuple(size for size in sight.sizes if size in LONG_SIZES) or sight.sizes
    page = gallery.open(sight, language, sizes[0])
    expect_none(faults_of_sizes(page, sizes))


def test_an_empty_lobby_is_accessible_and_fits_every_screen(page: Page, web_server: WebServer):
    page.emulate_media(reduced_motion="reduce")
    page.goto("/en/")
    expect_none(chain(faults_of_themes(page), faults_of_sizes(page, ("wide", "phone"))))
