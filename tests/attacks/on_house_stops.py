"""Attacks on house stops, and on what a house stop prevents."""

from tests.attacks.attack import Attack, alone, changed, copied, kept, nothing, twice
from tests.attacks.on_money import CASH

STOP = "wallet_housestop"
ROW = f"INSERT INTO {STOP} (at, by_id, reason, ended_at, ended_by_id, ended_reason)"
STOPPED = f"{ROW} SELECT at, by_id, 'an attack', NULL, NULL, '' FROM {STOP} ORDER BY id LIMIT 1"
LAST = f"FROM {STOP} ORDER BY id DESC LIMIT 1"
FINANCE = (
    "(SELECT s.id FROM players_staff AS s JOIN players_user_groups AS m ON m.user_id = s.user_id"
    " JOIN auth_group AS g ON g.id = m.group_id WHERE g.name = 'finance' ORDER BY s.id LIMIT 1)"
)
END = f"UPDATE {STOP} SET ended_at = clock_timestamp(), ended_reason = 'an attack', ended_by_id ="

ATTACKS: list[Attack] = [
    *nothing(STOP, "at by_id ended_reason id reason"),
    twice(STOP, f"{STOP}_pkey"),
    Attack(
        STOP,
        f"{STOP}_one",
        f"INSERT INTO {STOP} (id, at, by_id, reason, ended_reason)"
        f" SELECT -number, at, by_id, reason, '' FROM {STOP}, generate_series(1, 2) AS number",
        alone(STOP, f"{STOP}_one"),
    ),
    changed(STOP, f"{STOP}_by_id_c63fa3ee_fk_players_staff_id", "by_id = -1"),
    changed(STOP, f"{STOP}_ended_by_id_c6ff0ac5_fk_players_staff_id", "ended_by_id = -1"),
    changed(STOP, f"{STOP}_reason", "reason = ''"),
    changed(STOP, f"{STOP}_ended", "ended_reason = ''"),
    *kept(STOP, f"{STOP}_is_kept"),
    *(
        Attack(STOP, f"{STOP}_begins", f"{ROW} SELECT {values} {LAST}", harm=harm, name=name)
        for name, values, harm in (
            ("by another role", f"at, {FINANCE}, 'by finance', NULL, NULL, ''", ""),
            ("over before it began", "at, by_id, 'for nobody', ended_at, ended_by_id, ended_reason", ""),
            (
                "dated back",
                "at - interval '9 days', by_id, 'long ago', NULL, NULL, ''",
                f"SELECT at < clock_timestamp() - interval '1 day' {LAST}",
            ),
        )
    ),
    *(
        Attack(STOP, f"{STOP}_ends", f"UPDATE {STOP} SET {change}", name=name)
        for name, change in {
            "again": "ended_reason = 'another'",
            "not yet": "ended_at = NULL, ended_by_id = NULL, ended_reason = ''",
            "for another reason": "reason = 'another'",
            "of another": f"by_id = {FINANCE}",
        }.items()
    ),
    Attack(STOP, f"{STOP}_ends", f"{END} {FINANCE} WHERE ended_at IS NULL", STOPPED, name="by another role"),
    Attack(STOP, f"{STOP}_ends", f"{END} by_id, reason = 'none' WHERE ended_at IS NULL", STOPPED, name="and altered"),
    Attack(
        STOP,
        f"{STOP}_ends",
        f"UPDATE {STOP} SET ended_at = clock_timestamp() + interval '9 days', ended_reason = 'an attack',"
        " ended_by_id = by_id WHERE ended_at IS NULL",
        STOPPED,
        harm=f"SELECT ended_at > clock_timestamp() + interval '8 days' {LAST}",
        name="some day",
    ),
    Attack(
        "wallet_hold",
        "wallet_hold_may_begin",
        f"SELECT wallet_set_hold(gen_random_uuid(), id, 100) FROM wallet_account WHERE {CASH}",
        STOPPED,
    ),
    Attack(
        "wallet_hold",
        "wallet_hold_may_grow",
        "SELECT wallet_set_hold(round_id, account_id, amount + 1) FROM wallet_hold",
        STOPPED,
    ),
    Attack(
        "wallet_payment",
        "wallet_payment_may_begin",
        copied("wallet_payment", "jsonb_build_object('id', gen_random_uuid(), 'token', gen_random_uuid())"),
        f"{STOPPED}; ALTER TABLE wallet_payment DISABLE TRIGGER wallet_payment_of_known_player",
    ),
]
