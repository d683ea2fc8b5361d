"""Cause faults in the parts of a running house, and wait from outside until it has recovered."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import redis
from django.conf import settings
from django.db import Error, connection

from audit.models import Checkpoint
from games.dealer import client
from ops.embedded import Paths, keeper_pid
from ops.fork_server import answers
from tests.drill.commits import Line
from tests.drill.plan import Victim
from tests.drill.simulated_players import PATIENCE

LOOK = 0.05  # seconds between two looks
WORDS = {
    Victim.WEB: "web",
    Victim.WORKER: "worker",
    Victim.BEAT: "beat",
    Victim.SIGNER: "audit.sealing.signer",
    Victim.DEALER: "games.dealer",
    Victim.SEALER: "--queues=seal",
}
SEALS = (Victim.SIGNER, Victim.SEALER)  # they are back when more of the log is signed
NAMES = {Victim.BROKER: "valkey-server", Victim.DATA: "valkey-server", Victim.POSTGRESQL: "postgres"}
READY = {Victim.WORKER: " ready.", Victim.BEAT: "beat: Starting..."}  # what they write to their logs when ready

IsUp = Callable[[], bool]


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until something holds. Fails the drill if it never does."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(LOOK)


class Log:
    """The log of a process, from its current end."""

    def __init__(self, var: Path, name: str) -> None:
        self._path = Paths(var).logs / f"{name}.log"
        self._from = self._path.stat().st_size

    def lines(self) -> list[str]:
        """Return the lines written since."""
        with self._path.open("rb") as log:
            log.seek(self._from)
            return log.read().decode(errors="replace").splitlines()

    def count(self, text: str) -> int:
        """Return the number of lines written since that contain this text."""
        return sum(text in line for line in self.lines())


class House:
    """The processes of a house: those of its launcher, its sealer's keeper and its servers' keeper; and the proxy
    between them and PostgreSQL.
    """

    def __init__(self, var: Path, launcher: int, sealer: int, port: int, line: Line) -> None:
        self.var, self._launcher, self._sealer, self._port, self._line = var, launcher, sealer, port, line

    def strike(self, victim: Victim) -> IsUp:
        """Kill it with SIGKILL, or cut the next few connections at COMMIT. Return a function that tells whether it is
        up again, or whether all these are cut.
        """
        if victim is Victim.COMMITS:
            self._line.cut()
            return lambda: self._line.is_whole
        dead = self._process(victim)
        log = Log(self.var, victim) if victim in READY else None
        signed = _signed() if victim in SEALS else 0
        if victim is Victim.DATA:
            with self._keeper_asleep():
                dead.kill()
                _wait_until_gone(dead)
                shutil.rmtree(Paths(self.var).valkey / "appendonlydir")
        else:
            dead.kill()

        def is_up() -> bool:
            process = self._find(victim)
            if process is None or process.pid == dead.pid:
                return False
            if victim in SEALS:
                return _signed() > signed
            return log.count(READY[victim]) > 0 if log else self._answers(victim)

        return is_up

    @contextmanager
    def _keeper_asleep(self) -> Iterator[None]:
        """Prevent a restart of the servers in the meantime."""
        keeper = psutil.Process(keeper_pid(self.var))
        keeper.suspend()
        try:
            yield
        finally:
            keeper.resume()

    def _process(self, victim: Victim) -> psutil.Process:
        wait_for(lambda: self._find(victim), f"{victim} runs")
        found = self._find(victim)
        assert found
        return found

    def _find(self, victim: Victim) -> psutil.Process | None:
        parent = self._launcher if victim in WORDS else keeper_pid(self.var)
        if victim is Victim.SEALER:
            parent = self._sealer
        try:
            for child in psutil.Process(parent).children(recursive=True) if parent else ():
                if WORDS[victim] in child.cmdline() if victim in WORDS else child.name() == NAMES[victim]:
                    return child
        except psutil.Error:
            return None
        return None

    def _answers(self, victim: Victim) -> bool:
        if victim is Victim.WEB:
            return answers(self._port)
        if victim is Victim.DEALER:
            return _dealer_answers()
        return _database_answers() if victim is Victim.POSTGRESQL else _broker_answers()


def _wait_until_gone(process: psutil.Process) -> None:
    """Wait until the process is a zombie: its parent is suspended and does not reap it."""
    with suppress(psutil.NoSuchProcess):
        wait_for(lambda: process.status() == psutil.STATUS_ZOMBIE, "it is dead")


def _signed() -> int:
    """Return the number of events that a checkpoint covers; 0 while the database is away."""
    try:
        return max(Checkpoint.objects.values_list("size", flat=True), default=0)
    except Error:
        connection.close()
        return 0


def _dealer_answers() -> bool:
    try:
        return bool(client.status(settings.DEALER).key)
    except client.DealerAway:
        return False


def _broker_answers() -> bool:
    try:
        with redis.Redis.from_url(settings.CACHE_URL) as line:
            return bool(line.ping())
    except redis.RedisError:
        return False


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        connection.close()
        return False
    return True
