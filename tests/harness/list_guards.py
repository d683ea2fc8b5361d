"""`make guards`: write ``wallet/guards.txt`` and ``docs/database-functions.md`` from a separate new database."""

import re
from collections.abc import Iterator
from pathlib import Path

import django

from ops.privileges import FUNCTIONS

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "database-functions.md"
CONTRACT = re.compile(r"((?:^--.*\n)+)CREATE OR REPLACE FUNCTION (\w+)", re.MULTILINE)
HEAD = """# Functions of the database

What the role of web and workers may call. Each function runs as the owner of the tables and
checks what it is asked against what is stored; the files named here say how, and which errors it
raises. The role may write nothing else that matters: its rights on tables are in
`ops/privileges.py`, and `manage.py verify_house` names every right beyond both lists.
`make guards` writes this page.

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
    for file in sorted(PROJECT.glob("*/sql/functions/*.sql")):
        for comment, name in CONTRACT.findall(file.read_text()):
            text = " ".join(line.removeprefix("--").strip() for line in comment.splitlines())
            yield name, re.split(r"(?<=\.) (?=[A-Z`])", text, maxsplit=1)[0], str(file.relative_to(PROJECT))


if __name__ == "__main__":
    django.setup()
    from tests.harness.databases import clone  # settings need the set-up
    from wallet.invariants import guards

    with clone("guards"):
        guards.LIST.write_text("".join(f"{line}\n" for line in guards.in_force()))
    PAGE.write_text(page())
