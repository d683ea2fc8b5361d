"""`manage.py make_staff EMAIL NAME --role ROLE`: create a staff account as the owner of the
database.

Use it for the first staff accounts, and if too few staff members are left to request and approve
accounts. Otherwise an account takes two people, in the back office under Staff. A house needs two
people, one with the role administrator and the other with administrator or compliance. Needs
DATABASE_OWNER_URL.
"""

from argparse import ArgumentParser

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email

from players.account.registration import EmailTaken
from players.models import Staff
from players.staff import create_first


class Command(BaseCommand):
    """Create a staff account. Its owner sets the first password."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments: e-mail address, name, roles, and another account of the same
        person.
        """
        parser.add_argument("email")
        parser.add_argument("name")
        parser.add_argument(
            "--role", action="append", required=True, dest="roles", help="role; repeat for several roles"
        )
        parser.add_argument("--same-person-as", metavar="EMAIL", help="another account of the same person")

    def handle(
        self, *args: object, email: str, name: str, roles: list[str], same_person_as: str | None, **options: object
    ) -> None:
        """Create the account.

        Raises CommandError for unknown roles, invalid or used addresses, and unknown persons.
        """
        if not settings.DATABASE_OWNER_URL:
            raise CommandError("Set DATABASE_OWNER_URL: the first staff accounts are created by the database owner.")
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email} is not a valid e-mail address.") from error
        known = set(Group.objects.values_list("name", flat=True))
        if unknown := sorted(set(roles) - known):
            raise CommandError(f"Unknown role: {', '.join(unknown)}. Available roles: {', '.join(sorted(known))}.")
        same = Staff.objects.filter(user__email=(same_person_as or "").strip().lower()).first()
        if same_person_as and same is None:
            raise CommandError(f"No staff account has the address {same_person_as}.")
        try:
            staff = create_first(email=email, name=name, roles=tuple(roles), same_person=same.person if same else None)
        except EmailTaken as error:
            raise CommandError(f"An account already uses the address {email}.") from error
        self.stdout.write(
            f"{staff} is created. {name} sets a password under “Forgotten password” on the "
            "log-in page, with a code that "
            f"goes to {email.lower()}, and then a second factor."
        )
