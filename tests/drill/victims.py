"""Killing programs of a house that runs, and seeing from outside when they are up again."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import redis
from django.conf import settings
from django.db import Error, connection

from casino.embedded import Places, keeper_pid
from casino.launcher import answers
from tests.drill.plan import Victim

PATIENCE = 120.0  # seconds that a busy machine may take for anything at all
LOOK = 0.05  # seconds between two looks
WORDS = {Victim.WEB: "uvicorn", Victim.WORKER: "worker", Victim.BEAT: "beat"}
NAMES = {Victim.BROKER: "valkey-server", Victim.POSTGRESQL: "postgres"}
READY = {Victim.WORKER: " ready.", Victim.BEAT: "beat: Starting..."}  # what they write in their logs


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until something holds. Fails the drill if it never does."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(LOOK)


class Log:
    """The log of a program, from the end it has now."""

    def __init__(self, var: Path, name: str) -> None:
        self._path = Places(var).logs / f"{name}.log"
        self._from = self._path.stat().st_size

    def lines(self) -> list[str]:
        """What was written since, line by line."""
        with self._path.open("rb") as log:
            log.seek(self._from)
            return log.read().decode(errors="replace").splitlines()

    def count(self, text: str) -> int:
        """How many lines written since have that in them."""
        return sum(text in line for line in self.lines())


class House:
    """The programs of a house: of its launcher, and of the keeper of its servers."""

    def __init__(self, var: Path, launcher: int, port: int) -> None:
        self.var, self._launcher, self._port = var, launcher, port

    def kill(self, victim: Victim) -> Callable[[], bool]:
        """Kill it with SIGKILL; what is returned says whether it is up again."""
        dead = self._process(victim)
        log = Log(self.var, victim) if victim in READY else None
        dead.kill()

        def is_up() -> bool:
            process = self._find(victim)
            if process is None or process.pid == dead.pid:
                return False
            return log.count(READY[victim]) > 0 if log else self._answers(victim)

        return is_up

    def _process(self, victim: Victim) -> psutil.Process:
        wait_for(lambda: self._find(victim), f"{victim} runs")
        found = self._find(victim)
        assert found
        return found

    def _find(self, victim: Victim) -> psutil.Process | None:
        parent = self._launcher if victim in WORDS else keeper_pid(self.var)
        try:
            for child in psutil.Process(parent).children() if parent else ():
                if WORDS[victim] in child.cmdline() if victim in WORDS else child.name() == NAMES[victim]:
                    return child
        except psutil.Error:
            return None
        return None

    def _answers(self, victim: Victim) -> bool:
        if victim is Victim.WEB:
            return answers(self._port)
        return _broker_answers() if victim is Victim.BROKER else _database_answers()


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
