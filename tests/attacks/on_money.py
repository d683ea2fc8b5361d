"""Attacks on money that only the checks and triggers of the ledger refuse."""

from tests.attacks.attack import Attack, changed, copied, kept, posted

LOTS = 10**12
CASH = "kind = 'cash' AND mode = 'R' AND owner_id = (SELECT id FROM attacked)"
HOUSE = "kind = 'house' AND mode = 'R' AND currency = 'SEK'"
STAKES = "kind = 'stakes'"
THE_COUP = f"'round', (SELECT subject_id FROM wallet_account WHERE {STAKES}),"


A_JOURNAL = (
    "INSERT INTO wallet_journal (key, request_hash, kind)"
    " SELECT key, request_hash, 'stake' FROM wallet_posting_key LIMIT 1"
)
AN_ENTRY = (
    "INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount)"
    f" SELECT (SELECT max(id) FROM wallet_journal), 99, id, currency, mode, 1000 FROM wallet_account WHERE {HOUSE}"
)


CHECKS = [
    Attack(
        "wallet_account",
        "wallet_account_covered",
        f"SELECT wallet_set_hold(gen_random_uuid(), (SELECT id FROM wallet_account WHERE {CASH}), {LOTS})",
    ),
    Attack(
        "wallet_account",
        "wallet_account_covered",
        posted("stake", {CASH: -(10**10), STAKES: 10**10}, THE_COUP),
        name="credit",
    ),
    changed("wallet_bank_notice", "wallet_bank_notice_tries_check", "tries = -1"),
    changed("wallet_bank_order", "wallet_bank_order_sequence_check", "sequence = -1"),
    changed("wallet_bank_payout", "wallet_bank_payout_sequence_check", "sequence = -1"),
    changed("wallet_bank_payout_notice", "wallet_bank_payout_notice_tries_check", "tries = -1"),
    changed("wallet_entry", "wallet_entry_moves", "amount = 0"),
    changed("wallet_hold", "wallet_hold_something", "amount = -5"),
    changed("wallet_journal", "wallet_journal_kind", "kind = 'Gift!'"),
    changed("wallet_payment", "wallet_payment_amount", "amount = -1"),
    changed("wallet_payment", "wallet_payment_credited", "state = 'credited'", "state = 'waiting'"),
    changed("wallet_payment", "wallet_payment_held", "held_because = 'over'", "state = 'waiting'"),
    changed("wallet_payment", "wallet_payment_total", "total = total + 1"),
    changed("wallet_reserved", "wallet_reserved_something", "amount = 0"),
    changed("wallet_withdrawal", "wallet_withdrawal_amount", "amount = -1"),
]

ACCOUNTS = [
    Attack("wallet_account", "wallet_account_balance", "UPDATE wallet_account SET balance = balance + 1000"),
    Attack("wallet_account", "wallet_account_identity", "UPDATE wallet_account SET kind = 'x' WHERE kind = 'pending'"),
    Attack(
        "wallet_account",
        "wallet_account_opens",
        "INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only)"
        " VALUES ((SELECT id FROM attacked), 'cash', 'EUR', 'R', 1000, 0, 0, false)",
    ),
    Attack(
        "wallet_account",
        "wallet_account_opens",
        "INSERT INTO wallet_account (kind, currency, mode, balance, held, version, lock_only, subject_id)"
        " VALUES ('seat', 'SEK', 'R', 0, 0, 0, false, gen_random_uuid())",
        name="house player",
    ),
    *kept("wallet_account", "wallet_account_is_kept"),
]

POSTINGS = [
    *kept("wallet_posting_key", "wallet_posting_key_is_kept", "journal_id"),
    *kept("wallet_journal", "wallet_journal_is_kept", "kind"),
    *kept("wallet_entry", "wallet_entry_is_kept", "amount"),
    Attack(
        "wallet_posting_key",
        "wallet_posting_key_is_written",
        "INSERT INTO wallet_posting_key VALUES (gen_random_uuid(), '', 0)",
    ),
    Attack("wallet_journal", "wallet_journal_is_written", A_JOURNAL),
    Attack("wallet_entry", "wallet_entry_is_written", AN_ENTRY),
    Attack("wallet_reversal", "wallet_reversal_is_written", "INSERT INTO wallet_reversal VALUES (-1, -1)"),
    Attack(
        "wallet_journal",
        "wallet_journal_reverses_a_void",
        # The entries are written after the journal.
        "SET CONSTRAINTS ALL DEFERRED; "
        + posted("void_shortfall", {HOUSE: -1000, CASH: 1000}, "'round', gen_random_uuid(),")
        + "; SET CONSTRAINTS ALL IMMEDIATE",
        name="shortfall",
    ),
    Attack("wallet_day", "wallet_day_is_counted", "UPDATE wallet_day SET staked = 0"),
    *kept("wallet_day", "wallet_day_is_kept"),
    changed("wallet_exchange_rate", "wallet_exchange_rate_above_zero", "rate = 0"),
    changed("wallet_exchange_rate", "wallet_exchange_rate_pair", "currency = base"),
    *kept("wallet_exchange_rate", "wallet_exchange_rate_is_kept", "rate"),
    *kept("wallet_reserved", "wallet_reserved_is_kept"),
    Attack("wallet_reserved", "wallet_reserved_identity", "UPDATE wallet_reserved SET amount = 1"),
    Attack("wallet_hold", "wallet_hold_identity", "UPDATE wallet_hold SET round_id = gen_random_uuid()"),
    *kept("wallet_hold", "wallet_hold_is_moved", removed=False),
    Attack(
        "wallet_hold",
        "wallet_hold_moves_held",
        f"INSERT INTO wallet_hold (round_id, account_id, amount) SELECT gen_random_uuid(), id, {LOTS}"
        f" FROM wallet_account WHERE {CASH}",
        refused_by="wallet_account_covered",
    ),
    Attack(
        "wallet_hold",
        "wallet_hold_gives_back",
        "DELETE FROM wallet_hold",
        harm="SELECT sum(held) > 0 AS still_held FROM wallet_account",
    ),
]

IN_AND_OUT = [
    *kept("wallet_payment", "wallet_payment_is_kept"),
    Attack(
        "wallet_payment",
        "wallet_payment_identity",
        "UPDATE wallet_payment SET amount = 500, total = 5",
    ),
    Attack(
        "wallet_payment",
        "wallet_payment_is_paid",
        "UPDATE wallet_payment SET state = 'credited', authorisation = 'A1', journal_id = 1 WHERE state = 'waiting'",
        by_login=True,
    ),
    *kept("wallet_payment_notice", "wallet_payment_notice_is_kept", "decision"),
    *kept("wallet_payout_account", "wallet_payout_account_is_kept"),
    Attack("wallet_payout_account", "wallet_payout_account_changes", "UPDATE wallet_payout_account SET country = 'SM'"),
    *kept("wallet_payout_notice", "wallet_payout_notice_is_kept", "outcome"),
    *kept("wallet_withdrawal", "wallet_withdrawal_is_kept"),
    *kept("wallet_withdrawal_step", "wallet_withdrawal_step_is_kept", "after"),
    Attack(
        "wallet_withdrawal",
        "wallet_withdrawal_begins",
        copied(
            "wallet_withdrawal",
            "jsonb_build_object('id', 99, 'status', 'paid', 'key', gen_random_uuid(), 'reference', gen_random_uuid())",
        ),
    ),
    Attack(
        "wallet_withdrawal",
        "wallet_withdrawal_moves",
        "UPDATE wallet_withdrawal SET status = 'paid' WHERE status = 'requested'",
    ),
]

ATTACKS = CHECKS + ACCOUNTS + POSTINGS + IN_AND_OUT
