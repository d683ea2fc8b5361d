"""`manage.py create_roles`: prepare an external PostgreSQL server.

Run once, before the first migrate.

Creates the group role sabot_app, the two login roles of DATABASE_URL and DATABASE_OWNER_URL with
the passwords given there, and the database, owned by the second role. Neither role is a superuser.
Existing roles and databases stay; passwords are set again. The URL of a superuser comes from
DATABASE_SUPERUSER_URL (or --superuser-url, which is visible in the process list), such as
postgresql://postgres:...@db.example/postgres.
"""

from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from psycopg.conninfo import conninfo_to_dict

from ops.environment import Environment
from ops.postgresql.roles import Login, make_house


class Command(BaseCommand):
    """Create roles and database on an external server. The embedded server already has them."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the superuser's URL."""
        known = Environment().str("DATABASE_SUPERUSER_URL", default="")
        parser.add_argument("--superuser-url", default=known, metavar="URL")

    def handle(self, *args: Any, superuser_url: str, **options: Any) -> None:
        """Create them. Raises CommandError if a setting is missing or the server refuses."""
        if settings.EMBEDDED:
            raise CommandError("The embedded database has its roles. For a server of your own set DATABASE_URL first.")
        if not superuser_url:
            raise CommandError("Set DATABASE_SUPERUSER_URL to the address of a superuser.")
        web, database = _login("DATABASE_URL", settings.DATABASE_URL)
        owner, database_of_owner = _login("DATABASE_OWNER_URL", settings.DATABASE_OWNER_URL)
        if database != database_of_owner or web.name == owner.name:
            raise CommandError("DATABASE_URL and DATABASE_OWNER_URL must name one database and two roles.")
        try:
            with psycopg.connect(superuser_url, autocommit=True) as superuser:
                make_house(superuser, web=web, owner=owner, database=database)
        except psycopg.Error as error:
            raise CommandError(f"The server refused: {error}") from error
        self.stdout.write(f"{web.name} and {owner.name} can log in to {database}. Next: manage.py migrate")


def _login(name: str, url: str) -> tuple[Login, str]:
    """Parse role, password and database from a URL."""
    parts = conninfo_to_dict(url)
    if not (parts.get("user") and parts.get("dbname")):
        raise CommandError(f"{name} must name a role and a database: postgresql://role:password@host/database")
    return Login(str(parts["user"]), str(parts.get("password") or "")), str(parts["dbname"])
