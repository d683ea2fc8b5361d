"""Attacks on staff accounts, their roles, and the history of both."""

from tests.attacks.attack import Attack, changed, kept, twice

LAST = "(SELECT max(user_id) FROM players_staff)"
NEW_LOGIN = "SELECT id FROM players_user WHERE id NOT IN (SELECT user_id FROM players_staff) ORDER BY id LIMIT 1"

ATTACKS = [
    *kept("players_staff_change", "players_staff_change_is_kept", "after"),
    changed("players_staff_change", "players_staff_change_kind", "kind = 'staff.praise'"),
    changed("players_staff_change", "players_staff_change_two_people", "kind = 'staff.roles', approval_id = NULL"),
    twice("players_staff_change", "players_staff_change_once", "approval_id IS NOT NULL"),
    *kept("players_staff", "players_staff_is_kept"),
    Attack(
        "players_staff",
        "players_staff_identity",
        f"UPDATE players_staff SET user_id = ({NEW_LOGIN}) WHERE user_id = {LAST}",
    ),
    Attack("players_staff", "players_staff_one_person", "UPDATE players_staff SET person = gen_random_uuid()"),
    Attack(
        "players_staff",
        "players_staff_is_approved",
        f"INSERT INTO players_staff (user_id, name) SELECT id, 'Nobody' FROM ({NEW_LOGIN}) AS login",
    ),
    Attack(
        "players_user_groups", "players_user_groups_identity", "UPDATE players_user_groups SET id = id", name="UPDATE"
    ),
    Attack("players_user_groups", "players_user_groups_identity", "TRUNCATE players_user_groups", name="TRUNCATE"),
    Attack("players_user_groups", "players_user_groups_is_approved", "DELETE FROM players_user_groups", name="DELETE"),
    Attack(
        "players_user_groups",
        "players_user_groups_is_approved",
        f"INSERT INTO players_user_groups (user_id, group_id) SELECT {LAST}, id FROM auth_group"
        f" WHERE id NOT IN (SELECT group_id FROM players_user_groups WHERE user_id = {LAST}) LIMIT 1",
        name="INSERT",
    ),
]
