"""Attacks on the stored answers to calls of API clients."""

from tests.attacks.attack import Attack, changed, copied, nothing, twice

TABLE = "players_api_call"


def another(change: str) -> str:
    """Return the statement that copies a call under another key, with a change."""
    fresh = "'id', 99, 'key', 'another', 'status', 0, 'body', ''"
    return copied(TABLE, f"jsonb_build_object({fresh}) || jsonb_build_object({change})")


ATTACKS: list[Attack] = [
    *nothing(TABLE, "at body id key request_hash status token_id"),
    twice(TABLE, f"{TABLE}_pkey"),
    twice(TABLE, f"{TABLE}_once"),
    changed(TABLE, f"{TABLE}_token_id_8db165f3_fk_players_api_token_id", "token_id = -1"),
    changed(TABLE, f"{TABLE}_has_a_key", "key = ''"),
    changed(TABLE, f"{TABLE}_is_hashed", "request_hash = '\\x00'"),
    changed(TABLE, f"{TABLE}_status", "status = 500"),
    changed(TABLE, f"{TABLE}_status_check", "status = -1"),
    *(
        Attack(TABLE, f"{TABLE}_begins", another(change), name=name)
        for name, change in {"answered": "'status', 200", "with words": "'body', '{}'"}.items()
    ),
    Attack(
        TABLE,
        f"{TABLE}_begins",
        another("'at', clock_timestamp() - interval '9 days'"),
        harm=f"SELECT at < clock_timestamp() - interval '1 day' FROM {TABLE} WHERE key = 'another'",
        name="dated back",
    ),
    *(
        Attack(TABLE, f"{TABLE}_is_answered", f"UPDATE {TABLE} SET {change}", name=name)
        for name, change in {
            "another answer": "body = '{\"paid\": 1}'",
            "unanswered again": "status = 0",
            "another request": "request_hash = sha256('')",
        }.items()
    ),
    Attack(TABLE, f"{TABLE}_is_kept", f"DELETE FROM {TABLE}"),
    Attack(TABLE, f"{TABLE}_stays", f"TRUNCATE {TABLE}"),
]
