"""Attacks on significant events, on what staff did about them, and on thresholds."""

from tests.attacks.attack import Attack, changed, kept, nothing, twice

NOW_FOUND = """
    INSERT INTO audit_significant (key, category, weight, event_id, "on", currency, title, because, rows, happened_at,
        state, assigned_to)
    SELECT 'event:' || {of}, 'error', 1, {event}, '{on}', '', '', '[]', '[]', {at}, '{state}', '{whose}'
    FROM audit_event AS event WHERE id = (SELECT min(id) FROM audit_event)
"""
FOUND = "at key category weight on currency title because rows happened_at"
RIGHT = {"of": "id", "event": "id", "on": "' || \"on\" || '", "at": "at", "state": "new", "whose": ""}

ATTACKS: list[Attack] = [
    *nothing("audit_significant", f"id assigned_to state {FOUND}"),
    *nothing("audit_significant_step", "at by id significant_id step text to"),
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
    Attack(
        "audit_significant",
        "audit_significant_is_of_an_event",
        NOW_FOUND.format(**RIGHT | {"event": "-1"}),
        "ALTER TABLE audit_significant DISABLE TRIGGER audit_significant_is_new",
    ),
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
    *kept("audit_significant_step", "audit_significant_step_is_kept", "text"),
    Attack("audit_threshold", "audit_threshold_is_kept", "TRUNCATE audit_threshold"),
    Attack("audit_threshold", "audit_threshold_as_said", "UPDATE audit_threshold SET single = 9000000000"),
    Attack(
        "audit_significant", "audit_significant_is_mailed", "UPDATE audit_significant SET mailed_at = '2999-01-01Z'"
    ),
    Attack(
        "audit_cursor", "audit_cursor_is_sealed", "UPDATE audit_cursor SET leaves = 1000000", name="what is to come"
    ),
    Attack(
        "audit_cursor",
        "audit_cursor_is_sealed",
        "INSERT INTO audit_cursor VALUES ('new', 1000000)",
        name="from then on",
    ),
    Attack("audit_cursor", "audit_cursor_is_sealed", "UPDATE audit_cursor SET leaves = leaves - 1", name="back"),
    Attack(
        "audit_significant",
        "players_aml_case_opens",
        """INSERT INTO audit_significant
            (key, category, weight, currency, title, because, rows, happened_at, state, assigned_to, "on")
        SELECT 'unplayed', 'laundering', 2, '', 'x', '"y"', '[]', now(), 'case', '',
            'player:' || min(id) FROM players_player""",
        harm="SELECT NOT EXISTS (SELECT FROM players_case WHERE kind = 'aml')",
    ),
    Attack("audit_significant", "audit_significant_as_said", "UPDATE audit_significant SET state = 'closed'"),
    Attack(
        "audit_significant",
        "audit_significant_as_said",
        "UPDATE audit_significant SET assigned_to = 'staff:9'",
        name="to another",
    ),
    *(
        Attack("audit_significant", "audit_significant_is_new", NOW_FOUND.format(**RIGHT | wrong), name=name)
        for name, wrong in {
            "closed": {"state": "closed"},
            "somebody's": {"whose": "staff:9"},
            "of nothing": {"event": "NULL"},
            "of another": {"of": "999999"},
            "about another": {"on": "staff:9"},
            "at another time": {"at": "now()"},
        }.items()
    ),
]
