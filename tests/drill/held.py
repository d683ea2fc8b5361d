"""A house for a drill, opened as `make run` opens one.

The queue of the log has its own worker, as on several machines. Processes reach PostgreSQL
through a proxy that can be cut, and messages of the bank go through an unreliable one.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from ops.embedded import Paths
from ops.embedded.paths import DATABASE, SOCKET_OF_POSTGRESQL, WEB_ROLE
from tests.drill.commits import Line, line_to
from tests.drill.postman import Postman, a_postman
from tests.start.support import PROJECT, House, environment, fresh_var

PACE = {
    "REALITY_CHECK_MINUTES": "1000",  # a long drill is one play session, and nobody answers the check
    "LOG_LEVEL": "DEBUG",  # every tick is in the logs, also those that found nothing
    "PAYMENT_ASK_SECONDS": "5",  # of a payment that no message comes about
}
OF_WORKER = {"CELERY_WORKER_QUEUES": "celery"}  # the launcher's worker takes all of them otherwise


@dataclass(frozen=True)
class Held:
    """An open house, and the proxies of its connections."""

    house: House
    sealer: int  # the process that keeps it
    line: Line
    postman: Postman

    @property
    def port(self) -> int:
        """The URL of the web process."""
        port = urlsplit(self.house.url).port
        assert port
        return port


@contextmanager
def held(seed: str) -> Iterator[Held]:
    """Open a separate house."""
    with fresh_var() as var, a_postman(seed) as postman:
        paths = Paths(var)
        with line_to(paths.sockets / SOCKET_OF_POSTGRESQL) as line:
            address = f"postgresql://{WEB_ROLE}@127.0.0.1:{line.port}/{quote(DATABASE)}"
            lines = {
                "DATABASE_URL": f"{address}?sslmode=disable&gssencmode=disable",
                "DATABASE_OWNER_URL": paths.addresses.database_owner_url,
                "PAYMENT_HOST": postman.address,
            }
            house = House(var, extra=PACE | lines | OF_WORKER)
            try:
                with _a_sealer(house.open(), PACE | lines) as sealer:
                    opened = Held(house, sealer, line, postman)
                    postman.house = opened.port
                    yield opened
            finally:
                house.process.terminate()
                house.process.wait()


@contextmanager
def _a_sealer(house: House, extra: dict[str, str]) -> Iterator[int]:
    """Keep a sealer running in the meantime; give the process that keeps it."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.drill.sealer"],
        cwd=PROJECT,
        env=environment(house.var, **extra),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield keeper.pid
    finally:
        keeper.communicate()
