"""Attacks on the tables of months, and on what asks for events instead of a foreign key.

The house that is attacked lives in September 2026: each guard of the whole has to stand on that month's table, too,
where the owner can write by its own name, and each is switched off there alone.
"""

from collections.abc import Iterable
from dataclasses import replace

from tests.attacks import on_money
from tests.attacks.attack import Attack, copied, kept
from tests.attacks.on_money import CASH, ESCROW, LIMITED
from tests.attacks.on_rows import SORTED_BY
from tests.old_months import beginning

MONTH = beginning(2026, 9)
NAMES = {table: f"{table}_2026_09" for table in SORTED_BY}
ENTRIES = NAMES["wallet_entry"]

# Rules about a row, which come down from the whole to each month: there they can be switched off, and not dropped.
OF_A_ROW = {
    "wallet_entry_brings_new_number",
    "wallet_entry_moves_balance",
    "wallet_journal_adjusts_as_approved",
    "wallet_journal_may_begin",
    "wallet_journal_plays_as_said",
    "wallet_journal_of_operator",
    "wallet_journal_reverses_a_void",
    "wallet_journal_reverses_exactly",
}


def straight(kind: str, amounts: dict[str, int]) -> str:
    """A journal, and its lines by the name of the month's table: *amounts* by the query that finds the account."""
    lines = " UNION ALL ".join(
        f"SELECT journal.id, {line}, account.id, currency, mode, {amount}"
        f" FROM journal, wallet_account AS account WHERE {account}"
        for line, (account, amount) in enumerate(amounts.items(), 1)
    )
    return (
        "WITH key AS (INSERT INTO wallet_posting_key VALUES (gen_random_uuid(), '', 0) RETURNING key),"
        " journal AS (INSERT INTO wallet_journal (key, request_hash, kind)"
        f" SELECT key, '', '{kind}' FROM key RETURNING id)"
        f" INSERT INTO {ENTRIES} (journal_id, line, account_id, currency, mode, amount) {lines}"
    )


def in_the_month(attacks: Iterable[Attack]) -> list[Attack]:
    """Those *attacks* again whose guards come down from the whole to each month, on the one in the month alone."""
    return [replace(attack, table=NAMES[attack.table]) for attack in attacks if attack.guard in OF_A_ROW]


MONTHS = [
    *(
        attack
        for table, column in {"audit_event": "kind", "wallet_entry": "amount", "wallet_journal": "kind"}.items()
        for attack in kept(NAMES[table], f"{table}_is_kept", column)
    ),
    Attack(ENTRIES, "wallet_entry_sums_to_zero", straight("stake", {CASH: -1, ESCROW: 2})),
    Attack(ENTRIES, "wallet_entry_counts", straight("stake", {LIMITED: -5000, ESCROW: 5000})),
    Attack(ENTRIES, "wallet_entry_with_its_owner", straight("gift", {CASH: -50, LIMITED: 50})),
    *(
        Attack(
            ENTRIES,
            "wallet_entry_and_account",
            on_money.claimed(claim).replace("INTO wallet_entry ", f"INTO {ENTRIES} "),
            name=name,
        )
        for name, claim in {"number": "version + 2, balance + 1000", "balance": "version + 1, balance + 1001"}.items()
    ),
    Attack(
        ENTRIES,
        f"{ENTRIES}_chain",
        f"INSERT INTO {ENTRIES} SELECT (jsonb_populate_record(of, '{{\"line\": 99}}')).* FROM {ENTRIES} AS of"
        f" WHERE ctid = (SELECT min(ctid) FROM {ENTRIES} WHERE version IS NOT NULL)",
        f"ALTER TABLE {ENTRIES} DISABLE TRIGGER USER",
    ),
]

NUMBERS = [
    Attack(
        "wallet_entry",
        "wallet_entry_brings_new_number",
        on_money.claimed("version, balance + 1000"),
        f"DROP INDEX {ENTRIES}_chain",  # as if the number were another month's
    )
]

OF_AN_EVENT = [
    Attack("audit_pending", "audit_pending_is_of_an_event", "INSERT INTO audit_pending VALUES (-1)"),
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
    Attack(
        "wallet_journal",
        "wallet_journal_reverses_exactly",
        "WITH key AS (INSERT INTO wallet_posting_key VALUES (gen_random_uuid(), '', 0) RETURNING key)"
        " INSERT INTO wallet_journal (key, request_hash, kind, reverses_id) SELECT key, '', 'correction', -1 FROM key",
        "ALTER TABLE wallet_journal DISABLE TRIGGER wallet_journal_reverses_a_void",
        name="nothing by nothing",
    ),
]

ATTACKS: list[Attack] = MONTHS + NUMBERS + OF_AN_EVENT + REVERSALS
