"""Django's ``migrate``, run as the owner of the tables, followed by the SQL files of the apps
(`ops.sql_files`), the highest payout odds of the installed games, the keys of the dealer's proofs, and
the privileges of the login role of web and workers. A database without rounds is then marked as activated.
"""

import time
from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.core.management.sql import emit_post_migrate_signal
from django.db import OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from psycopg.errors import DeadlockDetected, LockNotAvailable

from audit import id_ranges, initial_migration
from games.rounds import reference_data
from ops import sql_files
from ops.backup import activation
from ops.privileges import apply_privileges
from players.login import credentials
from players.protection import eligibility

# An arbitrary number, the same in every process: concurrent migrations would conflict.
ADVISORY_LOCK = 0x5AB07_0001
# A statement that waits for a table blocks all later ones: play is blocked no longer than this by a
# migration.
LONGEST_WAIT: Final = "500ms"  # less than `deadlock_timeout`: the migration fails, not play
TURN: Final = 0.2  # seconds between checks whether another migration has ended
PAUSE: Final = 2.0  # seconds for statements that have queued behind the lock
LONGEST: Final = 900.0  # seconds until giving up; a report may read for five minutes
NAMED: Final = 5  # unknown migrations listed in an error
OTHERS: Final = ("app_label", "fake", "fake_initial", "plan", "check_unapplied", "run_syncdb", "prune")
"""Options with which Django does something else than to apply everything."""
BY_MONTHS: Final = ("audit_event", "wallet_entry", "wallet_journal")  # tables partitioned by month


class Command(migrate.Command):
    """Migrate the database, one migration at a time. Uses the alias ``owner`` by default."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add Django's options with other defaults. System checks are skipped: `make lint` runs
        them, and nothing starts unsafely (`ops.checks`).
        """
        super().add_arguments(parser)
        parser.set_defaults(database="owner", skip_checks=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, apply changed SQL files, then grant and revoke privileges."""
        owner = connections[options["database"]]
        _take_turn(owner)
        try:
            with owner.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{LONGEST_WAIT}'")
            self._insist(owner, lambda: self._migrate(owner, *args, **options))
            if not (options["plan"] or options["check_unapplied"]):
                self._insist(owner, lambda: self._finish(owner, options["verbosity"]))
        finally:
            with owner.cursor() as cursor:
                cursor.execute("RESET lock_timeout")
                cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])

    def _migrate(self, owner: BaseDatabaseWrapper, *args: Any, **options: Any) -> None:
        """Do what Django does, without rendering models where nothing is to be applied, nor on an empty database."""
        executor = MigrationExecutor(owner)
        loader = executor.loader
        _refuse_newer(loader)
        plan = [migration for migration, _ in executor.migration_plan(loader.graph.leaf_nodes())]
        is_empty = not loader.applied_migrations
        if any(options[name] for name in OTHERS) or (plan and not (is_empty and initial_migration.can_build(plan))):
            super().handle(*args, **options)
            return
        if plan:
            with owner.schema_editor() as schema_editor:
                initial_migration.build(plan, schema_editor)
        emit_post_migrate_signal(options["verbosity"], options["interactive"], owner.alias)

    def _insist(self, owner: BaseDatabaseWrapper, action: Callable[[], object]) -> None:
        """Repeat *action* until it gets its locks; completed parts are kept.

        Raises CommandError after `LONGEST`.
        """
        until = time.monotonic() + LONGEST
        while True:
            try:
                action()
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
        """Apply SQL files, what the rules allow and privileges in one transaction, so that running processes never
        lack a privilege. Raises CommandError.
        """
        try:
            with transaction.atomic(using=owner.alias), owner.cursor() as cursor:
                applied = sql_files.apply(cursor, sql_files.definitions())
                reference_data.store_highest_odds(cursor)
                reference_data.store_bet_combinations(cursor)
                eligibility.store_licence(cursor)
                apply_privileges(owner)
                if not reference_data.store_dealer_keys(cursor):
                    raise CommandError(
                        "DEALER_PROOF_KEY is missing. Set it to the content of the dealer's file proof.key: the"
                        " database needs it to check what the dealer dealt."
                    )
                if not credentials.store_keys(owner):
                    raise CommandError("CREDENTIALS_KEY is missing. The database needs it to check changes of log-ins.")
        except (sql_files.SqlFileError, reference_data.WrongKey) as error:
            raise CommandError(str(error)) from error
        if verbosity:
            for file, definitions in groupby(applied, key=lambda each: each.file):
                self.stdout.write(f"  Applied {file}: {', '.join(each.name for each in definitions)}")
        with owner.cursor() as cursor:
            for table in BY_MONTHS:
                cursor.execute("SELECT audit_keep_months(%s, %s)", [table, id_ranges.AHEAD])
        activation.settle_in_if_new(owner)


def _refuse_newer(loader: MigrationLoader) -> None:
    """Raise CommandError if the database has migrations that this release does not know."""
    unknown = sorted(
        node
        for node in loader.applied_migrations
        if node[0] in loader.migrated_apps and node not in loader.disk_migrations
    )
    if unknown:
        named = ", ".join(".".join(node) for node in unknown[:NAMED])
        raise CommandError(
            f"The database is newer than this version. Unknown migrations: {named}. Start the version that migrated it,"
            " or a later one."
        )


def _take_turn(owner: BaseDatabaseWrapper) -> None:
    """Wait until no other migration is running, by polling. A blocked statement would hold a
    snapshot, and a concurrent index build waits for all older snapshots.
    """
    with owner.cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK])
            if cursor.fetchone() == (True,):
                return
            time.sleep(TURN)
