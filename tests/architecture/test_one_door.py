"""Money and the event log have one door each, in SQL: shown on the source, so that no other module knocks unseen."""

import re
from collections.abc import Iterator

from tests.architecture.test_nobody_steers import APPS, PROJECT

# What a round does, it does in one statement: it calls both functions, as the modules do whose doors they are.
DOORS = {
    "wallet_post": {"wallet/ledger.py", "games/rounds.py"},
    "wallet_reverse": {"wallet/ledger.py"},
    "audit_record": {"audit/log.py", "audit/reports/making.py", "audit/reports/writing.py", "games/rounds.py"},
}
TABLES = ("wallet_journal", "wallet_entry", "wallet_posting_key", "audit_event")


def found(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield what the pattern finds in modules of the product, each with the module's path."""
    searched = re.compile(pattern)
    for app in APPS:
        for path in sorted((PROJECT / app).rglob("*.py")):
            for match in searched.finditer(path.read_text(encoding="utf-8")):
                yield match[1], path.relative_to(PROJECT).as_posix()


def test_only_these_modules_call_it() -> None:
    calls = set(found(rf"\b({'|'.join(DOORS)})\("))
    assert {function: {path for name, path in calls if name == function} for function in DOORS} == DOORS


def test_no_module_writes_past_it() -> None:
    assert list(found(rf"(?:INSERT INTO|UPDATE|DELETE FROM|COPY)\s+({'|'.join(TABLES)})\b")) == []


def test_one_module_inserts_rounds_with_their_parts_and_wagers() -> None:
    inserts = found(
        r"(INSERT INTO games_(?:round|participation|wager)\b"
        r"|\b(?:Round|Participation|Wager)\.objects\.(?:bulk_)?create\()"
    )
    assert {path for _, path in inserts} == {"games/round_insert.py"}
