"""Scripts are ES modules: pages load them as modules, in production under hashed names, and none is
unused.
"""

import re
import shutil
from collections import defaultdict
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from casino.apps import StaticStorage

PROJECT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((PROJECT / "templates").rglob("*.html"))
SCRIPTS = PROJECT / "static/js"
CLASSIC = {
    "common/appearance.js",  # runs before the first paint
}
MODULES = {path.relative_to(SCRIPTS).as_posix(): path.read_text() for path in SCRIPTS.rglob("*.js")}
for name in CLASSIC:
    del MODULES[name]

SAVED = {"verification/checker.js"}  # of no page: games/history/card_proofs.py puts it into a file to save

TAG = re.compile(r"""<script\b[^>]*'js/([\w/]+\.js)'[^>]*>""")
IMPORT = re.compile(r'^import (?:{([^"]*)} from )?"(\.[^"]+)";$', re.MULTILINE)
WHEN_NEEDED = re.compile(r'(?:{ (\w+) } = await )?import\("(\.[^"]+)"\)')
ANY_IMPORT = re.compile(r"^(?:import|export)\b.*?;$", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export (?:async )?(?:const|function) (\w+)", re.MULTILINE)


def imports_of(module: str) -> dict[str, set[str]]:
    """Return the imports of a module, with the imported names."""
    found = IMPORT.findall(MODULES[module]) + WHEN_NEEDED.findall(MODULES[module])
    return {normpath(join(dirname(module), path)): set(re.findall(r"\w+", names)) for names, path in found}


KEPT = re.compile(r"localStorage|sessionStorage|indexedDB|openDatabase|caches[.]open|document[.]cookie")
DRAWN = re.compile(r"Math[.]random|getRandomValues|randomUUID|generateKey")
KEEPS = {
    "common/appearance.js",  # reads the preferences
    "common/preferences.js",  # colours, motion, sound
    "staff/shell.js",  # which parts of the sidebar are closed
    "tables/chat.js",  # whether it is shown and read out
    "tables/panels.js",  # the panel that was chosen last
    "tables/shortcuts.js",  # whether keys place bets
    "verification/kept.js",  # how the two below are kept
    "verification/kept_receipts.js",  # receipts, to hold the log against
    "verification/kept_rounds.js",  # commitments that the page was shown, to hold rounds against
}
DRAWS = {
    "common/stream.js",  # when to ask again
    "tables/clicks.js",  # a key that makes a repeated click harmless
    "tables/receipts.js",  # when to ask for the receipt of a round, so that not all ask at once
    "tables/player_value.js",  # what the player adds to the shuffle of a round, whose seed is committed to before
    "tables/shoe_chance.js",  # what the player adds to the shuffle of a shoe, likewise
    "tables/sound.js",  # noise
}


def test_gli19_2_6_5_a_browser_keeps_preferences_and_nothing_else():
    keeping = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.js") if KEPT.search(path.read_text())}
    assert keeping == KEEPS


def test_gli19_2_6_5_no_script_draws_anything_that_decides_an_outcome():
    drawing = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.js") if DRAWN.search(path.read_text())}
    assert drawing == DRAWS


def test_pages_load_modules_as_modules():
    tags = [tag for template in TEMPLATES for tag in TAG.finditer(template.read_text())]
    assert len(tags) > 25
    kinds = defaultdict(set)
    for tag in tags:
        kinds['type="module"' in tag[0]].add(tag[1])
    assert kinds[True] <= MODULES.keys()
    assert kinds[False] <= CLASSIC


def test_every_import_names_a_module_and_every_module_is_reached_from_a_page():
    reached = {tag for template in TEMPLATES for tag in TAG.findall(template.read_text())} - CLASSIC | SAVED
    waiting = list(reached)
    while waiting:
        imported = set(imports_of(waiting.pop())) - reached
        reached |= imported
        waiting += imported
    assert reached == MODULES.keys()


def test_every_export_is_imported():
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for imported, names in imports_of(module).items():
            taken[imported] |= names
    exported = {module: set(EXPORT.findall(text)) for module, text in MODULES.items()}
    assert exported["common/dom.js"] >= {"parseElement", "setText"}
    assert {module: names - taken[module] for module, names in exported.items() if names - taken[module]} == {}


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the scripts as a production house serves them, by their original names."""
    place = tmp_path_factory.mktemp("static")
    shutil.copytree(SCRIPTS, place / "js")
    storage = StaticStorage(location=place, base_url="/static/")
    names = [f"js/{path.relative_to(SCRIPTS).as_posix()}" for path in SCRIPTS.rglob("*.js")]
    for _, _, fault in storage.post_process({name: (storage, name) for name in names}):
        assert not isinstance(fault, Exception), fault
    return {name.removeprefix("js/"): place / found for name, found in storage.hashed_files.items()}


def test_in_production_modules_import_each_other_by_digested_name(collected: dict[str, Path]):
    assert collected.keys() == MODULES.keys() | CLASSIC
    for module in MODULES:
        served = collected[module]
        text = served.read_text()
        imports = IMPORT.findall(text) + WHEN_NEEDED.findall(text)
        found = {(served.parent / path).resolve() for _, path in imports}
        assert found == {collected[imported].resolve() for imported in imports_of(module)}, module
