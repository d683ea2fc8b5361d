"""The modules and templates of the project: few, and no module too small for a separate subject."""

from pathlib import Path
from typing import Final

from tests.harness.product import PROJECT, modules

MOST: Final = 620
MOST_TEMPLATES: Final = 250
FEWEST_LINES: Final = 40
MOST_IN_A_FOLDER: Final = 18
MOST_LINES: Final = 3_500  # casino/ puts the nine apps together and has no subject of its own
# Faces of packages, and modules that Django or a server looks up by name.
FACES: Final = {"__init__.py", "__main__.py", "apps.py", "urls.py", "tasks.py", "wsgi.py", "asgi.py"}
FOUND_BY_NAME: Final = {"commands", "templatetags"}  # folders


def test_there_are_few_modules():
    assert len(modules()) < MOST


def test_there_are_few_templates():
    """Pages, parts that are sent alone, mails and scripts, of every kind of file."""
    found = [path for folder in ("templates", "fragments") for path in (PROJECT / folder).rglob("*") if path.is_file()]
    assert 200 < len(found) < MOST_TEMPLATES


def test_no_module_is_a_crumb():
    """A module under forty lines is a package's face or an entry point; others belong to a larger subject."""
    small = [name for name, path in modules() if not is_face(path) and lines(path) < FEWEST_LINES]
    assert small == []


def test_no_folder_is_a_heap():
    """More modules than some fifteen, without faces and entry points, want packages by subject."""
    folders: dict[str, int] = {}
    for _, path in modules():
        if not is_face(path):
            folder = str(path.parent.relative_to(PROJECT))
            folders[folder] = folders.get(folder, 0) + 1
    assert {folder: count for folder, count in folders.items() if count > MOST_IN_A_FOLDER} == {}


def test_the_project_itself_is_small():
    assert 1_000 < sum(lines(path) for name, path in modules() if name.startswith("casino.")) < MOST_LINES


def is_face(path: Path) -> bool:
    return path.name in FACES or path.parent.name in FOUND_BY_NAME


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())
