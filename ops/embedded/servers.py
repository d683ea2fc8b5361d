"""The two servers: PostgreSQL, with creating a cluster, and Valkey, the broker and cache. Both are
started with options, without a configuration file, and waited for until they answer.
"""

import shutil
import signal
import socket
import time

import psycopg

from ops.embedded.binaries import POSTGRESQL_MAJOR, Binaries
from ops.embedded.children import Child, Program, describe, last_lines, spawn
from ops.embedded.paths import (
    DATABASE,
    OWNER_ROLE,
    PORT,
    SOCKET_OF_VALKEY,
    SUPERUSER,
    VALKEY_DATABASES,
    WEB_ROLE,
    DataOfAnotherVersion,
    DidNotStart,
    Paths,
    Purpose,
)
from ops.embedded.users import make_private
from ops.postgresql.roles import Login, make_house

POSTGRESQL = "PostgreSQL"
VALKEY = "Valkey"
SECONDS_TO_RECOVER = 60.0  # recovery after a crash may take a while
SECONDS_TO_START = 20.0  # of Valkey
POLL_SECONDS = 0.02
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
INITDB = (
    f"--username={SUPERUSER}",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--auth-local=trust",  # only the servers' account, its user and root can access the socket's folder
    "--auth-host=reject",
)
SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}
# A test database lives for seconds: with autovacuum, its query plans would depend on timing. Calls of functions are
# counted, for the budgets of what is written.
NOT_DURABLE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "track_functions": "pl",
}


def postgres_program(paths: Paths, binaries: Binaries, purpose: Purpose, inherited: tuple[int, ...]) -> Program:
    """Return the server program. SIGINT stops it cleanly ("fast": open transactions are rolled back)."""
    settings = SETTINGS | {"unix_socket_directories": str(paths.sockets)} | ({} if purpose.durable else NOT_DURABLE)
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return Program(
        name=POSTGRESQL,
        arguments=(str(binaries.postgres), "-D", str(paths.cluster), *options),
        log=paths.logs / "postgresql.log",
        environment=ENVIRONMENT,
        stop_with=signal.SIGINT,
        orphan_with=signal.SIGINT,
        account=paths.account,
        folder=paths.home,
        inherited=inherited,
    )


def prepare_cluster(paths: Paths, binaries: Binaries, purpose: Purpose) -> None:
    """Create the cluster if it is missing, and remove what a killed server left. Call only when no
    server of this cluster runs.

    Raises DataOfAnotherVersion, DidNotStart.
    """
    if not paths.cluster.exists():
        _make_cluster(paths, binaries, purpose)
    made_by = (paths.cluster / "PG_VERSION").read_text().strip()
    if made_by != str(POSTGRESQL_MAJOR):
        raise DataOfAnotherVersion(
            f"{paths.pointer} was made by PostgreSQL {made_by}, this is {POSTGRESQL_MAJOR}: "
            f"dump it with the version that made it, or start again with `make reset`"
        )
    # Another process may have the process ID in this file by now, and PostgreSQL would refuse to start.
    (paths.cluster / "postmaster.pid").unlink(missing_ok=True)


def _make_cluster(paths: Paths, binaries: Binaries, purpose: Purpose) -> None:
    """Run initdb in a temporary folder and rename it, so that an existing cluster is complete."""
    draft = paths.cluster.with_name("postgresql.new")
    shutil.rmtree(draft, ignore_errors=True)
    make_private(draft, paths.account)
    log = paths.logs / "initdb.log"
    syncing = () if purpose.durable else ("--no-sync",)
    process = spawn(
        Program(
            name="initdb",
            arguments=(str(binaries.initdb), f"--pgdata={draft}", *INITDB, *syncing),
            log=log,
            environment=ENVIRONMENT,
            account=paths.account,
            folder=paths.home,
        )
    )
    if status := process.wait():
        raise DidNotStart(f"initdb {describe(status)}:\n{last_lines(log)}")
    draft.rename(paths.cluster)


def wait_for_postgres(paths: Paths, child: Child) -> None:
    """Wait until the server accepts connections, and create roles and database if missing. Raises DidNotStart."""
    deadline = time.monotonic() + SECONDS_TO_RECOVER
    while True:
        try:
            with psycopg.connect(paths.addresses.superuser_url, autocommit=True) as connection:
                make_house(connection, web=Login(WEB_ROLE), owner=Login(OWNER_ROLE), database=DATABASE)
                return
        except psycopg.OperationalError as error:
            status = child.exit_status()
            if status is not None:
                raise DidNotStart(f"{POSTGRESQL} {describe(status)}:\n{last_lines(child.program.log)}") from error
            if time.monotonic() > deadline:
                raise DidNotStart(
                    f"{POSTGRESQL} did not answer within {SECONDS_TO_RECOVER:.0f} seconds: {error}"
                ) from error
        time.sleep(POLL_SECONDS)


def valkey_program(paths: Paths, binaries: Binaries, inherited: tuple[int, ...]) -> Program:
    """Return the server program: listens on a socket only, and syncs writes to disk every second."""
    return Program(
        name=VALKEY,
        arguments=(
            str(binaries.valkey_server),
            *("--port", "0"),
            *("--unixsocket", str(paths.sockets / SOCKET_OF_VALKEY)),
            *("--unixsocketperm", "700"),
            *("--dir", str(paths.valkey)),
            *("--databases", str(VALKEY_DATABASES)),
            *("--appendonly", "yes"),
            *("--appendfsync", "everysec"),
            *("--save", ""),
            *("--hz", "1"),  # background work once a second, not ten times, which costs 0.3 % of a core when idle
        ),
        log=paths.logs / "valkey.log",
        environment={"LC_ALL": "C", "TZ": "UTC"},
        account=paths.account,
        folder=paths.home,
        inherited=inherited,
    )


def wait_for_valkey(paths: Paths, child: Child) -> None:
    """Wait until the server answers. Raises DidNotStart."""
    deadline = time.monotonic() + SECONDS_TO_START
    while not _answers(paths):
        status = child.exit_status()
        if status is not None:
            raise DidNotStart(f"{VALKEY} {describe(status)}:\n{last_lines(child.program.log)}")
        if time.monotonic() > deadline:
            raise DidNotStart(f"{VALKEY} did not answer within {SECONDS_TO_START:.0f} seconds")
        time.sleep(POLL_SECONDS)


def _answers(paths: Paths) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(paths.sockets / SOCKET_OF_VALKEY))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
