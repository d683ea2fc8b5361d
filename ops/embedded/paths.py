"""Paths of the embedded servers, and the account they run as.

All data is in the project's ``var/``, with two exceptions. Servers refuse to run as root, so root
starts them as `postgres` or `nobody`. If that account cannot access ``var/`` (a clone under /root),
the data is in ``/var/lib/sabot/`` and ``var/postgresql`` is a link to it. The path of a Unix socket
is limited to 107 bytes, so a private folder in ``/tmp`` replaces a longer one.
"""

import hashlib
import os
import pwd
import re
import stat
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

LONGEST_SOCKET_PATH = 107
PORT = 5432  # part of the socket's name, not a network port
SOCKET_OF_POSTGRESQL = f".s.PGSQL.{PORT}"
SOCKET_OF_VALKEY = "valkey.sock"
VALKEY_DATABASES = 4096  # the system uses two; each test uses its own pair
OUTSIDE = Path("/var/lib/sabot")
SHORT = Path("/tmp")  # noqa: S108  (TMPDIR would differ between processes that must meet; the folder made here is private)

DATABASE = "sabot"
SUPERUSER = "postgres"
WEB_ROLE = "sabot_web"
OWNER_ROLE = "sabot_owner"


@dataclass(frozen=True)
class Account:
    """A Unix account that servers started by root run as."""

    name: str
    uid: int
    gid: int

    @classmethod
    def of(cls, entry: pwd.struct_passwd) -> "Account":
        """Create it from an entry of the password database."""
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)


@dataclass(frozen=True)
class Addresses:
    """URLs of the embedded servers, in the formats of the settings."""

    sockets: Path

    def database(self, name: str, role: str) -> str:
        """Return the URL of database *name* for login as *role*."""
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
        """For creating roles and databases."""
        return self.database("postgres", SUPERUSER)

    def broker(self, number: int) -> str:
        """Return the URL of Valkey's database *number*, in Celery's format."""
        return f"redis+socket://{self.sockets / SOCKET_OF_VALKEY}?virtual_host={number}"

    def cache(self, number: int) -> str:
        """Return the URL of Valkey's database *number*, in redis-py's format."""
        return f"unix://{self.sockets / SOCKET_OF_VALKEY}?db={number}"

    @property
    def broker_url(self) -> str:
        """For the broker."""
        return self.broker(0)

    @property
    def cache_url(self) -> str:
        """For the cache."""
        return self.cache(1)


@dataclass(frozen=True)
class Paths:
    """Paths of one installation; reading them creates nothing."""

    var: Path

    @property
    def run(self) -> Path:
        """Folder of the locks."""
        return self.var / "run"

    @property
    def logs(self) -> Path:
        """Folder of the logs of servers and processes."""
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
        """Held by the keeper while it runs; contains its process ID."""
        return self.run / "keeper.lock"

    @property
    def servers_lock(self) -> Path:
        """Inherited by the servers: free only when all of their processes have ended, also after
        ``kill -9`` of the keeper.
        """
        return self.run / "servers.lock"

    @property
    def pointer(self) -> Path:
        """The cluster, or a link to it."""
        return self.var / "postgresql"

    @cached_property
    def account(self) -> Account | None:
        """The account for servers started by root: the owner of the data, else `postgres`, else
        `nobody`. None for other users, and if there is no such account.
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
        """The folder of the servers' data: the existing one, else ``var/`` unless their account
        cannot access it.
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
        """The servers' URLs, whether or not they run."""
        return Addresses(self.sockets)


def can_read(account: Account, path: Path) -> bool:
    """Return whether *account*, with its primary group only, can access every parent folder and
    read *path*. Folders that do not exist yet are ignored.
    """
    return all(_allows(account, step) for step in (path, *path.parents) if step.exists())


def _allows(account: Account, step: Path) -> bool:
    """Check the permission bits of one path: x for a folder, r for a file."""
    status = step.stat()
    read, enter = (stat.S_IRUSR, stat.S_IXUSR)
    needed = enter if stat.S_ISDIR(status.st_mode) else read
    shift = 0 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 6
    return bool(status.st_mode & (needed >> shift))


def _digest(path: Path) -> str:
    """Return a short name derived from *path*."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


class Purpose(Enum):
    """Chosen by the process that starts the servers; others use them as they are."""

    HOUSE = "house"
    BENCH = "bench"
    TESTS = "tests"

    @property
    def durable(self) -> bool:
        """True if a commit is on disk when it returns."""
        return self is not Purpose.TESTS

    @property
    def is_permanent(self) -> bool:
        """True if the data is kept after the last user; otherwise the keeper removes the whole folder."""
        return self is Purpose.HOUSE


class EmbeddedError(Exception):
    """Base class of all errors of this package."""


class NoServerAccount(EmbeddedError):
    """Started by root, and there is no other account for the servers, which refuse to run as root."""


class UnsafeFolder(EmbeddedError):
    """The folder for sockets exists and other users can access it."""


class DataOfAnotherVersion(EmbeddedError):
    """The data folder belongs to another major version of PostgreSQL."""


class DataOfAnotherAccount(EmbeddedError):
    """The data folder belongs to another user of this host."""


class DidNotStart(EmbeddedError):
    """A server, or the keeper, ended before it was ready."""


class StillHeld(EmbeddedError):
    """A lock was not released in time."""
