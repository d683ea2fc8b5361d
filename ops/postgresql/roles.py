"""Database roles: the owner of the tables, and the login role of web and workers.

``sabot_app`` is a group without login that has the privileges declared in `ops.privileges`. The
login role of web and workers is a member and owns nothing. The owner role runs migrations and is
not a superuser either. Migrations never create roles, because roles belong to the server.
"""

from dataclasses import dataclass

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

GROUP = "sabot_app"
LONGEST_TRANSACTION = (
    300  # limit in seconds for web and workers: an event may be dated this long before others that are signed
)
# If a client host disappears, PostgreSQL keeps its sessions and locks, including beat's, for two
# hours, unless keepalive is enabled. With these settings it closes them after eleven seconds
# without an answer.
LISTENING_FOR_LIFE = {
    "tcp_keepalives_idle": "5s",
    "tcp_keepalives_interval": "2s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "11s",
}


class OwnerMigrates:
    """Database router: only the owner of the tables may migrate them; everything else uses the login role."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        """Return whether *db* may be migrated: the alias ``owner``."""
        return db == "owner"


@dataclass(frozen=True)
class Login:
    """A login role; the password is empty only where the server trusts the socket."""

    name: str
    password: str = ""


def make_house(superuser: Connection, *, web: Login, owner: Login, database: str) -> None:
    """Create the group, both login roles and the database where missing; passwords are replaced.
    *superuser* is in autocommit mode.
    """
    if not _exists(superuser, "SELECT 1 FROM pg_roles WHERE rolname = %s", GROUP):
        superuser.execute(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(GROUP)))
    for login in (web, owner):
        _make_login(superuser, login)
    for setting, value in {"transaction_timeout": f"{LONGEST_TRANSACTION}s", **LISTENING_FOR_LIFE}.items():
        superuser.execute(SQL("ALTER ROLE {} SET {} = {}").format(Identifier(web.name), Identifier(setting), value))
    superuser.execute(SQL("GRANT {} TO {}").format(Identifier(GROUP), Identifier(web.name)))
    if not _exists(superuser, "SELECT 1 FROM pg_database WHERE datname = %s", database):
        superuser.execute(
            SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8' STRATEGY FILE_COPY").format(
                Identifier(database), Identifier(owner.name)
            )
        )  # PostgreSQL's default, copying through the log, takes twice the time
    close_to_public(superuser, database)


def close_to_public(superuser: Connection, database: str) -> None:
    """Restrict *database* to the owner and the group; only the owner may create temporary tables,
    which PostgreSQL allows to everyone by default.
    """
    superuser.execute(SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(Identifier(database)))
    superuser.execute(SQL("GRANT CONNECT ON DATABASE {} TO {}").format(Identifier(database), Identifier(GROUP)))


def _make_login(superuser: Connection, login: Login) -> None:
    if not _exists(superuser, "SELECT 1 FROM pg_roles WHERE rolname = %s", login.name):
        superuser.execute(
            SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(Identifier(login.name))
        )
    if login.password:
        # Hashed here, so that the password never appears in the server's log.
        hashed = superuser.pgconn.encrypt_password(login.password.encode(), login.name.encode(), b"scram-sha-256")
        superuser.execute(SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(login.name), Literal(hashed.decode())))


def _exists(superuser: Connection, question: str, name: str) -> bool:
    return superuser.execute(SQL(question), [name]).fetchone() is not None
