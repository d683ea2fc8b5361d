"""The modules of the project, for tests of its source.

Modules are identified by import name, so that a renamed module is also renamed in the tests.
"""

import re
from pathlib import Path
from typing import Final

from django.apps import apps

PROJECT: Final = Path(__file__).resolve().parents[2]
APPS: Final = tuple(sorted(each.label for each in apps.get_app_configs() if Path(each.path).parent == PROJECT))


def mails(folder: str) -> set[str]:
    """Return the names of the mails in a folder of templates: files, and parts of files that no other part shows."""
    found: set[str] = set()
    for path in (PROJECT / "templates" / folder).iterdir():
        text = path.read_text()
        parts = {*re.findall(r"{% partialdef (\w+) %}", text)}
        found |= parts - {*re.findall(r"{% partial (\w+) %}", text)} or {path.stem}
    return found


def module_name(path: Path) -> str:
    """Return the import name of a file of the project."""
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def modules() -> list[tuple[str, Path]]:
    """Return name and file of each module except migrations, in order of name."""
    return sorted(
        (module_name(path), path)
        for app in APPS
        for path in (PROJECT / app).rglob("*.py")
        if "migrations" not in path.parts
    )
