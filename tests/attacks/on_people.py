"""Attacks on the event log, on approvals and on player protection."""

from tests.attacks.attack import Attack, changed, copied, kept

OPEN = "SELECT a.id FROM audit_approval AS a LEFT JOIN audit_decision AS d ON d.approval_id = a.id WHERE d IS NULL"
DECIDE = "INSERT INTO audit_decision (approval_id, verdict, by, asker, person, reason)"
OTHER = "sha256(hashes) || sha256(hashes)"
LONGER = "hashes = hashes || sha256(hashes)"
FULL = "hashes = hashes || decode(repeat('00', 8192 - octet_length(hashes)), 'hex')"
OF_ANY = "ALTER TABLE audit_tile DISABLE TRIGGER audit_tile_is_of_its_leaves"
TILE = "INSERT INTO audit_tile (level, number, hashes) VALUES"
CHECKPOINT = "INSERT INTO audit_checkpoint (root, at, note, size) SELECT root, at, note,"

AUDIT = [
    *kept("audit_event", "audit_event_is_kept", "kind"),
    *kept("audit_personal", "audit_personal_is_kept", "value", removed=False),
    *kept("audit_approval", "audit_approval_is_kept", "request"),
    *kept("audit_decision", "audit_decision_is_kept", "verdict"),
    *kept("audit_leaf", "audit_leaf_is_kept", "event_id"),
    *kept("audit_checkpoint", "audit_checkpoint_is_kept", "note"),
    *kept("audit_tile", "audit_tile_is_kept"),
    *kept("audit_retention", "audit_retention_is_kept"),
    Attack("audit_retention", "audit_retention_identity", "UPDATE audit_retention SET minimum = 1"),
    changed("audit_retention", "audit_retention_long_enough", "days = minimum - 1"),
    changed("audit_retention", "audit_retention_has_a_source", "source = ''"),
    *(
        Attack("audit_tile", "audit_tile_only_grows", f"UPDATE audit_tile SET {change}", OF_ANY, name=name)
        for name, change in {
            "not longer": "hashes = hashes",
            "another hash": f"hashes = {OTHER}",
            "moved": f"number = number + 1, {LONGER}",
        }.items()
    ),
    *(
        Attack("audit_tile", "audit_tile_is_of_its_leaves", action, name=name)
        for name, action in {
            "a hash of nothing": f"UPDATE audit_tile SET {LONGER}",
            "beyond the leaves": f"{TILE} (0, 1000, sha256(''))",
            "further up": f"{TILE} (1, 0, sha256(''))",
            "of a tile that is not full": "INSERT INTO audit_tile SELECT 1, 0, hashes FROM audit_tile",
        }.items()
    ),
    Attack("audit_tile", "audit_tile_has_its_hash_above", f"UPDATE audit_tile SET {FULL}", OF_ANY),
    Attack(
        "audit_checkpoint",
        "audit_checkpoint_is_next",
        f"{CHECKPOINT} 10::bigint ^ 15 FROM audit_checkpoint",
        name="ahead",
    ),
    Attack("audit_checkpoint", "audit_checkpoint_is_next", f"{CHECKPOINT} 1 FROM audit_checkpoint", name="below"),
    changed("audit_personal", "audit_personal_is_salted", "salt = ''"),
    changed("audit_tile", "audit_tile_is_of_hashes", "hashes = hashes || '\\x00'"),
    changed("audit_tile", "audit_tile_place", "level = 8"),
    changed("audit_leaf", "audit_leaf_counts", "leaf = -1"),
    changed("audit_checkpoint", "audit_checkpoint_is_of_leaves", "size = 0"),
    changed("audit_event", "audit_event_is_salted", "salt = substring(salt FOR 15)"),
    changed("audit_event", "audit_event_fits", "body = convert_to(repeat('x', 65520), 'UTF8')"),
    changed("audit_approval", "audit_approval_expires", "expires_at = at"),
    changed("audit_approval", "audit_approval_frozen", "request = request || ' '"),
    changed("audit_decision", "audit_decision_other_person", "person = asker"),
    changed("audit_decision", "audit_decision_somebody", "person = NULL"),
    changed("audit_decision", "audit_decision_verdict", "verdict = 'maybe'"),
    Attack(
        "audit_approval",
        "audit_approval_by_staff",
        copied("audit_approval", "jsonb_build_object('id', 99, 'by', 'staff:0')"),
    ),
    Attack(
        "audit_decision",
        "audit_decision_by_staff",
        f"{DECIDE} SELECT id, 'approved', 'staff:0', person, gen_random_uuid(), '' FROM audit_approval"
        f" WHERE id IN ({OPEN})",
    ),
    Attack(
        "audit_decision",
        "audit_decision_in_time",
        f"{DECIDE} SELECT id, 'expired', 'system', person, NULL, '' FROM audit_approval WHERE id IN ({OPEN})",
    ),
]

LOCK = "INSERT INTO players_accountlock (player_id, at, locks, reason, by_id)"
LAST = "FROM players_accountlock ORDER BY id DESC LIMIT 1"

LOCKS = [
    *kept("players_borrowed_money", "players_borrowed_money_is_kept", "reason"),
    changed("players_borrowed_money", "players_borrowed_money_reason", "reason = ''"),
    Attack(
        "players_borrowed_money",
        "players_borrowed_money_begins",
        "INSERT INTO players_borrowed_money (player_id, at, is_marked, reason, by_id)"
        " SELECT player_id, now(), false, 'alone', by_id FROM players_borrowed_money ORDER BY id DESC LIMIT 1",
    ),
    *kept("players_accountlock", "players_accountlock_is_kept", "reason"),
    changed("players_accountlock", "players_accountlock_reason", "reason = ''"),
    Attack(
        "players_accountlock",
        "players_accountlock_begins",
        f"{LOCK} SELECT player_id, at, locks, 'again', by_id {LAST}",
        name="what is open is opened",
    ),
    Attack(
        "players_accountlock",
        "players_accountlock_begins",
        f"{LOCK} SELECT player_id, at, NOT locks, 'by finance', (SELECT s.id FROM players_staff AS s"
        " JOIN players_user_groups AS m ON m.user_id = s.user_id JOIN auth_group AS g ON g.id = m.group_id"
        f" WHERE g.name = 'finance' ORDER BY s.id LIMIT 1) {LAST}",
        name="by another role",
    ),
    Attack(
        "players_accountlock",
        "players_accountlock_begins",
        f"{LOCK} SELECT player_id, at - interval '9 days', NOT locks, 'long ago', by_id {LAST}",
        harm=f"SELECT at < clock_timestamp() - interval '1 day' {LAST}",
        name="dated back",
    ),
]

CASES = [
    *kept("players_case", "players_case_is_kept"),
    *kept("players_case_entry", "players_case_entry_is_kept"),
    Attack("players_case_entry", "players_case_entry_stays", "UPDATE players_case_entry SET text = ''"),
    *(
        Attack("players_case", "players_case_identity", f"UPDATE players_case SET {each} = {each}", name=each)
        for each in ("id", "player_id", "kind", "subject", "opened_at", "opened_by")
    ),
    *kept("players_screening_entry", "players_screening_entry_is_kept"),
    *kept("players_screening_reading", "players_screening_reading_is_kept"),
    *(
        Attack(
            "players_screening_entry",
            "players_screening_entry_stays",
            f"UPDATE players_screening_entry SET {each} = {each}",
            name=each,
        )
        for each in ("id", "list", "key", "topic", "name", "names", "born", "published", "listed_at")
    ),
    changed("players_screening_entry", "players_screening_entry_born", "born = 'May'"),
    changed("players_screening_reading", "players_screening_reading_whole", "published = NULL"),
    changed("players_case", "players_case_closed", "closed_at = now()"),
    changed("players_case", "players_case_pays_at_risk", "kind = 'marker', holds = true"),
]

PROTECTION = [
    *kept("players_limitchange", "players_limitchange_is_kept", "amount"),
    *kept("players_limitoffer", "players_limitoffer_is_kept", "answered_at"),
    *kept("players_limitreminder", "players_limitreminder_is_kept", "at"),
    *kept("players_exclusion", "players_exclusion_is_kept", "until"),
    *kept("players_exclusionlift", "players_exclusionlift_is_kept", "at"),
    *kept("players_registercheck", "players_registercheck_is_kept", "outcome"),
    *kept("players_realitycheck", "players_realitycheck_is_kept", "minutes"),
    *kept("players_closure", "players_closure_is_kept", "at"),
    *kept("players_identity", "players_identity_is_kept", "by"),
    Attack(
        "wallet_payment",
        "wallet_payment_of_known_player",
        copied(
            "wallet_payment",
            "jsonb_build_object('id', gen_random_uuid(), 'token', gen_random_uuid(), 'player_id',"
            " (SELECT player_id FROM players_exclusion WHERE kind = 'self' LIMIT 1))",
        ),
        name="of an excluded player",
    ),
    changed("players_playsession", "players_playsession_rounds_check", "rounds = -1"),
    changed("players_playtime", "players_playtime_seconds_check", "seconds = -1"),
    changed("players_limitchange", "players_limit_amount", "amount = -1"),
    changed("players_limitchange", "players_limit_kind", "kind = 'luck'"),
    changed("players_limitchange", "players_limit_period", "period = 'year'"),
    changed("players_limitchange", "players_limit_source", "source = 'law'"),
    changed("players_limitchange", "players_limit_order", "effective_at = asked_at - interval '1 day'"),
    changed("players_exclusion", "players_exclusion_lasts", "until = begun"),
    changed("players_exclusion", "players_exclusion_reason", "kind = 'staff', reason = ''"),
    changed("players_exclusionlift", "players_exclusionlift_two_people", "decided_by = asked_by"),
    changed("players_realitycheck", "players_realitycheck_minutes_check", "minutes = -1"),
    Attack(
        "players_exclusion",
        "players_exclusion_begins_now",
        "INSERT INTO players_exclusion (player_id, kind, begun, until, by)"
        " SELECT id, 'time_out', now() - interval '9 days', now() - interval '2 days', 'player:' || id FROM attacked",
        harm="SELECT until < clock_timestamp() FROM players_exclusion ORDER BY id DESC LIMIT 1",
        name="dated back",
    ),
    Attack(
        "players_exclusion",
        "players_exclusion_begins_now",
        "INSERT INTO players_exclusion (player_id, kind, until, reason, by)"
        " SELECT id, 'staff', now() + interval '2 days', 'none', 'staff:0' FROM attacked",
        name="by nobody",
    ),
    Attack(
        "players_registercheck",
        "players_registercheck_begins",
        "INSERT INTO players_registercheck (player_id, register, outcome, at)"
        " SELECT id, 'test', 'clear', now() - interval '9 days' FROM attacked",
        harm="SELECT at < clock_timestamp() - interval '1 day' FROM players_registercheck ORDER BY id DESC LIMIT 1",
        name="dated back",
    ),
    Attack(
        "players_exclusionlift",
        "players_exclusionlift_in_time",
        "INSERT INTO players_exclusionlift (exclusion_id, reason, asked_by, decided_by)"
        " SELECT id, 'please', 'staff:1', 'staff:2' FROM players_exclusion WHERE kind = 'self'",
    ),
]

ATTACKS = AUDIT + LOCKS + CASES + PROTECTION
