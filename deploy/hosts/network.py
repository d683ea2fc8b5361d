"""Simulated machines: Linux network namespaces on a bridge, and their programs.

A user without the right to create namespaces gets `Loopback`: the same machines as addresses
127.77.0.x of this one. These cannot be disconnected, only killed.
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

from ops.embedded.users import FileLock

BRIDGE = "sabot"
NAMED = 'echo "$0" > /proc/sys/kernel/hostname; exec "$@"'  # gives a machine its own host name
LOCK = Path("/run/sabot-hosts.lock")  # only one such network at a time
LONGEST = 600.0  # seconds to wait for another network
BIN = "/usr/sbin:/usr/bin:/sbin:/bin"
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21  # capabilities(7) needed for namespaces and their links
TOOLS = {"ip": "iproute2", "unshare": "util-linux", "setpriv": "util-linux"}  # by package


class NoNamespaces(Exception):
    """The user may create namespaces, but it fails; the message says what to do."""


@dataclass
class Host:
    """A machine: its name, its address, and its programs."""

    name: str
    address: str
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill(self) -> None:
        """Kill all programs. The kernel stays alive and closes their connections."""
        for program in self.programs:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        self.programs.clear()


class Network(Protocol):
    """Machines that reach each other."""

    can_cut: bool
    front: str  # the address of an observer

    def host(self, name: str) -> Host:
        """Create a machine."""

    def run(
        self, host: Host, command: Sequence[str], *, log: Path, environment: Mapping[str, str], user: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program on a machine with output to *log*, as *user* or as the current user."""

    def cut(self, host: Host) -> None:
        """Unplug a machine: packets to and from it are lost, and no peer is notified."""

    def mend(self, host: Host) -> None:
        """Plug a machine in again."""

    def power_off(self, host: Host) -> None:
        """Power a machine off: its programs are killed. With a cable, no peer is notified."""

    def close(self) -> None:
        """Remove everything."""


class Namespaces:
    """Machines as network namespaces, named ``sabot-…``."""

    can_cut = True
    front = "10.77.0.1"

    def __init__(self) -> None:
        self._hosts: list[Host] = []
        self._alone = FileLock(LOCK).lock(seconds=LONGEST)
        self._clear()  # remains of a killed run
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("address", "add", f"{self.front}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")

    def host(self, name: str) -> Host:
        """Create a machine."""
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
        """Unplug a machine."""
        _ip("link", "set", _cable(host), "down")

    def mend(self, host: Host) -> None:
        """Plug a machine in again."""
        _ip("link", "set", _cable(host), "up")

    def power_off(self, host: Host) -> None:
        """Unplug the machine, then kill its programs.

        Otherwise the kernel, which stays alive, would close every connection properly.
        """
        self.cut(host)
        host.kill()

    def close(self) -> None:
        """Remove everything."""
        for host in self._hosts:
            host.kill()
        self._clear()
        self._alone.close()

    def _clear(self) -> None:
        """Remove all machines with such names, and the bridge."""
        for line in _ip("netns", "list").splitlines():
            name = line.split()[0]
            if name.startswith(f"{BRIDGE}-"):
                for left in _ip("netns", "pids", name).split():
                    with suppress(ProcessLookupError):
                        os.kill(int(left), signal.SIGKILL)
                _ip("netns", "delete", name)
        for cable in Path("/sys/class/net").glob(f"{BRIDGE}-*"):
            with suppress(subprocess.CalledProcessError):  # most are removed with their machine
                _ip("link", "delete", cable.name)
        if Path("/sys/class/net", BRIDGE).exists():
            _ip("link", "delete", BRIDGE)


class Loopback:
    """Machines as addresses of this one."""

    can_cut = False
    front = "127.77.0.1"

    def __init__(self) -> None:
        self._hosts: list[Host] = []

    def host(self, name: str) -> Host:
        """Create a machine."""
        self._hosts.append(Host(name, f"127.77.0.{len(self._hosts) + 10}"))
        return self._hosts[-1]

    def run(
        self, host: Host, command: Sequence[str], *, log: Path, environment: Mapping[str, str], user: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program."""
        return _start(host, (*_as(user), *command), log, environment)

    def cut(self, host: Host) -> None:
        """Fail, because this needs a cable. Raises NotImplementedError."""
        raise NotImplementedError

    def mend(self, host: Host) -> None:
        """Fail, because this needs a cable. Raises NotImplementedError."""
        raise NotImplementedError

    def power_off(self, host: Host) -> None:
        """Kill the programs, the most that is possible here."""
        host.kill()

    def close(self) -> None:
        """Remove everything."""
        for host in self._hosts:
            host.kill()


def network() -> Network:
    """Return namespaces if this process may create them, else addresses.

    Raises NoNamespaces.
    """
    if not may_make_namespaces():
        return Loopback()
    demand_namespaces(BIN)
    return Namespaces()


def may_make_namespaces() -> bool:
    """Return whether the kernel lets this process create networks: it is root, and not only in a
    container.
    """
    status = Path("/proc/self/status")  # exists only on Linux
    lines = status.read_text().splitlines() if status.exists() else []
    may = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return all(may >> each & 1 for each in (CAP_NET_ADMIN, CAP_SYS_ADMIN))


def demand_namespaces(path: str) -> None:
    """Check that the tools are on *path* and a namespace can be created. Raises NoNamespaces."""
    if missing := sorted({package for tool, package in TOOLS.items() if not shutil.which(tool, path=path)}):
        raise NoNamespaces(f"No cable can be pulled here. As root: apt-get install {' '.join(missing)}")
    tried = subprocess.run(
        ["unshare", "--net", "--uts", "true"], check=False, capture_output=True, text=True, env={"PATH": path}
    )
    if tried.returncode:
        raise NoNamespaces(f"No cable can be pulled here: {tried.stderr.strip()}")


def _as(user: int | None) -> tuple[str, ...]:
    """Return the command prefix that ends a program with its parent and runs it as a user."""
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
