"""What is kept for a time only, and goes when that is over: for how long stands in one table (`audit.retention`), and
this goes through all of it.
"""

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
    """Forget from where people logged in and their programs came, where it is kept and in events; return how many that
    were.
    """
    return sessions.forget_addresses() + tokens.forget_addresses() + retention.expire(Kept.ADDRESS)


# Each works in batches, one transaction each: whoever is interrupted goes on the next time where it ended.
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
    """Let everything go whose time is over, put on record how much of each that was, and return it.

    What fails keeps nothing else from going; raises ExceptionGroup of it in the end.
    """
    gone: dict[Kept, int] = {}
    failed: list[Exception] = []
    for what, step in STEPS.items():
        try:
            gone[what] = step()
        except Exception as error:  # noqa: BLE001  (the next kind of record does not wait for this one)
            failed.append(error)
    data: dict[str, log.Json] = {
        "gone": {str(what): count for what, count in gone.items()},
        "failed": [str(what) for what in STEPS if what not in gone],
    }
    log.record("retention.applied", by="system", on="retention", data=data)
    if failed:
        raise ExceptionGroup("not everything went whose time is over", failed)
    return gone
