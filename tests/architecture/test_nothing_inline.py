"""Pages carry no style and no handler of their own and load nothing from another host: what the strict policy would
refuse is not there to begin with.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SERVED = [*TEMPLATES, *sorted((ROOT / "static").rglob("*.css")), *sorted((ROOT / "static").rglob("*.js"))]
NAMESPACES = ("http://www.w3.org/",)  # names, not addresses: nothing is loaded from them

INLINE = re.compile(r"""\s(?:style|on[a-z]+)\s*=\s*["'{]|<style\b|\bjavascript:""")
SCRIPT = re.compile(r"<script\b[^>]*>")
ELSEWHERE = re.compile(r"(?:https?:)?//[a-z0-9-]+\.[a-z0-9.-]+[^\s\"'()]*", re.IGNORECASE)


def name(path: Path) -> str:
    """The path as a test's name."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "fault", ['<p style="color: red">', "<a onclick='go()'>", "<style>", '<a href="javascript:x">']
)
def test_what_would_be_inline_is_seen(fault):
    assert INLINE.search(fault)


def test_an_address_elsewhere_is_seen():
    assert ELSEWHERE.search('<script src="//cdn.example.com/x.js">')
    assert ELSEWHERE.search('url("https://fonts.example.com/a.woff2")')


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_a_template_has_neither_style_nor_handler_nor_script_of_its_own(path):
    text = path.read_text()
    assert INLINE.findall(text) == []
    for script in SCRIPT.findall(text):
        assert "src=" in script, script
        assert "nonce=" in script, script


@pytest.mark.parametrize("path", SERVED, ids=name)
def test_nothing_is_loaded_from_another_host(path):
    found = [address for address in ELSEWHERE.findall(path.read_text()) if not address.startswith(NAMESPACES)]
    assert found == []
