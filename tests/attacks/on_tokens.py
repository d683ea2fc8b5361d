"""Attacks on API tokens: their scopes, their expiry and their owners."""

from tests.attacks.attack import Attack, changed, copied, kept, nothing, twice

TABLE = "players_api_token"
OTHERS = (
    "(SELECT s.id FROM players_session AS s WHERE s.user_id NOT IN (SELECT user_id FROM players_api_token) LIMIT 1)"
)
STAFF = "(SELECT user_id FROM players_staff ORDER BY id LIMIT 1)"


def another(change: str) -> str:
    """Return the statement that copies a token with another key, which nobody has used, and a change."""
    fresh = (
        "'id', 99, 'digest', sha256('another'), 'used_at', null, 'used_from', '', 'revoked_at', null,"
        " 'session_id', null, 'ends_at', clock_timestamp() + interval '1 day'"
    )
    return copied(TABLE, f"jsonb_build_object({fresh}) || jsonb_build_object({change})")


ATTACKS: list[Attack] = [
    *nothing(TABLE, "digest ends_at id made_at name per_minute scopes start used_from user_id"),
    twice(TABLE, f"{TABLE}_pkey"),
    twice(TABLE, f"{TABLE}_digest_key"),
    changed(TABLE, f"{TABLE}_user_id_5ae63912_fk_players_user_id", "user_id = -1"),
    changed(TABLE, f"{TABLE}_session_id_26de86c9_fk_players_session_id", "session_id = gen_random_uuid()"),
    changed(TABLE, f"{TABLE}_rate", "per_minute = 0"),
    changed(TABLE, f"{TABLE}_per_minute_check", "per_minute = -1"),
    changed(TABLE, f"{TABLE}_is_hashed", "digest = '\\x00'"),
    changed(TABLE, f"{TABLE}_is_for_something", "scopes = '{}'"),
    *kept(TABLE, f"{TABLE}_is_kept"),
    *(
        Attack(TABLE, f"{TABLE}_begins", another(change), name=name)
        for name, change in {
            "for longer than a year": "'ends_at', clock_timestamp() + interval '366 days'",
            "over": "'ends_at', clock_timestamp() - interval '1 day'",
            "used before": "'used_at', clock_timestamp()",
            "with the events": "'scopes', '[\"read\", \"events\"]'::jsonb",
            "of staff that plays": f"'user_id', {STAFF}, 'scopes', '[\"play\"]'::jsonb",
        }.items()
    ),
    Attack(
        TABLE,
        f"{TABLE}_begins",
        another("'made_at', clock_timestamp() - interval '9 days'"),
        harm=f"SELECT made_at < clock_timestamp() - interval '1 day' FROM {TABLE} ORDER BY id LIMIT 1",
        name="dated back",
    ),
    *(
        Attack(TABLE, f"{TABLE}_stays", f"UPDATE {TABLE} SET {change}", name=name)
        for name, change in {
            "another key": "digest = sha256(digest)",
            "for longer": "ends_at = ends_at + interval '1 day'",
            "for more": "scopes = '{read,play,limits}'",
            "as often as one likes": "per_minute = 1000000",
            "called otherwise": "name = 'Other'",
            "somebody else's": f"user_id = {STAFF}",
            "in somebody else's session": f"session_id = {OTHERS}",
        }.items()
    ),
    Attack(
        TABLE,
        f"{TABLE}_stays",
        f"UPDATE {TABLE} SET revoked_at = NULL WHERE revoked_at IS NOT NULL",
        name="holding again",
    ),
    Attack(
        TABLE,
        f"{TABLE}_stays",
        f"UPDATE {TABLE} SET revoked_at = clock_timestamp() - interval '9 days' WHERE revoked_at IS NULL",
        harm=f"SELECT min(revoked_at) < clock_timestamp() - interval '1 day' FROM {TABLE}",
        name="revoked long ago",
    ),
]
