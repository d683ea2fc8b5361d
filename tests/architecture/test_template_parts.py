"""Parts of templates (``page.html#part``): each one that is named exists, each is used, and none renders its page."""

import re
from collections import Counter
from pathlib import Path

import pytest
from django.template import Context, Engine
from django.template.loader import get_template

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "templates"
TEMPLATES = sorted(FOLDER.rglob("*.html"))

DEFINED = re.compile(r"\{% partialdef ([\w-]+)( inline)? %\}")
SHOWN = re.compile(r"\{% partial ([\w-]+) %\}")
LOADED = re.compile(r"""\{% (?:include|extends) "([^"#]+)""")
NAMED = re.compile(r"""["']([\w/]+\.html)#([\w-]+)["']""")
# Templates whose parts are named by a variable, and the module that does so.
BY_VARIABLE = {
    "games/panels.html": "games.shared.pages.panel_tabs",
    "staff/player_sections.html": "backoffice.players.profile",
}


def _name(path: Path) -> str:
    return str(path.relative_to(FOLDER))


def _sources() -> list[Path]:
    apps = [app for app in ROOT.iterdir() if (app / "__init__.py").exists() and app.name != "tests"]
    modules = [path for app in apps for path in app.rglob("*.py")]
    return [*modules, *TEMPLATES]


@pytest.fixture(scope="module")
def defined() -> set[tuple[str, str]]:
    return {(_name(path), part[0]) for path in TEMPLATES for part in DEFINED.findall(path.read_text())}


@pytest.fixture(scope="module")
def named() -> set[tuple[str, str]]:
    """The parts that are named, without the macros of fragments, which test_fragments.py checks."""
    fragments = {path.name for path in (ROOT / "fragments").iterdir()}
    return {found for path in _sources() for found in NAMED.findall(path.read_text()) if found[0] not in fragments}


def test_a_template_names_each_of_its_parts_once():
    twice = {_name(path): Counter(part for part, _ in DEFINED.findall(path.read_text())) for path in TEMPLATES}
    assert {(name, part) for name, parts in twice.items() for part, count in parts.items() if count > 1} == set()


def test_every_template_that_is_included_or_extended_exists():
    loaded = {name for path in TEMPLATES for name in LOADED.findall(path.read_text())}
    ours = {_name(path) for path in TEMPLATES}
    assert loaded - ours == set()


def test_no_template_has_the_name_of_a_fragment():
    assert {path.name for path in (ROOT / "fragments").iterdir()} & {_name(path) for path in TEMPLATES} == set()


def test_every_part_that_is_named_exists(defined, named):
    shown = {(_name(path), part) for path in TEMPLATES for part in SHOWN.findall(path.read_text())}
    assert len(defined) > 50
    assert (named | shown) - defined == set()


def test_every_part_is_used(defined, named):
    shown = {(_name(path), part) for path in TEMPLATES for part in SHOWN.findall(path.read_text())}
    assert {each for each in defined - named - shown if each[0] not in BY_VARIABLE} == set()


def test_every_part_can_be_loaded(defined):
    for name, part in defined:
        get_template(f"{name}#{part}")


def test_a_part_is_rendered_without_its_page(tmp_path, settings):
    """Otherwise an htmx answer would cost as much as its page."""
    (tmp_path / "page.html").write_text("{{ costly }} {% partialdef part inline %}part{% endpartialdef %}")
    asked: list[str] = []

    def costly() -> str:
        asked.append("costly")
        return "page"

    options = settings.TEMPLATES[0]["OPTIONS"]
    engine = Engine(dirs=[tmp_path], loaders=options["loaders"], builtins=options["builtins"])
    assert engine.get_template("page.html#part").render(Context({"costly": costly})) == "part"
    assert not asked
    assert engine.get_template("page.html").render(Context({"costly": costly})) == "page part"
    assert asked
