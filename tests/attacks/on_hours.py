"""Attacks on what is summed up by the hour, on how accounts stood, and on which hours those are."""

from tests.attacks.attack import Attack, copied, kept, nothing, twice

A_GAP, BETWEEN, TOO_SOON = (
    f"INSERT INTO audit_rolled (sums, hour, rows) SELECT '{sums}', {hour}, 0"
    for sums, hour in (
        ("wallet.moved", "(SELECT max(hour) - interval '2 years' FROM audit_rolled)"),
        ("new", "'2026-03-28 10:30Z'::timestamptz"),
        ("new", "date_trunc('hour', now(), 'UTC') + interval '1 year'"),
    )
)

ATTACKS: list[Attack] = [
    *nothing("audit_mark", "at transaction"),
    *nothing("audit_rolled", "at hour rows sums"),
    *nothing("wallet_moved", "account_kind amount currency entries hour into journal_kind mode"),
    *nothing("wallet_standing", "account_kind at balance currency held mode"),
    *(twice(table, f"{table}_pkey") for table in ("audit_mark", "audit_rolled", "wallet_moved", "wallet_standing")),
    *kept("audit_rolled", "audit_rolled_is_kept", "rows"),
    *kept("wallet_moved", "wallet_moved_is_kept", "amount"),
    *kept("wallet_standing", "wallet_standing_is_kept", "balance"),
    Attack("audit_rolled", "audit_rolled_is_next", A_GAP, name="after a gap"),
    Attack("audit_rolled", "audit_rolled_is_next", BETWEEN, name="no whole hour"),
    Attack("audit_rolled", "audit_rolled_is_next", TOO_SOON, name="too soon"),
    Attack("audit_mark", "audit_mark_is_past", "INSERT INTO audit_mark (at, transaction) VALUES ('2999-01-01Z', 3)"),
    Attack("wallet_moved", "wallet_moved_is_open", copied("wallet_moved", '\'{"journal_kind": "another"}\'')),
    Attack(
        "wallet_standing",
        "wallet_standing_is_last",
        copied("wallet_standing", "jsonb_build_object('at', at - interval '1 minute')"),
        name="before another",
    ),
    Attack(
        "wallet_standing",
        "wallet_standing_is_last",
        copied("wallet_standing", "jsonb_build_object('at', at + interval '1 day')"),
        name="of tomorrow",
    ),
]
