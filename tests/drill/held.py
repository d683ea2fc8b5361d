"""A house for a drill: opened as `make run` opens one, for as long as the drill lasts."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.start.support import PROJECT, House, environment, fresh_var

PACE = {
    "REALITY_CHECK_MINUTES": "1000",  # a long drill is one sitting, and nobody there to answer
    "LOG_LEVEL": "DEBUG",  # every tick is in the logs, also those that found nothing
}


@contextmanager
def house() -> Iterator[House]:
    """A house of its own that is open."""
    with fresh_var() as var:
        made = House(var, extra=PACE)
        try:
            yield made.open()
        finally:
            made.process.terminate()
            made.process.wait()


def drill(held_in: House, *plan: str, quietly: bool = False) -> subprocess.CompletedProcess[str]:
    """Hold a drill in an open house, the short one or a seed and a number of rounds; say how it went, or show it."""
    port = urlsplit(held_in.url).port
    return subprocess.run(
        [sys.executable, "-m", "tests.drill.inside", str(held_in.process.pid), str(port), *plan],
        cwd=PROJECT,
        env=environment(held_in.var),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if quietly else None,
        stderr=subprocess.STDOUT if quietly else None,
        text=True,
        check=False,
    )
