"""Pages have no inline styles or handlers and load nothing from other hosts, so the strict policy
blocks nothing.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted(path for folder in ("templates", "fragments") for path in (ROOT / folder).rglob("*.html"))
SERVED = [*TEMPLATES, *sorted((ROOT / "static").rglob("*.css")), *sorted((ROOT / "static").rglob("*.js"))]
NAMESPACES = ("http://www.w3.org/",)  # namespaces, which are not loaded

INLINE = re.compile(r"""\s(?:style|on[a-z]+)\s*=\s*["'{]|<style\b|\bjavascript:""")
SCRIPT = re.compile(r"<script\b[^>]*>")
ELSEWHERE = re.compile(r"(?:https?:)?//[a-z0-9-]+\.[a-z0-9.-]+[^\s\"'()]*", re.IGNORECASE)


def name(path: Path) -> str:
    """Return the path relative to the project."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "fault", ['<p style="color: red">', "<a onclick='go()'>", "<style>", '<a href="javascript:x">']
)
def test_what_would_be_inline_is_seen(fault):
    assert INLINE.search(fault)


def test_an_address_elsewhere_is_seen():
    assert ELSEWHERE.search('<script src="//cdn.example.com/x.js">')
    assert ELSEWHERE.search('url("https://fonts.example.com/a.woff2")')


def faults_of_a_template(text: str) -> list[str]:
    """Return what the strict policy would block in a template."""
    scripts = [script for script in SCRIPT.findall(text) if "src=" not in script or "nonce=" not in script]
    return [*INLINE.findall(text), *scripts]


def test_no_template_has_a_style_a_handler_or_a_script_of_its_own():
    found = {name(path): faults_of_a_template(path.read_text()) for path in TEMPLATES}
    assert len(found) > 150
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_gli19_2_6_7_nothing_is_loaded_from_another_host():
    found = {name(path): set(ELSEWHERE.findall(path.read_text())) for path in SERVED}
    elsewhere = {path: {each for each in named if not each.startswith(NAMESPACES)} for path, named in found.items()}
    assert {path: named for path, named in elsewhere.items() if named} == {}
