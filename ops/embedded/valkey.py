"""Valkey, the broker and cache: started with options, without a configuration file."""

import socket
import time

from ops.embedded.binaries import Binaries
from ops.embedded.children import Child, Program, describe, last_lines
from ops.embedded.paths import SOCKET_OF_VALKEY, VALKEY_DATABASES, DidNotStart, Paths

NAME = "Valkey"
SECONDS_TO_START = 20.0
POLL_SECONDS = 0.02


def program(paths: Paths, binaries: Binaries, inherited: tuple[int, ...]) -> Program:
    """Return the server program: listens on a socket only, and syncs writes to disk every second."""
    return Program(
        name=NAME,
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


def wait_until_ready(paths: Paths, child: Child) -> None:
    """Wait until the server answers. Raises DidNotStart."""
    deadline = time.monotonic() + SECONDS_TO_START
    while not _answers(paths):
        status = child.exit_status()
        if status is not None:
            raise DidNotStart(f"{NAME} {describe(status)}:\n{last_lines(child.program.log)}")
        if time.monotonic() > deadline:
            raise DidNotStart(f"{NAME} did not answer within {SECONDS_TO_START:.0f} seconds")
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
