"""Machines on one cable each: network namespaces of Linux on a bridge, and what runs in them.

Whoever may not make namespaces gets `Loopback`, the same machines as addresses 127.77.0.x of this one. Their cable
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

from ops.embedded.locks import FileLock

BRIDGE = "sabot"
NAMED = 'echo "$0" > /proc/sys/kernel/hostname; exec "$@"'  # a machine's name is its own
LOCK = Path("/run/sabot-hosts.lock")  # there is one such network at a time
LONGEST = 600.0  # seconds that another one may take
BIN = "/usr/sbin:/usr/bin:/sbin:/bin"
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21  # capabilities(7): what namespaces and their cables take
TOOLS = {"ip": "iproute2", "unshare": "util-linux", "setpriv": "util-linux"}  # by the package that they come in


class NoNamespaces(Exception):
    """Whoever asks may make namespaces, and cannot; the message says what to do."""


@dataclass
class Host:
    """A machine: its name, its address, and the programs that run there."""

    name: str
    address: str
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill(self) -> None:
        """Kill all that runs there. Its kernel lives on, and tells everybody who is connected."""
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

    def power_off(self, host: Host) -> None:
        """Take a machine's power away: all that ran there is dead, and where there is a cable nobody is told."""

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

    def power_off(self, host: Host) -> None:
        """Pull the cable first: the kernel, which is not dead, would end every connection in good order."""
        self.cut(host)
        host.kill()

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

    def power_off(self, host: Host) -> None:
        """Kill it: more cannot be done here."""
        host.kill()

    def close(self) -> None:
        """Take everything down."""
        for host in self._hosts:
            host.kill()


def network() -> Network:
    """Return namespaces to whoever may make them, as root may, and addresses to everybody else.

    Raises NoNamespaces.
    """
    if not may_make_namespaces():
        return Loopback()
    demand_namespaces(BIN)
    return Namespaces()


def may_make_namespaces() -> bool:
    """Say whether the kernel lets this process make networks: it is root, and not root of a container alone."""
    status = Path("/proc/self/status")  # of Linux: elsewhere there are none
    lines = status.read_text().splitlines() if status.exists() else []
    may = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return all(may >> each & 1 for each in (CAP_NET_ADMIN, CAP_SYS_ADMIN))


def demand_namespaces(path: str) -> None:
    """Raises NoNamespaces where a tool is not on that path, or does not get a namespace."""
    if missing := sorted({package for tool, package in TOOLS.items() if not shutil.which(tool, path=path)}):
        raise NoNamespaces(f"No cable can be pulled here. As root: apt-get install {' '.join(missing)}")
    tried = subprocess.run(
        ["unshare", "--net", "--uts", "true"], check=False, capture_output=True, text=True, env={"PATH": path}
    )
    if tried.returncode:
        raise NoNamespaces(f"No cable can be pulled here: {tried.stderr.strip()}")


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
