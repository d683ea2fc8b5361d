"""`manage.py healthy ROLE`: check one process of the house on this host, for supervisors and load
balancers. Exit status 0 if healthy, else 1.

Each check works from outside, as clients do: web over HTTP, a worker over the broker, beat by its
lock in PostgreSQL, the signer and the dealer at their sockets. A check returns a line about what it found, or raises
`Unwell` with the reason.
"""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import gethostname
from typing import Any, Final

from celery import current_app
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, connection
from kombu.exceptions import OperationalError

from audit.sealing import signing
from games.dealer import client
from ops import beat
from ops.readiness import quick_line

PATIENCE: Final = 5.0  # seconds to wait for an answer
LONGEST_TICK: Final = 30  # seconds; an active beat queries PostgreSQL at least every five

BEAT_HERE: Final = """
SELECT lock.granted, extract(epoch FROM clock_timestamp() - activity.state_change)
FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
WHERE lock.locktype = 'advisory' AND lock.objsubid = 1 AND lock.classid = %s AND lock.objid = %s
    AND activity.datname = current_database() AND activity.application_name = %s
ORDER BY lock.granted DESC LIMIT 1
"""


class Unwell(Exception):
    """The process does not work; the message says why."""


def web() -> str:
    """Check that web on this host's ``PORT`` is ready, using the system's own host name. Raises Unwell."""
    line = HTTPConnection("127.0.0.1", int(settings.PORT), timeout=PATIENCE)
    try:
        line.request("GET", "/readyz", headers={"Host": settings.HOUSE_HOST})
        answer = line.getresponse()
        said = answer.read().decode(errors="replace").strip().replace("\n", "; ")
    except (OSError, HTTPException) as error:
        raise Unwell(f"web does not answer at port {settings.PORT}: {error}") from error
    finally:
        line.close()
    if answer.status != HTTPStatus.OK:
        raise Unwell(f"web answers {answer.status}: {said}")
    return f"web: {said}"


def worker(called: str = "celery") -> str:
    """Check the worker named *called* on this host. Raises Unwell."""
    node = f"{called}@{gethostname()}"
    try:
        with quick_line() as broker:
            answers = current_app.control.ping(destination=[node], timeout=PATIENCE, limit=1, connection=broker)
    except (OperationalError, OSError) as error:
        raise Unwell(f"the broker is not reachable: {type(error).__name__}") from error
    if not answers:
        raise Unwell(f"{node} does not answer")
    return f"worker: {node} answers"


def clock() -> str:
    """Check that this host's beat is active or standing by, in PostgreSQL. Raises Unwell."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(BEAT_HERE, [beat.ADVISORY_LOCK >> 32, beat.ADVISORY_LOCK & 0xFFFFFFFF, beat.name()])
            row = cursor.fetchone()
    except Error as error:
        raise Unwell(f"the database does not answer: {type(error).__name__}") from error
    if row is None:
        raise Unwell("no beat is active or standing by on this host")
    is_at_work, seconds = row
    if not is_at_work:
        return "beat: standby"
    if seconds > LONGEST_TICK:
        raise Unwell(f"beat has done nothing for {seconds:.0f} seconds")
    return "beat: active"


def signer() -> str:
    """Check that the signer of the event log answers, and return what it signed last. Raises Unwell."""
    try:
        return f"signer: signed {signing.last(Path(settings.AUDIT_SIGNER))} events"
    except signing.SignerAway as away:
        raise Unwell(str(away)) from away


def dealer() -> str:
    """Check that the dealer answers, and return how many rounds it has dealt since its start. Raises Unwell."""
    try:
        return f"dealer: dealt {client.status(settings.DEALER).deals} rounds"
    except (client.DealerAway, client.InvalidAnswer) as away:
        raise Unwell(str(away)) from away


ROLES: Final[Mapping[str, Callable[[], str]]] = {
    "web": web,
    "worker": worker,
    "sealer": partial(worker, "sealer"),
    "beat": clock,
    "signer": signer,
    "dealer": dealer,
}


class Command(BaseCommand):
    """Check one process. Skips Django's system checks, because a probe runs every few seconds."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the role."""
        parser.add_argument("role", choices=ROLES)

    def handle(self, *args: Any, role: str, **options: Any) -> None:
        """Print the result. Raises CommandError if the process is not healthy."""
        try:
            self.stdout.write(ROLES[role]())
        except Unwell as reason:
            raise CommandError(str(reason)) from reason
