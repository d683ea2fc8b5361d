"""Attacks on balance adjustments, which need two people."""

from tests.attacks.attack import Attack, changed, copied, kept, nothing, twice

ADJUSTED = "kind = 'adjusted' AND currency = 'SEK' AND mode = 'R'"
ANOTHER_KEY = "jsonb_build_object('key', gen_random_uuid())"

ATTACKS: list[Attack] = [
    *nothing("wallet_adjustment", "account_id amount approval_id key why"),
    twice("wallet_adjustment", "wallet_adjustment_pkey"),
    twice("wallet_adjustment", "wallet_adjustment_key_key"),
    changed("wallet_adjustment", "wallet_adjustment_something", "amount = 0"),
    changed("wallet_adjustment", "wallet_adjustment_account_id_0cc806ed_fk_wallet_account_id", "account_id = -1"),
    changed("wallet_adjustment", "wallet_adjustment_approval_id_91bc622c_fk_audit_approval_id", "approval_id = -1"),
    *kept("wallet_adjustment", "wallet_adjustment_is_kept", "amount"),
    Attack(
        "wallet_adjustment",
        "wallet_adjustment_is_approved",
        copied("wallet_adjustment", ANOTHER_KEY),
        "ALTER TABLE wallet_adjustment DROP CONSTRAINT wallet_adjustment_pkey",
    ),
]
