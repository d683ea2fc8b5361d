"""Django's ``migrate``, as the owner of the tables, followed by the SQL files of the apps (`ops.sql_files`) and the
rights of the role that web and workers log in with. A house without a round is at home in its database from then on.
"""

import time
from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from psycopg.errors import DeadlockDetected, LockNotAvailable

from audit import partitions
from ops import sql_files
from ops.backup import database_identity
from ops.privileges import apply_privileges

# Any number, the same in every process: two migrations at once would trip over each other's tables.
ADVISORY_LOCK = 0x5AB07_0001
# Whoever waits for a table holds up all that come after them: play waits no longer than this behind a migration.
LONGEST_WAIT: Final = "500ms"  # less than `deadlock_timeout`: a migration gives way, not play
TURN: Final = 0.2  # seconds between two questions whether another migration is done
PAUSE: Final = 2.0  # seconds for what has queued meanwhile
LONGEST: Final = 900.0  # seconds until it is given up; a report may read for five minutes
NAMED: Final = 5  # migrations of a newer program that a refusal names
BY_MONTHS: Final = ("audit_event", "wallet_entry", "wallet_journal")  # tables kept by months


class Command(migrate.Command):
    """``manage.py migrate``: on the alias ``owner`` unless told otherwise, one at a time."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take Django's own options, with other defaults: `make lint` runs the checks, and nothing that is not safe is
        opened (`ops.checks`).
        """
        super().add_arguments(parser)
        parser.set_defaults(database="owner", skip_checks=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, apply the SQL files that have changed, then grant and revoke."""
        owner = connections[options["database"]]
        _refuse_newer(owner)
        _take_turn(owner)
        try:
            with owner.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{LONGEST_WAIT}'")
            self._insist(owner, lambda: super(Command, self).handle(*args, **options))
            if not (options["plan"] or options["check_unapplied"]):
                self._insist(owner, lambda: self._finish(owner, options["verbosity"]))
        finally:
            with owner.cursor() as cursor:
                cursor.execute("RESET lock_timeout")
                cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])

    def _insist(self, owner: BaseDatabaseWrapper, deed: Callable[[], object]) -> None:
        """Do something again and again until it has got its locks; what was done of it stays. Raises CommandError."""
        until = time.monotonic() + LONGEST
        while True:
            try:
                deed()
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
                    raise
                if time.monotonic() > until:
                    raise CommandError(f"A table is in use, and has been for {LONGEST:.0f} seconds: {error}") from error
                self.stderr.write("A table is in use; trying again …")
                time.sleep(PAUSE)
            else:
                return

    def _finish(self, owner: BaseDatabaseWrapper, verbosity: int) -> None:
        """Apply SQL files, grant and revoke, all at once: the version that serves may not be without its rights for a
        moment. Raises CommandError.
        """
        try:
            with transaction.atomic(using=owner.alias), owner.cursor() as cursor:
                applied = sql_files.apply(cursor, sql_files.definitions())
                apply_privileges(owner)
        except sql_files.SqlFileError as error:
            raise CommandError(str(error)) from error
        if verbosity:
            for file, definitions in groupby(applied, key=lambda each: each.file):
                self.stdout.write(f"  Applied {file}: {', '.join(each.name for each in definitions)}")
        with owner.cursor() as cursor:
            for table in BY_MONTHS:
                cursor.execute("SELECT audit_keep_months(%s, %s)", [table, partitions.AHEAD])
        database_identity.settle_in_if_new(owner)


def _refuse_newer(owner: BaseDatabaseWrapper) -> None:
    """Raises CommandError where the database has had migrations that this program does not know."""
    loader = MigrationLoader(owner)
    unknown = sorted(
        node
        for node in loader.applied_migrations
        if node[0] in loader.migrated_apps and node not in loader.disk_migrations
    )
    if unknown:
        named = ", ".join(".".join(node) for node in unknown[:NAMED])
        raise CommandError(
            f"The database is newer than this program, which does not know {named}. Start the program that migrated it,"
            " or a later one."
        )


def _take_turn(owner: BaseDatabaseWrapper) -> None:
    """Wait until no other migration is under way, asking now and again: a statement that waits is one that sees what
    was, and an index made beside play waits in turn for the end of all those.
    """
    with owner.cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK])
            if cursor.fetchone() == (True,):
                return
            time.sleep(TURN)
