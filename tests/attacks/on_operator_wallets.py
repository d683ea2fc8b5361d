"""Attacks on the tables of operator wallets: players, visits, bets and messages to the operator."""

from tests.attacks.attack import Attack, changed, copied, kept, nothing, twice

PLAYER, LAUNCH = "wallet_operator_player", "wallet_operator_launch"
BET, MESSAGE = "wallet_operator_bet", "wallet_operator_message"
OPERATORS = "kind = 'operator' AND currency = 'SEK'"
ATTACKED = "(SELECT id FROM attacked)"
SUPPORT = (
    "(SELECT s.id FROM players_staff AS s JOIN players_user_groups AS m ON m.user_id = s.user_id"
    " JOIN auth_group AS g ON g.id = m.group_id WHERE g.name <> 'finance' ORDER BY s.id LIMIT 1)"
)
NEW_BET = "'id', gen_random_uuid(), 'round_id', gen_random_uuid()"
NEW_MESSAGE = "'id', -1, 'transaction', gen_random_uuid(), 'state', 'waiting', 'ended_at', NULL"


ATTACKS: list[Attack] = [
    *nothing(PLAYER, "balance name partner_id player_id"),
    *nothing(LAUNCH, "at digest ends_at game id language operator_player_id token"),
    *nothing(BET, "amount asked_at currency game id launch_id player_id reference round_id state why"),
    *nothing(MESSAGE, "amount at bet_id due_at id kind note reference said state transaction tries"),
    *(twice(table, f"{table}_pkey") for table in (PLAYER, LAUNCH, BET, MESSAGE)),
    twice(PLAYER, f"{PLAYER}_once"),
    twice(LAUNCH, f"{LAUNCH}_digest_key"),
    twice(LAUNCH, f"{LAUNCH}_session_key", "session IS NOT NULL"),
    twice(BET, f"{BET}_of_round", "state = 'played'"),
    twice(MESSAGE, f"{MESSAGE}_transaction_key"),
    twice(MESSAGE, f"{MESSAGE}_one_win", "kind = 'win'"),
    twice(MESSAGE, f"{MESSAGE}_one_back", "kind = 'rollback'"),
    changed(PLAYER, "wallet_operator_player_partner_id_84ebe6f3_fk_wallet_partner_id", "partner_id = -1"),
    changed(PLAYER, "wallet_operator_player_player_id_361e9838_fk_players_player_id", "player_id = -1"),
    changed(LAUNCH, "wallet_operator_laun_operator_player_id_767a0e73_fk_wallet_op", "operator_player_id = -1"),
    changed(BET, "wallet_operator_bet_launch_id_77a8bee3_fk_wallet_op", "launch_id = -1"),
    changed(BET, "wallet_operator_bet_player_id_ee383d92_fk_players_player_id", "player_id = -1"),
    changed(MESSAGE, "wallet_operator_mess_bet_id_1ec5a0d6_fk_wallet_op", "bet_id = gen_random_uuid()"),
    changed(MESSAGE, "wallet_operator_mess_settled_by_id_03eacc62_fk_players_s", "settled_by_id = -1"),
    changed(PLAYER, f"{PLAYER}_balance", "balance = -1"),
    changed(BET, f"{BET}_amount", "amount = 0"),
    changed(BET, f"{BET}_state", "state = 'lost'"),
    changed(BET, f"{BET}_ended", "ended_at = NULL", "state = 'played'"),
    changed(MESSAGE, f"{MESSAGE}_says", "takes_back = gen_random_uuid()", "kind = 'win'"),
    changed(MESSAGE, f"{MESSAGE}_ended", "note = 'an attack'", "state = 'taken'"),
    changed(MESSAGE, f"{MESSAGE}_tries_check", "tries = -1"),
    *(item for table in (PLAYER, LAUNCH, BET, MESSAGE) for item in kept(table, f"{table}_is_kept")),
    Attack(PLAYER, f"{PLAYER}_begins", copied(PLAYER, f"jsonb_build_object('player_id', {ATTACKED}, 'name', 'mine')")),
    Attack(PLAYER, f"{PLAYER}_changes", f"UPDATE {PLAYER} SET name = player_id::text"),
    *(
        Attack(LAUNCH, f"{LAUNCH}_is_used", f"UPDATE {LAUNCH} SET {change}", name=name)
        for name, change in {
            "again": "session = gen_random_uuid() WHERE session IS NOT NULL",
            "for longer": "ends_at = ends_at + interval '1 day'",
            "without a log-in": "session = gen_random_uuid() WHERE used_at IS NULL",
        }.items()
    ),
    *(
        Attack(
            BET, f"{BET}_begins", copied(BET, f"jsonb_build_object({NEW_BET}, 'ended_at', NULL, {change})"), name=name
        )
        for name, change in {
            "of another player": f"'state', 'asked', 'player_id', {ATTACKED}",
            "in other money": "'state', 'asked', 'currency', 'DKK'",
        }.items()
    ),
    Attack(
        BET,
        f"{BET}_begins",
        copied(BET, f"jsonb_build_object({NEW_BET}, 'state', 'refused', 'ended_at', clock_timestamp())"),
        name="decided",
    ),
    *(
        Attack(BET, f"{BET}_is_decided", f"UPDATE {BET} SET {change}", name=name)
        for name, change in {
            "again": "state = 'refused' WHERE state = 'played'",
            "for more": "amount = amount + 1 WHERE state = 'played'",
        }.items()
    ),
    Attack(
        BET,
        f"{BET}_is_notified",
        f"UPDATE {BET} SET state = 'given_up', ended_at = clock_timestamp() WHERE state = 'asked'",
    ),
    Attack(
        MESSAGE,
        f"{MESSAGE}_begins",
        copied(
            MESSAGE,
            f"jsonb_build_object({NEW_MESSAGE}, 'kind', 'rollback', 'amount', 0, 'takes_back', gen_random_uuid(),"
            " 'tries', 0, 'said', '', 'reference', '')",
        ),
    ),
    *(
        Attack(MESSAGE, f"{MESSAGE}_moves", f"UPDATE {MESSAGE} SET {change}", name=name)
        for name, change in {
            "for more": "amount = amount + 1 WHERE kind = 'win'",
            "after its end": "state = 'waiting', ended_at = NULL WHERE state = 'taken'",
            "by another role": "state = 'settled', ended_at = clock_timestamp(), note = 'an attack',"
            f" settled_by_id = {SUPPORT} WHERE state = 'doubt'",
        }.items()
    ),
]
