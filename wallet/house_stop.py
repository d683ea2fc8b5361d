"""House stop: stops and resumes all play and deposits with one row in the database.

During a stop, PostgreSQL refuses new stakes, new banks, new rounds, new deposits and free money.
Players can still remove bets. Accepted bets are dealt, settled and paid. Deposits that are already
with the provider are credited. Withdrawals, log-ins, limits, exclusions and complaints work as
usual.

The rule is in ``sql/functions/house_stop.sql``. Every transaction that begins one of these holds a
shared advisory lock until it commits. `stop_house` takes the same lock exclusively. So it waits for
the transactions that already hold the lock, and those remain valid. Transactions that come later
wait for the stop and are refused.

**After the transaction of `stop_house` has committed, no stake and no deposit begins**, and none is
still in progress. A transaction that hangs delays the stop, and everything that waits behind it,
for at most five minutes.
"""

from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext

from audit import log
from audit.models import Clock
from audit.raw_rows import fetch_one
from players import notify
from players.models import Staff
from wallet.models import HouseStop

IS_STOPPED: Final = "EXISTS (SELECT FROM wallet_housestop WHERE ended_at IS NULL)"
"""SQL condition: the house is stopped. For display and for finding due work; it takes no lock."""


class StopError(Exception):
    """Base error: nothing was done. The message is a sentence for staff."""


class AlreadyStopped(StopError):
    """The house is already stopped. The current stop is unchanged."""

    def __init__(self) -> None:
        super().__init__(gettext("A house stop is already in force."))


class NotStopped(StopError):
    """There is no current stop to end."""

    def __init__(self) -> None:
        super().__init__(gettext("No house stop is in force."))


class NoReason(StopError):
    """The reason is missing."""

    def __init__(self) -> None:
        super().__init__(gettext("Enter a reason. It is recorded."))


@transaction.atomic
def stop_house(*, reason: str, by: Staff) -> HouseStop:
    """Stop all play and new deposits, after transactions in progress have ended.

    Raises NoReason, AlreadyStopped.
    """
    if not reason.strip():
        raise NoReason
    stop, is_new = HouseStop.objects.get_or_create(ended_at=None, defaults={"reason": reason.strip(), "by": by})
    if not is_new:
        raise AlreadyStopped
    log.record("house.stopped", by=str(by), on="house", data={"reason": stop.reason, "stop": stop.pk})
    notify.notify_everybody(stop.pk)
    return stop


@transaction.atomic
def resume_house(*, reason: str, by: Staff) -> HouseStop:
    """End the current stop and return it. Raises NoReason, NotStopped."""
    if not reason.strip():
        raise NoReason
    stop = HouseStop.objects.select_for_update(of=("self",)).filter(ended_at=None).first()
    if stop is None:
        raise NotStopped
    stop.ended_at, stop.ended_by, stop.ended_reason = Clock(), by, reason.strip()
    stop.save(update_fields=["ended_at", "ended_by", "ended_reason"])
    stop.refresh_from_db()
    log.record("house.resumed", by=str(by), on="house", data={"reason": stop.ended_reason, "stop": stop.pk})
    notify.notify_everybody(stop.pk)
    return stop


def current() -> HouseStop | None:
    """Return the current stop for display, or None.

    It may change a moment later. Code that begins play or a deposit calls `is_stopped` instead.
    """
    if fetch_one("SELECT FROM wallet_housestop WHERE ended_at IS NULL", []) is None:
        return None
    return HouseStop.objects.filter(ended_at=None).select_related("by").first()


def is_stopped() -> bool:
    """Return whether the house is stopped. The answer holds until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_is_stopped()")
        (stopped,) = cursor.fetchone()
    return bool(stopped)
