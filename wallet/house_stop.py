"""The whole house is stopped, and goes on: one row that every stake and every deposit reads where the money moves.

While a stop stands, nobody stakes, no bank is put up, no round opens, no deposit begins and no free money is given,
since free play is play. Bets may be taken off. What was accepted is dealt, settled and paid; deposits that are with
their provider are credited; withdrawals, log-ins, limits, exclusions and complaints stay.

PostgreSQL refuses it, whoever asks (``sql/functions/house_stop.sql``). What begins holds a lock with others until it is
committed, and `stop_house` takes the same one alone: it waits for what is on its way, which stands then, and whatever
comes meanwhile waits for the stop and is refused. **After `stop_house` has returned, in a transaction of its own, no
stake and no deposit begins**, nor is any still under way. What is on its way is a statement or a click; one that hangs
holds the stop up for five minutes at most, and everything that would begin with it.
"""

from typing import Final

from django.db import connection, transaction

from audit import log
from audit.models import Clock
from players import notify
from players.models import Staff
from wallet.models import HouseStop

STANDS: Final = "EXISTS (SELECT FROM wallet_housestop WHERE ended_at IS NULL)"
"""Whether a stop stands, within a statement that shows it or looks for what is due. It keeps nobody from stopping."""


class StopError(Exception):
    """Nothing was done. The message is a sentence for staff."""


class AlreadyStopped(StopError):
    """The house is stopped; the stop that stands stays as it is."""

    def __init__(self) -> None:
        super().__init__("The house is stopped already.")


class NotStopped(StopError):
    """There is no stop to end."""

    def __init__(self) -> None:
        super().__init__("The house is not stopped.")


class NoReason(StopError):
    """Why it is done was left out."""

    def __init__(self) -> None:
        super().__init__("Say why: the reason is kept on record.")


@transaction.atomic
def stop_house(*, reason: str, by: Staff) -> HouseStop:
    """Stop the whole house, once what is on its way has concluded. Raises NoReason, AlreadyStopped."""
    if not reason.strip():
        raise NoReason
    stop, is_new = HouseStop.objects.get_or_create(ended_at=None, defaults={"reason": reason.strip(), "by": by})
    if not is_new:
        raise AlreadyStopped
    log.record("house.stopped", by=str(by), on="house", data={"reason": stop.reason, "stop": stop.pk})
    notify.tell_everybody(stop.pk)
    return stop


@transaction.atomic
def resume_house(*, reason: str, by: Staff) -> HouseStop:
    """Let the house go on, and return the stop that ended. Raises NoReason, NotStopped."""
    if not reason.strip():
        raise NoReason
    stop = HouseStop.objects.select_for_update(of=("self",)).filter(ended_at=None).first()
    if stop is None:
        raise NotStopped
    stop.ended_at, stop.ended_by, stop.ended_reason = Clock(), by, reason.strip()
    stop.save(update_fields=["ended_at", "ended_by", "ended_reason"])
    stop.refresh_from_db()
    log.record("house.resumed", by=str(by), on="house", data={"reason": stop.ended_reason, "stop": stop.pk})
    notify.tell_everybody(stop.pk)
    return stop


def current() -> HouseStop | None:
    """Return the stop that stands, for whoever shows it; None while the house goes on. A moment later that may be
    otherwise: what begins asks `is_stopped`.
    """
    return HouseStop.objects.filter(ended_at=None).select_related("by").first()


def is_stopped() -> bool:
    """Say whether the house is stopped, which then stays so until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_is_stopped()")
        (stopped,) = cursor.fetchone()
    return bool(stopped)
