"""Attacks on notices to all players."""

from tests.attacks.attack import Attack, changed, copied, kept, nothing, twice

STAFF_OF = (
    "(SELECT s.id FROM players_staff AS s JOIN players_user_groups AS m ON m.user_id = s.user_id"
    " JOIN auth_group AS g ON g.id = m.group_id WHERE g.name = '{}' ORDER BY s.id LIMIT 1)"
)
NEXT_YEAR = "'begins_at', begins_at + interval '1 year', 'ends_at', ends_at + interval '1 year'"


def another(change: str) -> str:
    """Return the statement that copies the notice for another time, with a change."""
    return copied("players_notice", f"jsonb_build_object('id', 99, {NEXT_YEAR}, {change})")


ATTACKS: list[Attack] = [
    *nothing("players_notice", "at begins_at by_id ends_at id reason shown_from shown_until texts"),
    twice("players_notice", "players_notice_pkey"),
    twice("players_notice", "players_notice_once", "withdrawn_at IS NULL"),
    changed("players_notice", "players_notice_by_id_c83a5854_fk_players_staff_id", "by_id = -1"),
    changed("players_notice", "players_notice_withdrawn_by_id_8d1f8920_fk_players_staff_id", "withdrawn_by_id = -1"),
    changed("players_notice", "players_notice_times", "ends_at = begins_at"),
    changed("players_notice", "players_notice_withdrawal", "withdrawn_at = now()"),
    *kept("players_notice", "players_notice_is_kept"),
    *(
        Attack("players_notice", "players_notice_begins", another(change), name=name)
        for name, change in {
            "by another role": f"'by_id', {STAFF_OF.format('finance')}",
            "over": "'shown_from', '2020-01-01', 'shown_until', '2020-01-02'",
            "without one language": "'texts', texts - 'ro'",
            "without the time": """'texts', texts || '{"da": "Lukket"}'""",
            "too long": """'texts', texts || jsonb_build_object('de', '{when}' || repeat('x', 300))""",
        }.items()
    ),
    *(
        Attack("players_notice", "players_notice_is_withdrawn", f"UPDATE players_notice SET {change}", name=name)
        for name, change in {
            "other words": """texts = texts || '{"en": "Never mind {when}"}'""",
            "shown longer": "shown_until = shown_until + interval '1 day'",
            "withdrawn by another role": (
                f"withdrawn_at = now(), reason = 'x', withdrawn_by_id = {STAFF_OF.format('finance')}"
            ),
        }.items()
    ),
]
