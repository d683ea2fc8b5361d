"""How each program of the house on this machine is, for whatever starts it again or gives it work: `manage.py healthy`.

Each question is asked from outside the program, as whoever needs it would: web over HTTP, a worker over the broker,
beat by its lock in PostgreSQL, the signer at its socket. Returned is a line that says what was found; `Unwell` says why
not.
"""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import gethostname
from typing import Final

from celery import current_app
from django.conf import settings
from django.db import Error, connection
from kombu.exceptions import OperationalError

from audit.sealing import signing
from ops import beat
from ops.broker import quick_line

PATIENCE: Final = 5.0  # seconds for an answer
LONGEST_TICK: Final = 30  # seconds; a beat at work asks PostgreSQL whether it is its turn at least every five

BEAT_HERE: Final = """
SELECT lock.granted, extract(epoch FROM clock_timestamp() - activity.state_change)
FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
WHERE lock.locktype = 'advisory' AND lock.objsubid = 1 AND lock.classid = %s AND lock.objid = %s
    AND activity.datname = current_database() AND activity.application_name = %s
ORDER BY lock.granted DESC LIMIT 1
"""


class Unwell(Exception):
    """The program does not do its work; the message says why."""


def web() -> str:
    """Ask web on this machine's ``PORT`` whether it is ready, as the house's own host name. Raises Unwell."""
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
    """Ask the worker that is *called* so and has the name of this machine. Raises Unwell."""
    node = f"{called}@{gethostname()}"
    try:
        with quick_line() as broker:
            answers = current_app.control.ping(destination=[node], timeout=PATIENCE, limit=1, connection=broker)
    except (OperationalError, OSError) as error:
        raise Unwell(f"the broker is not reached: {type(error).__name__}") from error
    if not answers:
        raise Unwell(f"{node} does not answer")
    return f"worker: {node} answers"


def clock() -> str:
    """Look for this machine's beat in PostgreSQL, at work or standing by. Raises Unwell."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(BEAT_HERE, [beat.ADVISORY_LOCK >> 32, beat.ADVISORY_LOCK & 0xFFFFFFFF, beat.name()])
            row = cursor.fetchone()
    except Error as error:
        raise Unwell(f"the database does not answer: {type(error).__name__}") from error
    if row is None:
        raise Unwell("no beat of this machine is at work or stands by")
    is_at_work, seconds = row
    if not is_at_work:
        return "beat: stands by"
    if seconds > LONGEST_TICK:
        raise Unwell(f"beat has done nothing for {seconds:.0f} seconds")
    return "beat: at work"


def signer() -> str:
    """Ask the signer of the event log what it signed last. Raises Unwell."""
    try:
        return f"signer: signed {signing.last(Path(settings.AUDIT_SIGNER))} events"
    except signing.SignerAway as away:
        raise Unwell(str(away)) from away


ROLES: Final[Mapping[str, Callable[[], str]]] = {
    "web": web,
    "worker": worker,
    "sealer": partial(worker, "sealer"),
    "beat": clock,
    "signer": signer,
}
