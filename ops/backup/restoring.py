"""Putting the house up again from a backup, in a database that is empty: all of it or nothing."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from ops.backup import encrypting, pg_tools, taking
from ops.backup.pg_tools import CannotRead, NotEmpty, NotReady, OfAnotherRelease, ProgramFailed
from ops.privileges import APP_ROLE

# The rights are restored, too: most functions that run as the owner are taken from everybody there.
WHOLE: Final = ("--single-transaction", "--exit-on-error", "--no-owner")
MIGRATIONS: Final = "django_migrations"
APPLICATION, NAME = 1, 2  # columns of it
HELD: Final = """
    SELECT count(*) FROM pg_class AS relation JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    WHERE namespace.nspname NOT LIKE 'pg\\_%' AND namespace.nspname <> 'information_schema'
"""
HAS_GROUP: Final = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"
NAMED: Final = 5  # migrations of a newer program that a refusal names


Archive = Callable[[BinaryIO], object]
"""Writes the archive, decrypted, to the given file; what cannot be decrypted raises CannotRead."""


def restore(file: Path, sha256: str = "", identity: Path | None = None) -> None:
    """Write all that is in *file* into the owner's database, as one transaction, and bring its tables up to date. It is
    a copy then, which is to be settled before the house opens. Its SHA-256, if not given, is in the file next to it;
    *identity* is the file of the secret key where it is encrypted. Nothing is written to the disk in plain.

    Raises CannotRead, OfAnotherRelease, NotEmpty, NotReady; ProgramFailed where PostgreSQL would not take it. Nothing
    is changed then.
    """
    _demand_sum(file, sha256)
    archive = _opened(file, identity)
    _demand_whole(file, archive)
    _demand_known(file, archive)
    pg_tools.demand_owner()
    pg_tools.demand_alone()
    _demand_empty()
    pg_tools.run_on(archive, *WHOLE, is_connected=True)
    call_command("migrate", verbosity=0, interactive=False)
    with connections[pg_tools.OWNER].cursor() as cursor:
        cursor.execute("ANALYZE")  # no archive holds what PostgreSQL has learnt of its tables


def _demand_sum(file: Path, sha256: str) -> None:
    """An archive has no sum over itself: PostgreSQL would not mind a letter less in a guard of the ledger. One that is
    encrypted anybody could have encrypted who knows the public key. Raises CannotRead.
    """
    beside = taking.checksum_of(file)
    try:
        found = taking.digest(file)
        if not (sha256 or beside.exists()):
            raise CannotRead(
                f"{file} cannot be verified: {beside} is missing. Its SHA-256 was printed when it"
                " was created and is in the audit log (house.backed_up); pass it with --sha256."
            )
        due = sha256 or beside.read_text().partition(" ")[0]
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRead(f"{file} cannot be read: {error}") from error
    if due.strip().lower() != found:
        raise CannotRead(f"{file} is damaged: its SHA-256 is {found}, expected {due}. Use another copy.")


def _opened(file: Path, identity: Path | None) -> Archive:
    """Return what reads *file*. Raises CannotRead where the key that this takes is not given or is none."""
    if not encrypting.is_encrypted(file):
        return partial(_copy, file)
    if identity is None:
        raise CannotRead(f"{file} is encrypted. Pass the file of the secret key with --identity.")
    return partial(encrypting.decrypt, file, encrypting.identities(identity))


def _copy(file: Path, into: BinaryIO) -> None:
    with file.open("rb") as source:
        shutil.copyfileobj(source, into)


def _demand_whole(file: Path, archive: Archive) -> None:
    """Read it from end to end, and unpack all of it. Raises CannotRead."""
    try:
        pg_tools.run_on(archive, f"--file={os.devnull}")
    except ProgramFailed as error:
        raise CannotRead(f"{file} is not a Sabot backup. {error}") from error


def _demand_known(file: Path, archive: Archive) -> None:
    """Demand that this program knows every change of the tables that the backup has seen. Raises OfAnotherRelease,
    CannotRead.
    """
    done = {(row[APPLICATION], row[NAME]) for row in pg_tools.rows(archive, MIGRATIONS)}
    if not done:
        raise CannotRead(f"{file} is not a Sabot backup: it contains no Sabot tables.")
    known = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    ours = {application for application, _ in known}
    if unknown := sorted(each for each in done if each not in known and each[0] in ours):
        named = ", ".join(".".join(each) for each in unknown[:NAMED])
        raise OfAnotherRelease(
            f"{file} was created by a newer version, with unknown migrations {named}. Restore it with that"
            " version or a later one."
        )


def _demand_empty() -> None:
    """Raises NotEmpty, NotReady."""
    with connections[pg_tools.OWNER].cursor() as cursor:
        cursor.execute(HELD)
        (held,) = cursor.fetchone()
        if held:
            name = connections[pg_tools.OWNER].settings_dict["NAME"]
            raise NotEmpty(
                f"The database {name} holds {held} tables and indexes already. A restore needs an "
                "empty database. Create"
                " one (docs/operating.md), or set DATABASE_URL and DATABASE_OWNER_URL to another."
            )
        cursor.execute(HAS_GROUP, [APP_ROLE])
        (has_group,) = cursor.fetchone()
        if not has_group:
            raise NotReady(f"The server has no role {APP_ROLE}: run manage.py create_roles first.")
