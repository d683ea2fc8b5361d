"""Attacks on final rounds, to get another result."""

from tests.attacks.attack import Attack, changed, kept, nothing, twice

SETTLED = "(SELECT id FROM games_liveround WHERE phase = 'settled' AND id NOT IN (SELECT round_id FROM games_void))"
ALONE = "(SELECT id FROM games_round WHERE shoe_id IS NULL ORDER BY at LIMIT 1)"


NO_CAUSE = "ALTER TABLE games_void DISABLE TRIGGER games_void_has_its_cause"


def voided(round_id: str, reason: str, by: str) -> str:
    return f"INSERT INTO games_void (round_id, reason, by) VALUES ({round_id}, '{reason}', '{by}')"


def returned_by(round_id: str) -> str:
    """Return the statement that reverses the stakes of a round without a void."""
    return (
        "SELECT * FROM wallet_reverse(ARRAY[(SELECT id FROM wallet_journal WHERE kind IN ('stake', 'held_stake')"
        f" AND round_id = {round_id})], ARRAY[gen_random_uuid()], 'void')"
    )


ATTACKS: list[Attack] = [
    *nothing("games_void", "at by reason round_id"),
    twice("games_void", "games_void_pkey"),
    changed("games_void", "games_void_round_id_0a6fa32c_fk_games_round_id", "round_id = gen_random_uuid()"),
    *kept("games_void", "games_void_is_kept", "reason"),
    *(
        Attack("games_void", "games_void_has_its_reason", voided(SETTLED, reason, "staff:1"), NO_CAUSE, name=name)
        for name, reason in (
            ("one person", "decided"),
            ("too late to cancel", "cancelled"),
            ("paid in time", "overdue"),
            ("no reason", "x"),
        )
    ),
    Attack("games_void", "games_void_has_its_reason", voided(ALONE, "decided", "staff:1"), name="of one player"),
    Attack("games_void", "games_void_has_its_cause", voided(ALONE, "not_reproduced", "system")),
    Attack("wallet_journal", "wallet_journal_reverses_a_void", returned_by(SETTLED), name="of all"),
    Attack("wallet_journal", "wallet_journal_reverses_a_void", returned_by(ALONE), name="of one player"),
]
