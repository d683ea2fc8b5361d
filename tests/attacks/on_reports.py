"""Attacks on stored reports and on their states."""

from tests.attacks.attack import Attack, changed, kept, nothing, twice

READY = "(SELECT id FROM audit_report WHERE state = 'ready')"
MADE_UP = "UPDATE audit_report SET state = 'ready', made_at = asked_at, head = '{}'"
GIVEN_UP = "UPDATE audit_report SET state = 'failed', failure = 'no'"

ATTACKS: list[Attack] = [
    *nothing("audit_report", "asked_at by choices digests done failure id kind changed_at since state tries until"),
    *nothing("audit_report_page", "number report_id rows"),
    *nothing("audit_report_part", "content format number report_id"),
    *(twice(table, f"{table}_pkey") for table in ("audit_report", "audit_report_page", "audit_report_part")),
    twice("audit_report", "audit_report_daily", "by = 'system'"),
    changed("audit_report", "audit_report_interval", "until = since"),
    changed("audit_report", "audit_report_state", "state = 'odd'"),
    changed("audit_report", "audit_report_tries_check", "tries = -1"),
    changed("audit_report_page", "audit_report_page_number_check", "number = -1"),
    changed("audit_report_part", "audit_report_part_number_check", "number = -1"),
    changed("audit_report_page", "audit_report_page_report_id_d6fed48c_fk_audit_report_id", "report_id = -1"),
    changed("audit_report_part", "audit_report_part_report_id_87b7da85_fk_audit_report_id", "report_id = -1"),
    *kept("audit_report", "audit_report_stays"),
    Attack("audit_report", "audit_report_identity", "UPDATE audit_report SET kind = kind WHERE state = 'making'"),
    Attack("audit_report", "audit_report_is_kept", "UPDATE audit_report SET done = 1 WHERE state = 'failed'"),
    Attack("audit_report", "audit_report_as_said", f"{MADE_UP} WHERE state = 'making'", name="nothing in the log"),
    Attack("audit_report", "audit_report_waits", f"{GIVEN_UP} WHERE state = 'making'", name="given up"),
    Attack(
        "audit_report",
        "audit_report_waits",
        "INSERT INTO audit_report (kind, since, until, choices, by, state, tries, done, failure, digests)"
        " SELECT kind, since, until, choices, 'staff:1', 'making', 0, 0, '', '{}' FROM audit_report LIMIT 1",
        name="never waited",
    ),
    *(
        Attack(table, f"{table}_in_the_making", action, name=name)
        for table, columns, values in (
            ("audit_report_page", "report_id, number, rows", "9, '[]'::jsonb"),
            ("audit_report_part", "report_id, format, number, content", "'csv', 9, ''::bytea"),
        )
        for name, action in {
            "INSERT": f"INSERT INTO {table} ({columns}) SELECT id, {values} FROM audit_report WHERE state = 'ready'",
            "DELETE": f"DELETE FROM {table} WHERE report_id = {READY}",
        }.items()
    ),
    *kept("audit_report_page", "audit_report_page_is_kept", "number", removed=False),
    *kept("audit_report_part", "audit_report_part_is_kept", "number", removed=False),
]
