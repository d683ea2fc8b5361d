"""Take screenshots of every page and state at two widths, dark and light, into `var/screenshots/`:
`make screenshots`.

It uses the house of the tests: its own database and server, data on every page, removed afterwards.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()

from playwright.sync_api import Page, sync_playwright  # noqa: E402  (needs Django set up, as all below do)

from ops import embedded  # noqa: E402
from tests.harness.browser import FLAGS, find_chromium  # noqa: E402
from tests.harness.dealer import serving  # noqa: E402
from tests.harness.gallery import Gallery, open_gallery, resize, set_theme  # noqa: E402
from tests.sights import SIZES as ALL_SIZES  # noqa: E402
from tests.sights import Sight, sights  # noqa: E402

FOLDER = Path(__file__).resolve().parents[1] / "var" / "screenshots"
SIZES = ("wide", "phone")
THEMES = ("dark", "light")
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sabot: every page</title>
<style>body { margin: 2rem; font: 1rem/1.5 sans-serif } section { display: flex; gap: 1rem; align-items: start }
a { flex: 1 1 0 } a.wide { flex-grow: 3 } img { width: 100%; border: 1px solid #888 }</style>
<h1>Every page</h1>
"""


def main() -> None:
    """Take all screenshots and write the page that shows them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    try:
        with (
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS) as browser,
            tempfile.TemporaryDirectory() as folder,
            serving(Path(folder)),
            open_gallery(browser, Path(folder, "web.log")) as gallery,
        ):
            (FOLDER / "index.html").write_text(HEAD + "".join(_show(gallery, sight) for sight in sights()))
    finally:
        embedded.leave(Path(os.environ["SABOT_TEST_VAR"]))
    print(f"{FOLDER}/index.html")


def _show(gallery: Gallery, sight: Sight) -> str:
    page = gallery.open(sight)
    shown = "".join(
        f'<a class="{size}" href="{name}"><img src="{name}" alt="{size}, {theme}" loading="lazy"></a>'
        for size, theme, name in _photograph(page, sight)
    )
    return f"<h2>{escape(sight.name)}</h2><section>{shown}</section>\n"


def _photograph(page: Page, sight: Sight) -> Iterator[tuple[str, str, str]]:
    """Take the screenshots of a sight. Yield size, theme and file name of each."""
    for size in (size for size in SIZES if size in sight.sizes):
        resize(page, size)
        for theme in THEMES:
            set_theme(page, theme)
            name = f"{sight.name.replace(':', '').replace(' ', '-')}-{ALL_SIZES[size][0]}-{theme}.png"
            page.screenshot(path=FOLDER / name, full_page=True)
            yield size, theme, name


if __name__ == "__main__":
    main()
