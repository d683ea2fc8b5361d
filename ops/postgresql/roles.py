"""The roles of the house: who owns the tables, who works in them.

``sabot_app`` is a group without log-in that holds the rights `ops.privileges` declares. The login role of web and
workers is a member of it and owns nothing. The owner role migrates; it is no superuser either. Roles are never made by
a migration: they belong to the server.
"""

from dataclasses import dataclass

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

GROUP = "sabot_app"
LONGEST_TRANSACTION = (
    300  # seconds of one of web and workers: events may be dated so long before others that were signed
)
# Of a machine that is gone PostgreSQL hears nothing, and keeps its sessions with their locks, beat's as well, for two
# hours, unless it asks whether somebody is still there. After eleven seconds without an answer it takes them for gone.
LISTENING_FOR_LIFE = {
    "tcp_keepalives_idle": "5s",
    "tcp_keepalives_interval": "2s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "11s",
}


@dataclass(frozen=True)
class Login:
    """A role that logs in; without a password only where the server trusts the socket."""

    name: str
    password: str = ""


def make_house(superuser: Connection, *, web: Login, owner: Login, database: str) -> None:
    """Make the group, both login roles and the database, as far as they are missing; existing passwords are
    replaced. *superuser* is in autocommit.
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
            SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'").format(
                Identifier(database), Identifier(owner.name)
            )
        )
    close_to_public(superuser, database)


def close_to_public(superuser: Connection, database: str) -> None:
    """Let nobody but the owner and the members of the group into *database*; temporary tables, which PostgreSQL lets
    everyone make, are for the owner alone.
    """
    superuser.execute(SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(Identifier(database)))
    superuser.execute(SQL("GRANT CONNECT ON DATABASE {} TO {}").format(Identifier(database), Identifier(GROUP)))


def _make_login(superuser: Connection, login: Login) -> None:
    if not _exists(superuser, "SELECT 1 FROM pg_roles WHERE rolname = %s", login.name):
        superuser.execute(
            SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(Identifier(login.name))
        )
    if login.password:
        # Hashed here, so that no log of the server ever holds it.
        hashed = superuser.pgconn.encrypt_password(login.password.encode(), login.name.encode(), b"scram-sha-256")
        superuser.execute(SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(login.name), Literal(hashed.decode())))


def _exists(superuser: Connection, question: str, name: str) -> bool:
    return superuser.execute(SQL(question), [name]).fetchone() is not None
