"""The worker, `python -m casino.worker`: runs the tasks of one queue or of all, in threads.

Celery's command line does the same and imports an interactive shell: seven megabytes in web and worker, and a
twentieth of the processor time of a start.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from celery.utils.nodenames import default_nodename, host_format

from casino.celery import app


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line. Exits with status 2 where it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m casino.worker", description=__doc__)
    everything = os.environ.get("CELERY_WORKER_QUEUES", "")  # as Celery's command line
    parser.add_argument("--queues", default=everything, help="names of queues, separated by commas (all)")
    parser.add_argument("--concurrency", type=int, default=4, help="number of threads (4)")
    parser.add_argument("--hostname", default="celery@%h", help="name of the worker; %%h is the host (celery@%%h)")
    return parser.parse_args(arguments)


def main() -> None:
    """Work until asked to stop. Exits with the worker's status."""
    given = parse(sys.argv[1:])
    worker = app.Worker(
        hostname=host_format(default_nodename(given.hostname)),
        queues=given.queues or None,
        concurrency=given.concurrency,
        pool_cls="threads",
        loglevel=logging.INFO,
        quiet=True,
        # without the messages that workers exchange every two seconds for monitors, which are not used here
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


if __name__ == "__main__":
    main()
