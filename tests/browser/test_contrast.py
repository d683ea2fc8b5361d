"""Every pair of colours used together can be distinguished in every theme, on either cloth. Chromium says what
the values of the names in `tokens.css` are. axe-core checks their use on pages (`tests.browser.test_every_page`).
"""

from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page

from tests.harness.browser import NewContext

pytestmark = pytest.mark.browser

SHEET = Path(settings.BASE_DIR, "static", "css", "tokens.css").read_text(encoding="utf-8")
TEXT = 4.5  # WCAG 2.2, 1.4.3: contrast of text with its background
SHAPE = 3.0  # WCAG 2.2, 1.4.11: of what shows a control, its state, or a figure
HIGH = 7.0  # 1.4.6
PAIRS = [
    (TEXT, "ink ink-glow surface surface-raised well", "text text-dim"),
    (TEXT, "ink ink-glow surface surface-raised", "link brass-bright danger good"),
    (TEXT, "danger-ground", "text danger"),
    (TEXT, "brass", "on-brass"),
    (TEXT, "felt-lit felt felt-deep", "on-felt on-felt-dim player banker tie"),
    (TEXT, "player-cloth banker-cloth tie-cloth", "on-felt"),
    (TEXT, "felt-brass", "on-felt-brass"),
    (TEXT, "paper", "card-red card-black card-blue card-green"),
    (TEXT, "chip-1 chip-2 chip-3 chip-4 chip-5 chip-6 chip-7 chip-8 chip-9", "on-chip"),
    (SHAPE, "ink ink-glow surface surface-raised well", "line-strong brass focus"),
    (SHAPE, "felt-lit felt felt-deep", "felt-brass felt-focus"),
    (SHAPE, "surface", "data-1 data-2 data-3 data-4 data-player data-banker data-tie"),
    (TEXT, "data-2 data-3 data-player data-banker data-tie", "surface"),
]
MORE_IN_HIGH_CONTRAST = [(HIGH, "ink", "text-dim"), (HIGH, "felt", "on-felt-dim"), (HIGH, "surface", "line-strong")]
NAMES = sorted({name for _, grounds, over in PAIRS for name in f"{grounds} {over}".split()})
COLOURS_OF = """names => Object.fromEntries(names.map(name => {
    document.body.style.color = `var(--${name})`;
    return [name, getComputedStyle(document.body).color.match(/[\\d.]+/g).map(Number)];
}))"""

MONEY = ("real", "free")
CLOTHS = (*MONEY, "blue", "burgundy", "light", "contrast")
Preference = Literal["more", "no-preference"]
Theme = tuple[str, Preference]
# The theme that was chosen, and whether the device asks for more contrast.
DARK: Theme = ("dark", "no-preference")
LIGHT: Theme = ("light", "no-preference")
CONTRAST: Theme = ("contrast", "no-preference")
MORE: Theme = ("dark", "more")
MORE_LIGHT: Theme = ("light", "more")


def colours(page: Page, theme: str, contrast: Preference, cloth: str) -> dict[str, list[float]]:
    """Return the colours by their names, in a theme on the cloth of real or free money, or on a chosen one."""
    page.emulate_media(contrast=contrast)
    root, money = f'data-theme="{theme}"', cloth if cloth in MONEY else "free"
    if cloth not in MONEY:
        root += f' data-cloth="{cloth}"'
    page.set_content(f'<html {root}><style>{SHEET}</style><body class="money--{money}"></body></html>')
    found: dict[str, list[float]] = page.evaluate(COLOURS_OF, NAMES)
    assert all(f"--{name}: " in SHEET and len(parts) == 3 for name, parts in found.items())  # none is translucent
    return found


def luminance(colour: list[float]) -> float:
    """Relative luminance, 0 to 1, as WCAG 2.2 defines it."""
    parts = [value / 255 for value in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast_of(one: list[float], other: list[float]) -> float:
    """Contrast of two colours by WCAG 2.2: 1 for equal ones, 21 for black and white."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def faint(found: dict[str, list[float]], pairs: list[tuple[float, str, str]]) -> dict[str, float]:
    """Return the pairs that have too little contrast."""
    return {
        f"{over} on {ground}": round(contrast, 2)
        for least, grounds, names in pairs
        for ground, over in product(grounds.split(), names.split())
        if (contrast := contrast_of(found[over], found[ground])) < least
    }


@pytest.fixture
def context(new_context: NewContext) -> BrowserContext:
    """A browser without a house: the style sheet is all it needs."""
    return new_context()


def test_every_pair_can_be_distinguished(page: Page) -> None:
    found = {
        (*theme, cloth): faint(
            colours(page, *theme, cloth), PAIRS + ([] if theme in (DARK, LIGHT) else MORE_IN_HIGH_CONTRAST)
        )
        for theme, cloth in product((DARK, LIGHT, CONTRAST, MORE, MORE_LIGHT), CLOTHS)
    }
    assert {where: pairs for where, pairs in found.items() if pairs} == {}


def test_high_contrast_is_the_same_whether_chosen_or_asked_for_by_the_device(page: Page) -> None:
    for cloth in CLOTHS:
        assert colours(page, "contrast", "no-preference", cloth) == colours(page, "dark", "more", cloth), cloth


def test_contrast_is_measured_as_wcag_defines_it() -> None:
    black, white, grey = [0.0] * 3, [255.0] * 3, [118.0] * 3
    assert (contrast_of(black, white), contrast_of(white, white)) == (21, 1)
    assert round(contrast_of(grey, white), 2) == 4.54
