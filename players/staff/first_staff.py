"""First staff accounts of an installation, created by the database owner on the command line.

Other staff accounts take two existing staff members (`players.staff`). The owner also uses this if
too few of them are left.
"""

from uuid import UUID

from django.db import IntegrityError, connections, transaction

from audit import log
from players.models import Staff, User
from players.registration import EmailTaken

OWNER = "owner"  # database alias of the owner of the tables
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
    """Create a staff account with *roles* and a verified address.

    Without *password*, the owner of the account sets the first one with a mailed code.
    *same_person* is the person of another account of theirs.

    Raises EmailTaken; ProgrammingError or InternalError if the database refuses, for example for an
    unknown role.
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
