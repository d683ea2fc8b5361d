"""What an action leaves in the database, so that the same action done in two ways can be held against each other."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
# The call itself, and what the sealer and the sessions of browsers do next to it.
NOT_OF_THE_ACTION = {
    "players_api_call",
    "players_api_token",
    "players_browsersession",
    "players_session",
    "audit_pending",
}
# Numbers of rows, ids, hashes, times, and names of people and tables made for one of the two.
OF_ITS_OWN = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z]*"
    r"|[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}|[0-9a-f]{32,}|\w+\.\w+@example\.com|\b(?:one|other)\b"
    r"|(?<=player:)\d+|(?<=table:)\d+|(?<=\"incident\":)\d+|(?<=\"seat\":)\d+|(?<=\"table_version\":)\d+"
)
PLAIN = ("kind", "reason", "amount", "balance", "held", "phase", "move", "question", "why_left", "cause", "done")


def left_by(owner: psycopg.Connection, action: Callable[[], object]) -> dict[str, Counter[str]]:
    """Do it, and return by table what rows there are then that there were not before, as far as they can be compared:
    amounts, words, and what events say.
    """
    before = _rows(owner)
    action()
    found = {}
    for table, rows in _rows(owner).items():
        if new := rows - before.get(table, Counter()):
            found[table] = Counter(OF_ITS_OWN.sub("*", row) for row in new.elements())
    return found


def _rows(owner: psycopg.Connection) -> dict[str, Counter[str]]:
    names = [name for (name,) in owner.execute(TABLES) if name not in NOT_OF_THE_ACTION]
    return {name: Counter(_as_text(name, row) for row in _all(owner, name)) for name in names}


def _all(owner: psycopg.Connection, name: str) -> list[dict[str, Any]]:
    with owner.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(SQL("SELECT * FROM {}").format(Identifier(name))).fetchall()


def _as_text(name: str, row: dict[str, Any]) -> str:
    if name == "audit_event":
        return str(row["body"], "utf-8")
    return " ".join(f"{column}={row[column]}" for column in PLAIN if column in row) or name
