"""Money and the event log are each written by one SQL function, called from one module: shown on
the sources.
"""

import re
from collections.abc import Iterator

from tests.harness.product import modules

DOORS = {
    "wallet_post": {"wallet.ledger"},
    "wallet_reverse": {"wallet.ledger"},
    "audit_record": {"audit.log", "audit.reports.runner"},
    "games_finish_solo_round": {"games.rounds"},
    "games_take_solo_seat": {"games.solo.seats"},
    "games_settle_live_round": {"games.shared.rounds"},
    "games_store_void_round": {"games.shared.malfunction"},
    "games_store_move": {"games.chemin.moves"},
    "games_finish_coup": {"games.chemin.moves"},
}
TABLES = ("wallet_journal", "wallet_entry", "wallet_posting_key", "audit_event")


def found(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the matches of a pattern in the product, with the name of the module."""
    searched = re.compile(pattern)
    for module, path in modules():
        for match in searched.finditer(path.read_text(encoding="utf-8")):
            yield match[1], module


def test_only_these_modules_call_it() -> None:
    calls = set(found(rf"\b({'|'.join(DOORS)})\("))
    assert {function: {module for name, module in calls if name == function} for function in DOORS} == DOORS


def test_no_module_writes_past_it() -> None:
    assert list(found(rf"(?:INSERT INTO|UPDATE|DELETE FROM|COPY)\s+({'|'.join(TABLES)})\b")) == []


def test_no_module_inserts_rounds_with_their_parts_and_wagers() -> None:
    inserts = found(
        r"(INSERT INTO games_(?:round|participation|wager|verificationdue)\b"
        r"|\b(?:Round|Participation|Wager|VerificationDue)\.objects\.(?:bulk_)?create\()"
    )
    assert list(inserts) == []
