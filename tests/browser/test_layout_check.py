"""The check of layouts finds every kind of fault it names, and nothing on a page that has none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.harness.browser import PHONE

pytestmark = pytest.mark.browser

LAYOUT = Path(__file__).parents[1].joinpath("harness", "layout.js").read_text()
WORDS = "Far too many words for so small a box"

FAULTS = {
    "the page is wider than the window": "<div style='width: 500px; height: 10px'></div>",
    "scrolls sideways": "<div style='width: 100px; overflow-x: auto'><div style='width: 200px'>wide</div></div>",
    "text is cut off": f"<p style='width: 80px; overflow: hidden; white-space: nowrap'>{WORDS}</p>",
    "text is cut off below": f"<p style='width: 80px; height: 30px; overflow: hidden'>{WORDS}</p>",
    "text sticks out of its box": f"<p style='width: 80px; white-space: nowrap'>{WORDS}</p>",
    "text sticks out of its box below": f"<p style='width: 80px; height: 30px'>{WORDS}</p>",
    "control is small": "<button style='width: 44px; min-height: 30px; height: 30px'>Go</button>",
    "control is small, a link of its own": "<p><a href='#'>Further</a></p>",
    "control is small, a box without a label": "<input type='checkbox' style='width: 20px; height: 20px'>",
    "controls overlap": "<button>One</button> <button style='margin-left: -30px'>Two</button>",
    "controls overlap, in what scrolls": (
        "<div style='height: 88px; overflow-y: auto'><button>One</button> "
        "<button style='margin-left: -30px'>Two</button></div>"
    ),
    "controls overlap, past what does not hold them": (
        "<div style='height: 50px; overflow: hidden'><button style='position: absolute; top: 30px'>One</button></div> "
        "<button>Two</button>"
    ),
}
SOUND = f"""
  <p>A sentence with <a href="#">a link</a> in it. {WORDS} that may go on in another line.</p>
  <p style="width: 80px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">{WORDS}</p>
  <label><input type="checkbox"> All of this line may be pressed</label>
  <span style="position: absolute; width: 1px; overflow: hidden; clip-path: inset(50%)">For screen readers</span>
  <details><summary>More</summary><p style="width: 20px; white-space: nowrap">{WORDS}</p></details>
  <button style="width: 200px">One</button> <button style="margin-left: -100px">On</button>
  <div style="height: 50px; overflow-y: auto"><p style="height: 20px">Said</p><button>Half away</button></div>
  <button>Say</button>
  <p><button><svg width="10" height="10"></svg></button></p>
  <table><tr><th rowspan="2">{WORDS}</th><td>a</td></tr><tr><td>b</td></tr></table>
"""
FRAME = """<!doctype html><meta name="viewport" content="width=device-width">
  <style> body { margin: 0; font: 16px/1.5 sans-serif } button, summary, label { min-height: 44px; min-width: 44px }
          label, summary { display: block; line-height: 44px } </style>
  <body>"""


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[Page]:
    """A phone that no house serves, for all tests here."""
    with browser.new_page(viewport=PHONE, has_touch=True, is_mobile=True) as page:
        yield page


@pytest.mark.parametrize("fault", FAULTS)
def test_finds_the_fault_and_no_other(phone: Page, fault: str):
    phone.set_content(FRAME + FAULTS[fault])
    (found,) = phone.evaluate(LAYOUT)
    kind, _, _ = found.partition(":")
    assert fault.startswith(kind)


def test_finds_nothing_on_a_sound_page(phone: Page):
    phone.set_content(FRAME + SOUND)
    assert phone.evaluate(LAYOUT) == []


def test_checks_only_what_is_open_on_top(phone: Page):
    phone.set_content(FRAME + "<button style='min-height: 20px'>Under</button><dialog><p>Over</p></dialog>")
    phone.evaluate("document.querySelector('dialog').showModal()")
    assert phone.evaluate(LAYOUT) == []
