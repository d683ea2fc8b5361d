"""Attacks on significant events: on what was found, on what was done about it, and on thresholds."""

from tests.attacks.attack import Attack, changed, kept, nothing, twice

FOUND = "at key category weight on currency title because rows happened_at"

ATTACKS: list[Attack] = [
    *nothing("audit_significant", f"id assigned_to state {FOUND}"),
    *nothing("audit_significant_step", "at by id significant_id step to words"),
    *nothing("audit_significant_muted", "category who"),
    *nothing("audit_threshold", "currency days single summed what"),
    *nothing("audit_cursor", "leaves name"),
    *nothing("audit_pulse", "at who"),
    *(
        twice(table, f"{table}_pkey")
        for table in (
            "audit_significant",
            "audit_significant_step",
            "audit_significant_muted",
            "audit_threshold",
            "audit_cursor",
            "audit_pulse",
        )
    ),
    twice("audit_significant", "audit_significant_key_key"),
    changed("audit_significant", "audit_significant_event_id_28057417_fk_audit_event_id", "event_id = -1"),
    changed(
        "audit_significant_step",
        "audit_significant_st_significant_id_c3fabae6_fk_audit_sig",
        "significant_id = -1",
    ),
    changed("audit_threshold", "audit_threshold_days_check", "days = -1"),
    *kept("audit_significant", "audit_significant_is_kept"),
    *(
        Attack(
            "audit_significant",
            "audit_significant_identity",
            f'UPDATE audit_significant SET "{each}" = "{each}"',
            name=each,
        )
        for each in f"event_id amount {FOUND}".split()
    ),
    *kept("audit_significant_step", "audit_significant_step_is_kept", "words"),
    Attack("audit_threshold", "audit_threshold_is_kept", "TRUNCATE audit_threshold"),
]
