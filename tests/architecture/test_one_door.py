"""Money and the event log have one door each, in SQL: shown on the source, so that no other module knocks unseen."""

import re

import pytest

from tests.architecture.test_nobody_steers import APPS, PROJECT

# What a round does, it does in one statement: it calls both functions, as the modules do whose doors they are.
DOORS = {
    "wallet_post": {"wallet/ledger.py", "games/rounds.py"},
    "wallet_reverse": {"wallet/ledger.py"},
    "audit_record": {"audit/log.py", "audit/reports/making.py", "audit/reports/writing.py", "games/rounds.py"},
}


@pytest.mark.parametrize("function", DOORS)
def test_only_these_modules_call_it(function: str) -> None:
    calling = re.compile(rf"\b{function}\(")
    found = {
        path.relative_to(PROJECT).as_posix()
        for app in APPS
        for path in (PROJECT / app).rglob("*.py")
        if calling.search(path.read_text(encoding="utf-8"))
    }
    assert found == DOORS[function]


@pytest.mark.parametrize("table", ["wallet_journal", "wallet_entry", "wallet_posting_key", "audit_event"])
def test_no_module_writes_past_it(table: str) -> None:
    writing = re.compile(rf"(?:INSERT INTO|UPDATE|DELETE FROM|COPY)\s+{table}\b")
    found = [
        path.relative_to(PROJECT).as_posix()
        for app in APPS
        for path in (PROJECT / app).rglob("*.py")
        if writing.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_one_module_inserts_rounds_with_their_parts_and_wagers() -> None:
    inserting = re.compile(
        r"INSERT INTO games_(?:round|participation|wager)\b"
        r"|\b(?:Round|Participation|Wager)\.objects\.(?:bulk_)?create\("
    )
    found = {
        path.relative_to(PROJECT).as_posix()
        for app in APPS
        for path in (PROJECT / app).rglob("*.py")
        if inserting.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"games/round_insert.py"}
