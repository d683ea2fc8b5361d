"""Django's ``migrate``, as the owner of the tables, followed by the rights of the role that web and workers log in
with; a house in which nobody has played yet is at home in its database from then on.
"""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

from casino.backup import home
from casino.privileges import apply_privileges

# Any number, the same in every process: two migrations at once would trip over each other's tables.
ADVISORY_LOCK = 0x5AB07_0001


class Command(migrate.Command):
    """``manage.py migrate``: on the alias ``owner`` unless told otherwise, one at a time."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take Django's own options, with another default."""
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, then grant and revoke."""
        owner = connections[options["database"]]
        with owner.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        try:
            super().handle(*args, **options)
            if not (options["plan"] or options["check_unapplied"]):
                apply_privileges(owner)
                home.settle_in_if_new(owner)
        finally:
            with owner.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])
