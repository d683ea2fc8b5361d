"""`python -m tests.drill.sealer`: keep a worker running that takes only the queue of the log.

It ends when the process that started it closes its input or exits.
"""

import os
import select
import sys

from django.conf import settings

from ops.embedded.children import Child, Program
from ops.embedded.paths import Paths

LOOK = 0.2  # seconds between two looks
PATIENCE = 10.0  # seconds for it to end
WORKER = ("-m", "casino.worker", "--concurrency=2")
QUEUE = ("--queues=seal", "--hostname=sealer@%h")


def main() -> None:
    """Start it, again and again."""
    log = Paths(settings.VAR_DIR).logs / "sealer.log"
    program = Program("Sealer", (sys.executable, *WORKER, *QUEUE), log, os.environ, folder=settings.BASE_DIR)
    sealer = Child(program, print)
    sealer.start()
    while not select.select([sys.stdin], [], [], LOOK)[0]:
        sealer.revive()
    sealer.ask_to_stop()
    sealer.wait(PATIENCE)


if __name__ == "__main__":
    main()
