"""Attacks on the tables of months, and on the triggers that replace foreign keys to events.

The clock of the attacked house is in September 2026. Each guard of the whole table must also exist
on that month's table, which the owner can write to by its own name; each is disabled there alone.
"""

from collections.abc import Iterable
from dataclasses import replace

from tests.attacks import on_money
from tests.attacks.attack import Attack, copied, kept
from tests.attacks.on_rows import SORTED_BY
from tests.old_months import beginning

MONTH = beginning(2026, 9)
NAMES = {table: f"{table}_2026_09" for table in SORTED_BY}
ENTRIES = NAMES["wallet_entry"]

# Rules about a row, which come down from the whole to each month: there they can be switched off, and not dropped.
OF_A_ROW = {"wallet_journal_reverses_a_void"}


def in_the_month(attacks: Iterable[Attack]) -> list[Attack]:
    """Return the *attacks* on guards that each month inherits, aimed at the guard of one month."""
    return [replace(attack, table=NAMES[attack.table]) for attack in attacks if attack.guard in OF_A_ROW]


MONTHS = [
    *(
        attack
        for table, column in {"audit_event": "kind", "wallet_entry": "amount", "wallet_journal": "kind"}.items()
        for attack in kept(NAMES[table], f"{table}_is_kept", column)
    ),
    Attack(ENTRIES, "wallet_entry_is_written", on_money.AN_ENTRY.replace("INTO wallet_entry ", f"INTO {ENTRIES} ")),
    Attack(
        NAMES["wallet_journal"],
        "wallet_journal_is_written",
        on_money.A_JOURNAL.replace("INTO wallet_journal ", f"INTO {NAMES['wallet_journal']} "),
    ),
    Attack(
        ENTRIES,
        f"{ENTRIES}_chain",
        f"INSERT INTO {ENTRIES} SELECT (jsonb_populate_record(of, '{{\"line\": 99}}')).* FROM {ENTRIES} AS of"
        f" WHERE ctid = (SELECT min(ctid) FROM {ENTRIES} WHERE version IS NOT NULL)",
        f"ALTER TABLE {ENTRIES} DISABLE TRIGGER USER",
    ),
]

OF_AN_EVENT = [
    Attack("audit_pending", "audit_pending_stays", "UPDATE audit_pending SET event_id = event_id"),
    Attack("audit_leaf", "audit_leaf_is_of_an_event", "INSERT INTO audit_leaf (leaf, event_id) VALUES (999999, -1)"),
    Attack(
        "audit_personal",
        "audit_personal_is_of_an_event",
        copied("audit_personal", "'{\"event_id\": -1}'"),
    ),
]

REVERSALS = [
    *kept("wallet_reversal", "wallet_reversal_is_kept", "by_id"),
]

ATTACKS: list[Attack] = MONTHS + OF_AN_EVENT + REVERSALS
