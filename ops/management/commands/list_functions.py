"""`manage.py list_functions`: write ``docs/database-functions.md``, what the login role may call."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

from ops.privileges import FUNCTIONS

PAGE = Path(settings.BASE_DIR, "docs", "database-functions.md")
CONTRACT = re.compile(r"((?:^--.*\n)+)CREATE OR REPLACE FUNCTION (\w+)", re.MULTILINE)
HEAD = """# Functions of the database

What the role of web and workers may call. Each function runs as the owner of the tables and
checks what it is asked against what is stored; the files named here say how, and which errors it
raises. The role may write nothing else that matters: its rights on tables are in
`ops/privileges.py`, and `manage.py verify_ledger` names every right beyond both lists. `manage.py
list_functions` writes this page.

| function | what it does | where |
|---|---|---|
"""


def page() -> str:
    """Return the page as Markdown. Raises LookupError for a function without a contract above it."""
    known = {name: (what, path) for name, what, path in _contracts()}
    missing = sorted(set(FUNCTIONS) - known.keys())
    if missing:
        raise LookupError(f"no contract above {', '.join(missing)}")
    rows = sorted((path, name, what) for name, (what, path) in known.items() if name in FUNCTIONS)
    return HEAD + "".join(f"| `{name}` | {what} | `{path}` |\n" for path, name, what in rows)


def _contracts() -> Iterator[tuple[str, str, str]]:
    """Yield name, first sentence of the contract, and file of each function."""
    for file in sorted(Path(settings.BASE_DIR).glob("*/sql/functions/*.sql")):
        for comment, name in CONTRACT.findall(file.read_text()):
            text = " ".join(line.removeprefix("--").strip() for line in comment.splitlines())
            yield name, re.split(r"(?<=\.) (?=[A-Z`])", text, maxsplit=1)[0], str(file.relative_to(settings.BASE_DIR))


class Command(BaseCommand):
    """Write ``docs/database-functions.md``. Run it after changing `ops.privileges.FUNCTIONS` or a contract."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Write the page."""
        PAGE.write_text(page())
