"""Attacks on hourly totals, on what was held at full hours, and on the list of those hours."""

from tests.attacks.attack import Attack, copied, kept, nothing, twice

A_GAP, BETWEEN, TOO_SOON = (
    f"INSERT INTO audit_rolled (totals, hour, rows) SELECT '{totals}', {hour}, 0"
    for totals, hour in (
        ("wallet.ledger", "(SELECT max(hour) - interval '2 years' FROM audit_rolled)"),
        ("new", "'2026-03-28 10:30Z'::timestamptz"),
        ("new", "date_trunc('hour', now(), 'UTC') + interval '1 year'"),
    )
)

ATTACKS: list[Attack] = [
    *nothing("audit_watermark", "at transaction"),
    *nothing("audit_rolled", "at hour rows totals"),
    *nothing("wallet_ledgerhourlytotal", "account_kind amount currency entries hour into journal_kind mode"),
    *nothing("wallet_pasthold", "account_id amount hour round_id"),
    *(
        twice(table, f"{table}_pkey")
        for table in ("audit_watermark", "audit_rolled", "wallet_ledgerhourlytotal", "wallet_pasthold")
    ),
    *kept("audit_rolled", "audit_rolled_is_kept", "rows"),
    *kept("wallet_ledgerhourlytotal", "wallet_ledgerhourlytotal_is_kept", "amount"),
    *kept("wallet_pasthold", "wallet_pasthold_is_kept", "amount"),
    Attack("audit_rolled", "audit_rolled_is_next", A_GAP, name="after a gap"),
    Attack("audit_rolled", "audit_rolled_is_next", BETWEEN, name="no whole hour"),
    Attack("audit_rolled", "audit_rolled_is_next", TOO_SOON, name="too soon"),
    Attack(
        "audit_watermark",
        "audit_watermark_is_past",
        "INSERT INTO audit_watermark (at, transaction) VALUES ('2999-01-01Z', 3)",
    ),
    Attack(
        "wallet_ledgerhourlytotal",
        "wallet_ledgerhourlytotal_is_open",
        copied("wallet_ledgerhourlytotal", '\'{"journal_kind": "another"}\''),
    ),
]
