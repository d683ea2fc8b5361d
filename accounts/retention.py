"""Deletion of data past its retention period. `audit.retention` holds the periods."""

from collections.abc import Callable, Mapping
from typing import Final

from accounts import erasure
from audit import log, retention
from audit.models import Kept
from games.chat import moderation
from players import mail
from players.api import tokens
from players.identity import verification
from players.login import sessions
from players.support import conversations


def forget_addresses() -> int:
    """Delete old IP addresses of sessions, API tokens and events. Return the number deleted."""
    return sessions.forget_addresses() + tokens.forget_addresses() + retention.expire(Kept.ADDRESS)


# Each step works in batches with one transaction each. An interrupted step continues at the next run.
STEPS: Final[Mapping[Kept, Callable[[], int]]] = {
    Kept.ACCOUNT: erasure.erase_due,
    Kept.CONVERSATION: conversations.forget_old,
    Kept.CHAT: moderation.forget_old,
    Kept.REFUSED_PAPERS: verification.forget_refused,
    Kept.MAIL: mail.forget_old,
    Kept.ADDRESS: forget_addresses,
    Kept.WRONG_LOG_IN: lambda: retention.expire(Kept.WRONG_LOG_IN),
    Kept.LOOK: lambda: retention.expire(Kept.LOOK),
}


def expire() -> dict[Kept, int]:
    """Run all deletion steps, record how much each deleted, and return it.

    A failing step does not stop the others. Raises ExceptionGroup of all failures at the end.
    """
    gone: dict[Kept, int] = {}
    failed: list[Exception] = []
    for what, step in STEPS.items():
        try:
            gone[what] = step()
        except Exception as error:  # noqa: BLE001  (the other steps still run)
            failed.append(error)
    data: dict[str, log.Json] = {
        "gone": {str(what): count for what, count in gone.items()},
        "failed": [str(what) for what in STEPS if what not in gone],
    }
    log.record("retention.applied", by="system", on="retention", data=data)
    if failed:
        raise ExceptionGroup("not everything went whose time is over", failed)
    return gone
