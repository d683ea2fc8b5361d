"""Machines on one cable each: network namespaces of Linux on a bridge, and what runs in them.

Where namespaces are not allowed, `Loopback` has the same machines as addresses 127.77.0.x of this one. Their cable
cannot be pulled: they can only be killed.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from casino.embedded.locks import FileLock

BRIDGE = "sabot"
NAMED = 'echo "$0" > /proc/sys/kernel/hostname; exec "$@"'  # a machine's name is its own
LOCK = Path("/run/sabot-hosts.lock")  # there is one such network at a time
LONGEST = 600.0  # seconds that another one may take
BIN = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Host:
    """A machine: its name, its address, and the programs that run there."""

    name: str
    address: str
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill(self) -> None:
        """Take its power away."""
        for program in self.programs:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        self.programs.clear()


class Network(Protocol):
    """Machines that reach each other."""

    can_cut: bool
    front: str  # the address of whoever looks on

    def host(self, name: str) -> Host:
        """Put up a machine."""

    def run(
        self, host: Host, command: Sequence[str], *, log: Path, environment: Mapping[str, str], user: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program on a machine, which writes to *log*; *user* is who it runs as, whoever this is otherwise."""

    def cut(self, host: Host) -> None:
        """Pull a machine's cable: what is under way to it and from it is lost, and nobody is told."""

    def mend(self, host: Host) -> None:
        """Put it in again."""

    def close(self) -> None:
        """Take everything down."""


class Namespaces:
    """Machines that are network namespaces, named ``sabot-…``."""

    can_cut = True
    front = "10.77.0.1"

    def __init__(self) -> None:
        self._hosts: list[Host] = []
        self._alone = FileLock(LOCK).lock(seconds=LONGEST)
        self._clear()  # what a killed one left
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("address", "add", f"{self.front}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")

    def host(self, name: str) -> Host:
        """Put up a machine."""
        host = Host(name, f"10.77.0.{len(self._hosts) + 10}")
        space, cable = _space(host), _cable(host)
        _ip("netns", "add", space)
        _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", cable, "master", BRIDGE, "up")
        _ip("-n", space, "address", "add", f"{host.address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            _ip("-n", space, "link", "set", link, "up")
        self._hosts.append(host)
        return host

    def run(
        self, host: Host, command: Sequence[str], *, log: Path, environment: Mapping[str, str], user: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program on a machine."""
        inside = ("ip", "netns", "exec", _space(host), "unshare", "--uts", "sh", "-c", NAMED, host.name)
        return _start(host, (*inside, *_as(user), *command), log, environment)

    def cut(self, host: Host) -> None:
        """Pull a machine's cable."""
        _ip("link", "set", _cable(host), "down")

    def mend(self, host: Host) -> None:
        """Put it in again."""
        _ip("link", "set", _cable(host), "up")

    def close(self) -> None:
        """Take everything down."""
        for host in self._hosts:
            host.kill()
        self._clear()
        self._alone.close()

    def _clear(self) -> None:
        """Take down every machine of such a name, and the bridge."""
        for line in _ip("netns", "list").splitlines():
            name = line.split()[0]
            if name.startswith(f"{BRIDGE}-"):
                for left in _ip("netns", "pids", name).split():
                    with suppress(ProcessLookupError):
                        os.kill(int(left), signal.SIGKILL)
                _ip("netns", "delete", name)
        for cable in Path("/sys/class/net").glob(f"{BRIDGE}-*"):
            with suppress(subprocess.CalledProcessError):  # most are gone with their machine
                _ip("link", "delete", cable.name)
        if Path("/sys/class/net", BRIDGE).exists():
            _ip("link", "delete", BRIDGE)


class Loopback:
    """Machines that are addresses of this one."""

    can_cut = False
    front = "127.77.0.1"

    def __init__(self) -> None:
        self._hosts: list[Host] = []

    def host(self, name: str) -> Host:
        """Put up a machine."""
        self._hosts.append(Host(name, f"127.77.0.{len(self._hosts) + 10}"))
        return self._hosts[-1]

    def run(
        self, host: Host, command: Sequence[str], *, log: Path, environment: Mapping[str, str], user: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program."""
        return _start(host, (*_as(user), *command), log, environment)

    def cut(self, host: Host) -> None:
        """There is no cable."""
        raise NotImplementedError

    def mend(self, host: Host) -> None:
        """There is no cable."""
        raise NotImplementedError

    def close(self) -> None:
        """Take everything down."""
        for host in self._hosts:
            host.kill()


def network() -> Network:
    """Return machines of the best kind that is allowed here."""
    if os.geteuid() == 0 and shutil.which("ip", path=BIN) and shutil.which("unshare", path=BIN):
        tried = subprocess.run(["unshare", "--net", "--uts", "true"], check=False, capture_output=True)
        if tried.returncode == 0:
            return Namespaces()
    return Loopback()


def _as(user: int | None) -> tuple[str, ...]:
    """Have a program die with whoever started it, and run as a user."""
    who = () if user is None else (f"--reuid={user}", f"--regid={user}", "--clear-groups")
    return ("setpriv", "--pdeathsig=KILL", *who)


def _start(host: Host, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        program = subprocess.Popen(
            command,
            env={"PATH": BIN, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    host.programs.append(program)
    return program


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, env={"PATH": BIN})
    return done.stdout


def _space(host: Host) -> str:
    return f"{BRIDGE}-{host.name}"


def _cable(host: Host) -> str:
    return f"{BRIDGE}-{host.name}"[:15]
