"""Authentication backend: loads user, player or staff, and second-factor state in one query per request."""

from typing import Final, cast

from allauth.account.auth_backends import AuthenticationBackend
from django.db.models.fields.reverse_related import ForeignObjectRel

from audit.raw_rows import columns, fetch_one, instance
from players.login.second_factor import FACTORS
from players.models import Jurisdiction, Player, Staff, User

WHO: Final = f"""
SELECT {columns(User, "who")}, {columns(Player, "player")}, {columns(Jurisdiction, "law")}, {columns(Staff, "staff")},
    EXISTS (SELECT FROM mfa_authenticator AS factor WHERE factor.user_id = who.id AND factor.type = ANY (%s))
FROM players_user AS who
LEFT JOIN players_player AS player ON player.user_id = who.id
LEFT JOIN players_jurisdiction AS law ON law.code = player.jurisdiction_id
LEFT JOIN players_staff AS staff ON staff.user_id = who.id
WHERE who.id = %s AND NOT coalesce(
    (SELECT lock.locks FROM players_accountlock AS lock WHERE lock.player_id = player.id ORDER BY lock.id DESC LIMIT 1),
    false)
"""  # noqa: S608  (nothing but names of our own columns)


class HouseBackend(AuthenticationBackend):
    """allauth's log-in by e-mail address. Loads the player or staff member with the user."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is closed or locked."""
        row = fetch_one(WHO, [[str(factor) for factor in FACTORS], user_id])
        if row is None:
            return None
        user, player = instance(User, row), instance(Player, row)
        law, staff = instance(Jurisdiction, row), instance(Staff, row)
        if player.pk is not None:
            player.jurisdiction, player.user = law, user
        if staff.pk is not None:
            staff.user = user
        _know(user, "player", player)
        _know(user, "staff", staff)
        (user.has_second_factor,) = row  # type: ignore[attr-defined]  # for `second_factor`
        return user if self.user_can_authenticate(user) else None


def _know(user: User, name: str, found: Player | Staff) -> None:
    """Store what a related name of the user stands for; a row of NULLs stands for nobody."""
    relation = cast("ForeignObjectRel", User._meta.get_field(name))
    relation.set_cached_value(user, None if found.pk is None else found)
