"""Attacks on partners of the seamless wallet, on their keys, and on what studios do with our balances."""

from tests.attacks.attack import Attack, changed, copied, kept, nothing, twice

PARTNER, KEY, PLAYER = "wallet_partner", "wallet_partner_key", "wallet_studio_player"
SESSION, ROW = "wallet_game_session", "wallet_studio_transaction"
STUDIO = "kind = 'studio' AND currency = 'SEK' AND mode = 'R'"
OPERATOR = (
    "(SELECT s.id FROM players_staff AS s JOIN players_user_groups AS m ON m.user_id = s.user_id"
    " JOIN auth_group AS g ON g.id = m.group_id WHERE g.name = 'operator' ORDER BY s.id LIMIT 1)"
)
NEW_KEYS = "'bet_key', gen_random_uuid(), 'win_key', gen_random_uuid()"
UNBOOKED = f"ALTER TABLE {ROW} DISABLE TRIGGER {ROW}_is_booked"


def approved_again(table: str) -> str:
    """Return the statement that lets one approval be used twice."""
    return f"ALTER TABLE {table} DROP CONSTRAINT {table}_approval_id_key"


def row(**changes: str) -> str:
    """Return the statement that copies the first transaction, a bet, with *changes* of columns in SQL."""
    said = "".join(f", '{column}', {value}" for column, value in changes.items())
    return copied(ROW, f"jsonb_build_object('id', -1, 'transaction', 'an attack', {NEW_KEYS}{said})")


HOOK, DELIVERY, TRY = "wallet_webhook", "wallet_webhook_delivery", "wallet_webhook_try"

ATTACKS: list[Attack] = [
    *nothing(HOOK, "address id key_name kinds made_at made_by_id name on_since sealed"),
    *nothing(DELIVERY, "at due_at event_id id kind state tries webhook_id"),
    *nothing(TRY, "at delivery_id id milliseconds said"),
    *(twice(table, f"{table}_pkey") for table in (HOOK, DELIVERY, TRY)),
    twice(HOOK, f"{HOOK}_key_name_key"),
    twice(DELIVERY, f"{DELIVERY}_once"),
    changed(HOOK, f"{HOOK}_kinds", "kinds = ARRAY['login.failed']"),
    changed(HOOK, f"{HOOK}_https", "address = 'http://hooks.example/'"),
    changed(HOOK, f"{HOOK}_previous", "previous_key_name = 'k'"),
    Attack(HOOK, f"{HOOK}_changes", f"UPDATE {HOOK} SET address = 'https://mine.example/'", name="without an event"),
    changed(HOOK, "wallet_webhook_made_by_id_81a6e10f_fk_players_staff_id", "made_by_id = -1"),
    changed(DELIVERY, "wallet_webhook_deliv_webhook_id_c1087441_fk_wallet_we", "webhook_id = -1"),
    changed(DELIVERY, f"{DELIVERY}_ended", "state = 'delivered', ended_at = NULL"),
    changed(DELIVERY, f"{DELIVERY}_tries_check", "tries = -1"),
    changed(TRY, "wallet_webhook_try_delivery_id_80b86c30_fk_wallet_we", "delivery_id = -1"),
    changed(TRY, f"{TRY}_milliseconds_check", "milliseconds = -1"),
    changed(TRY, f"{TRY}_status_check", "status = -1"),
    *kept(HOOK, f"{HOOK}_is_kept"),
    *kept(DELIVERY, f"{DELIVERY}_is_kept"),
    *kept(TRY, f"{TRY}_is_kept", "said"),
    *nothing(PARTNER, "address approval_id code id kind made_at name per_minute"),
    *nothing(KEY, "approval_id id made_at name partner_id sealed"),
    *nothing(PLAYER, "at id name partner_id player_id"),
    *nothing(SESSION, "digest ends_at id mode opened_at session_id studio_player_id"),
    *nothing(
        ROW,
        "at balance bet bet_key currency game id mode operation partner_id request_hash round studio_player_id"
        " takes_back transaction win win_key",
    ),
    *(twice(table, f"{table}_pkey") for table in (PARTNER, KEY, PLAYER, SESSION, ROW)),
    *(twice(table, f"{table}_approval_id_key") for table in (PARTNER, KEY)),
    twice(PARTNER, f"{PARTNER}_code_key"),
    twice(KEY, f"{KEY}_name_key"),
    twice(PLAYER, f"{PLAYER}_once"),
    twice(PLAYER, f"{PLAYER}_name"),
    twice(SESSION, f"{SESSION}_digest_key"),
    twice(ROW, f"{ROW}_once"),
    twice(ROW, f"{ROW}_back", "takes_back <> ''"),
    twice(ROW, f"{ROW}_bet_key_key"),
    twice(ROW, f"{ROW}_win_key_key"),
    changed(SESSION, "wallet_game_session_session_id_916b4366_fk_players_session_id", "session_id = gen_random_uuid()"),
    changed(SESSION, "wallet_game_session_studio_player_id_745f1751_fk_wallet_st", "studio_player_id = -1"),
    changed(PARTNER, "wallet_partner_approval_id_f0de796a_fk_audit_approval_id", "approval_id = -1"),
    changed(KEY, "wallet_partner_key_approval_id_4b7e3eaf_fk_audit_approval_id", "approval_id = -1"),
    changed(KEY, "wallet_partner_key_partner_id_56e611e7_fk_wallet_partner_id", "partner_id = -1"),
    changed(PARTNER, "wallet_partner_off_by_id_5303284d_fk_players_staff_id", "off_by_id = -1"),
    changed(PLAYER, "wallet_studio_player_partner_id_10bb91c9_fk_wallet_partner_id", "partner_id = -1"),
    changed(PLAYER, "wallet_studio_player_player_id_66248d32_fk_players_player_id", "player_id = -1"),
    changed(ROW, "wallet_studio_transa_game_session_id_0d97a4c2_fk_wallet_ga", "game_session_id = -1"),
    changed(ROW, "wallet_studio_transa_partner_id_196d18cb_fk_wallet_pa", "partner_id = -1"),
    changed(ROW, "wallet_studio_transa_studio_player_id_45ee9fb2_fk_wallet_st", "studio_player_id = -1"),
    changed(PARTNER, f"{PARTNER}_off", "off_at = clock_timestamp()"),
    changed(PARTNER, f"{PARTNER}_per_minute_check", "per_minute = -1"),
    changed(ROW, f"{ROW}_moves", "bet = -1"),
    Attack(PARTNER, f"{PARTNER}_begins", copied(PARTNER, '\'{"id": -1, "code": "mine"}\''), approved_again(PARTNER)),
    Attack(PARTNER, f"{PARTNER}_ends", f"UPDATE {PARTNER} SET address = 'https://mine.example/'", name="elsewhere"),
    Attack(
        PARTNER,
        f"{PARTNER}_ends",
        f"UPDATE {PARTNER} SET off_at = clock_timestamp(), off_by_id = {OPERATOR}",
        name="by another role",
    ),
    *kept(PARTNER, f"{PARTNER}_is_kept"),
    Attack(KEY, f"{KEY}_begins", copied(KEY, '\'{"id": -1, "name": "mine"}\''), approved_again(KEY), name="a third"),
    Attack(
        KEY,
        f"{KEY}_begins",
        copied(KEY, f"jsonb_build_object('id', -1, 'name', 'mine', 'partner_id', (SELECT max(id) FROM {PARTNER}))"),
        approved_again(KEY),
        name="of another partner",
    ),
    Attack(KEY, f"{KEY}_changes", f"UPDATE {KEY} SET sealed = 'mine'", name="another secret"),
    Attack(KEY, f"{KEY}_changes", f"UPDATE {KEY} SET ended_at = NULL WHERE ended_at IS NOT NULL", name="after its end"),
    *kept(KEY, f"{KEY}_is_kept"),
    *kept(PLAYER, f"{PLAYER}_is_kept", "name"),
    *kept(SESSION, f"{SESSION}_is_kept", "mode"),
    *kept(ROW, f"{ROW}_is_kept", "bet"),
    *(
        Attack(ROW, f"{ROW}_begins", row(**changes), UNBOOKED, name=name)
        for name, changes in {
            "a win without a bet": {"operation": "'win'", "bet": "0", "win": "900", "round": "'none'"},
            "a bet in other money": {"mode": "'F'", "game_session_id": "NULL"},
            "a bet of no session": {"game_session_id": "NULL"},
            "a bet that was taken back": {"transaction": "'back before it came'"},
        }.items()
    ),
    Attack(ROW, f"{ROW}_is_booked", row()),
    Attack(
        ROW,
        f"{ROW}_begins_game",
        row(round="'another'"),
        f"{UNBOOKED}; UPDATE players_jurisdiction SET seconds_between_games = 60;"
        " INSERT INTO games_lastgame SELECT id, gen_random_uuid(), clock_timestamp() FROM players_player",
        name="within a minute of another game",
    ),
    Attack(
        SESSION,
        f"games_{SESSION}_is_open_table",
        copied(SESSION, "jsonb_build_object('id', -1, 'digest', 'mine')"),
        "UPDATE players_jurisdiction SET may_play_in_parallel = false; DELETE FROM games_opentable",
        harm="SELECT NOT EXISTS (SELECT FROM games_opentable WHERE game_session_id = -1)",
        name="leaves the table that was open",
    ),
]
