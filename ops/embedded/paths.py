"""Where the embedded servers keep what, and as whom they run.

Everything stands in the project's ``var/``. Two exceptions, both for reasons of the system: servers refuse to run as
root, so that root starts them as `postgres` or `nobody`, and where that account cannot reach ``var/`` (a clone under
/root) the data stands in ``/var/lib/sabot/`` and ``var/postgresql`` is a link there; and a unix socket's path holds 107
bytes, so that a long one is replaced by a private folder in ``/tmp``.
"""

import hashlib
import os
import pwd
import re
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

LONGEST_SOCKET_PATH = 107
PORT = 5432  # no network port: part of the socket's name
SOCKET_OF_POSTGRESQL = f".s.PGSQL.{PORT}"
SOCKET_OF_VALKEY = "valkey.sock"
VALKEY_DATABASES = 4096  # the house uses two; each test takes a pair of its own
OUTSIDE = Path("/var/lib/sabot")
SHORT = Path("/tmp")  # noqa: S108  (TMPDIR would differ between processes that must meet; the folder made here is private)

DATABASE = "sabot"
SUPERUSER = "postgres"
WEB_ROLE = "sabot_web"
OWNER_ROLE = "sabot_owner"


@dataclass(frozen=True)
class Account:
    """A unix account that servers started by root run as."""

    name: str
    uid: int
    gid: int

    @classmethod
    def of(cls, entry: pwd.struct_passwd) -> "Account":
        """Read it from the password database."""
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)


@dataclass(frozen=True)
class Addresses:
    """Where the embedded servers answer, as the settings want them."""

    sockets: Path

    def database(self, name: str, role: str) -> str:
        """Return the address of database *name* for log-in as *role*."""
        return f"postgresql://{role}@/{quote(name)}?host={quote(str(self.sockets))}&port={PORT}"

    @property
    def database_url(self) -> str:
        """For web and workers."""
        return self.database(DATABASE, WEB_ROLE)

    @property
    def database_owner_url(self) -> str:
        """For migrations."""
        return self.database(DATABASE, OWNER_ROLE)

    @property
    def superuser_url(self) -> str:
        """For making roles and databases."""
        return self.database("postgres", SUPERUSER)

    def broker(self, number: int) -> str:
        """Return the address of Valkey's database *number*, as Celery wants it."""
        return f"redis+socket://{self.sockets / SOCKET_OF_VALKEY}?virtual_host={number}"

    def cache(self, number: int) -> str:
        """Return the address of Valkey's database *number*, as redis-py wants it."""
        return f"unix://{self.sockets / SOCKET_OF_VALKEY}?db={number}"

    @property
    def broker_url(self) -> str:
        """For messages."""
        return self.broker(0)

    @property
    def cache_url(self) -> str:
        """For what may be forgotten."""
        return self.cache(1)


@dataclass(frozen=True)
class Places:
    """The folders of one installation; asking makes none of them."""

    var: Path

    @property
    def run(self) -> Path:
        """Locks."""
        return self.var / "run"

    @property
    def logs(self) -> Path:
        """What the servers and the processes of the house print."""
        return self.var / "log"

    @property
    def users_lock(self) -> Path:
        """Held, shared, by every process that uses the servers."""
        return self.run / "users.lock"

    @property
    def start_lock(self) -> Path:
        """Held while a keeper is being started."""
        return self.run / "start.lock"

    @property
    def keeper_lock(self) -> Path:
        """Held by the keeper for its life; its contents are the keeper's process id."""
        return self.run / "keeper.lock"

    @property
    def servers_lock(self) -> Path:
        """Inherited by the servers: free only when every one of their processes is gone, also after ``kill -9`` of
        the keeper.
        """
        return self.run / "servers.lock"

    @property
    def pointer(self) -> Path:
        """The cluster, or a link to it."""
        return self.var / "postgresql"

    @cached_property
    def account(self) -> Account | None:
        """Whom root runs the servers as: whoever owns the data, else `postgres`, else `nobody`. None for an ordinary
        user, and if there is none.
        """
        if os.geteuid() != 0:
            return None
        if self.pointer.is_dir() and (owner := self.pointer.stat().st_uid):
            return Account.of(pwd.getpwuid(owner))
        for name in ("postgres", "nobody"):
            try:
                return Account.of(pwd.getpwnam(name))
            except KeyError:
                continue
        return None

    @cached_property
    def home(self) -> Path:
        """The folder that holds the servers' data: where it is already, else ``var/`` unless their account cannot
        reach it.
        """
        if self.pointer.is_symlink():
            return self.pointer.readlink().parent
        if self.pointer.exists() or self.account is None or can_read(self.account, self.var):
            return self.var
        return OUTSIDE / _digest(self.var)

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data."""
        return self.home / "postgresql"

    @property
    def valkey(self) -> Path:
        """Valkey's data."""
        return self.home / "valkey"

    @property
    def binaries(self) -> Path:
        """Copies of the server binaries, where the servers' account cannot read the virtual environment."""
        return self.home / "binaries"

    @cached_property
    def sockets(self) -> Path:
        """The private folder of both sockets."""
        folder = self.home / "sockets"
        if len(os.fsencode(folder / SOCKET_OF_POSTGRESQL)) <= LONGEST_SOCKET_PATH and re.fullmatch(
            r"[\w./-]+", str(folder), re.ASCII
        ):
            return folder
        return SHORT / f"sabot-{os.geteuid()}-{_digest(self.var)}"

    @property
    def addresses(self) -> Addresses:
        """Where the servers answer once they run."""
        return Addresses(self.sockets)


def can_read(account: Account, path: Path) -> bool:
    """Say whether *account*, with its first group only, may pass every folder on the way and read *path*; folders
    still to be made count as ours.
    """
    return all(_allows(account, step) for step in (path, *path.parents) if step.exists())


def _allows(account: Account, step: Path) -> bool:
    """Read the permission bits of one step: passing a folder needs x, reading a file r."""
    status = step.stat()
    read, enter = (stat.S_IRUSR, stat.S_IXUSR)
    needed = enter if stat.S_ISDIR(status.st_mode) else read
    shift = 0 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 6
    return bool(status.st_mode & (needed >> shift))


def _digest(path: Path) -> str:
    """Name a folder elsewhere after *path*."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
