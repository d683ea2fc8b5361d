"""The first members of a house, which nobody could make otherwise: an account of staff takes two people who are there
already (`players.staff`). Whoever owns the database makes them, on the command line; so they do where nobody is left
who can.
"""

from uuid import UUID

from django.db import IntegrityError, connections, transaction

from audit import log
from players.models import Staff, User
from players.registration import EmailTaken

OWNER = "owner"  # the alias of whoever owns the tables
FOUND = "SELECT players_staff_found(%s, %s, %s::text[], %s)"


def found(
    *,
    email: str,
    name: str,
    roles: tuple[str, ...],
    password: str | None = None,
    is_demo: bool = False,
    same_person: UUID | None = None,
) -> Staff:
    """Make someone a member of staff with *roles*, the house vouching for their address. Without *password* they set
    their first one by a code that is mailed to them. *same_person* is the person of another account of theirs.

    Raises EmailTaken; ProgrammingError or InternalError where the database refuses, as for roles that there are not.
    """
    with transaction.atomic(using=OWNER):
        try:
            with transaction.atomic(using=OWNER):
                user = User.objects.db_manager(OWNER).create_user(
                    email, password, verified=True, language="en", is_demo=is_demo
                )
        except IntegrityError as error:
            raise EmailTaken from error
        with connections[OWNER].cursor() as cursor:
            cursor.execute(FOUND, [user.pk, name, list(roles), same_person])
            (number,) = cursor.fetchone()
        staff = Staff.objects.using(OWNER).get(pk=number)
        log.record(
            "staff.employed",
            by="system",
            on=str(staff),
            data={"roles": sorted(roles), "demo": is_demo, "person": str(staff.person)},
            personal={"email": user.email, "name": name},
            using=OWNER,
        )
    return staff
