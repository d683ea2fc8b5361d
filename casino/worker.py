"""The worker, `python -m casino.worker`: runs the tasks of one queue or of all, in threads.

Celery's command line does the same and imports an interactive shell: seven megabytes in web and worker, and a
twentieth of the processor time of a start. And its worker ends with a message that nobody has sent through Celery;
this one drops it.
"""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from queue import Empty
from typing import Any, Final

from celery.utils.nodenames import default_nodename, host_format
from celery.worker import consumer
from kombu.message import Message
from kombu.transport import TRANSPORT_ALIASES, redis

from casino.celery import app

logger = logging.getLogger(__name__)

LOGGED: Final = 200  # characters of a dropped message


def is_broker_lost(error: Exception) -> bool:
    """Return whether the connection is to blame. kombu counts each KeyError as that, which a message can cause."""
    return isinstance(error, redis.Transport.connection_errors) and not isinstance(error, KeyError)


class Channel(redis.Channel):
    """Drops what is in a queue and is not a message at all."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # not in the stubs
        except Exception as error:
            if isinstance(error, (Empty, *self.connection.channel_errors)) or is_broker_lost(error):
                raise
            logger.exception("dropped what is in a queue and is not a message")
            return True


class Transport(redis.Transport):
    """Connection to the broker with that channel."""

    Channel = Channel


class Consumer(consumer.Consumer):
    """Drops a message that calls no task in the way of Celery."""

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Message], Any]:
        """Return what takes a message, and raises an error only if the broker is gone."""
        take = super().create_task_handler(*args, **kwargs)

        def take_or_drop(message: Message) -> Any:
            try:
                return take(message)
            except Exception as error:
                if is_broker_lost(error):
                    raise
                logger.exception("dropped a message that is not Celery's: %.*r", LOGGED, message.body)
                message.reject_log_error(logger, redis.Transport.connection_errors)

        return take_or_drop


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
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = lambda: Transport  # type: ignore[assignment]  # not in the stubs
    worker = app.Worker(
        hostname=host_format(default_nodename(given.hostname)),
        queues=given.queues or None,
        concurrency=given.concurrency,
        pool_cls="threads",
        consumer_cls=Consumer,
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
