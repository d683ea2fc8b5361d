"""Deletion of data past its retention period. `audit.retention` holds the periods.

Personal data of closed accounts is erased after the legal period. Games, payments and events are
kept forever; events contain only salted hashes of personal values. After erasure nothing tells whose
they were.
"""

from collections.abc import Callable, Mapping
from typing import Final

from django.db import connection, transaction

from audit import log, retention
from audit.models import RetainedData
from games.chat import moderation
from games.models import ChipSet, FavouriteBet, FavouriteTable
from players import mail, staff
from players.account import closures
from players.api import tokens
from players.identity import verification
from players.login import sessions
from players.models import Mail, Player, SearchWord
from players.support import conversations
from wallet.operator_wallet import operators
from wallet.payouts import accounts as payout_accounts

NOTHING = ""


def erase_due() -> int:
    """Erase the personal data of all accounts closed for long enough. Return how many there were."""
    due = closures.to_erase()
    for player in due:
        erase(player)
    return len(due)


@transaction.atomic
def erase(player: Player) -> None:
    """Erase the personal data of an account. The database refuses if it was not closed for long enough."""
    closures.forget(player)
    staff.forget(player)
    tokens.forget(player)
    payout_accounts.forget(player)
    operators.forget(player)
    moderation.forget(player)
    _forget_reports(player)
    SearchWord.objects.filter(player=player).delete()
    Mail.objects.filter(user=player.user_id).update(address=NOTHING, subject=NOTHING, sealed_body=b"")
    for arranged in (FavouriteBet, FavouriteTable, ChipSet):
        arranged.objects.filter(player=player).delete()


def _forget_reports(player: Player) -> None:
    """Erase texts of play reports by and about the player, and staff's notes on them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_forget_reports(%s)", [player.pk])


def forget_addresses() -> int:
    """Delete old IP addresses of sessions, API tokens and events. Return the number deleted."""
    return sessions.forget_addresses() + tokens.forget_addresses() + retention.expire(RetainedData.ADDRESS)


# Each step works in batches with one transaction each. An interrupted step continues at the next run.
STEPS: Final[Mapping[RetainedData, Callable[[], int]]] = {
    RetainedData.ACCOUNT: erase_due,
    RetainedData.CONVERSATION: conversations.forget_old,
    RetainedData.CHAT: moderation.forget_old,
    RetainedData.REFUSED_PAPERS: verification.forget_refused,
    RetainedData.MAIL: mail.forget_old,
    RetainedData.ADDRESS: forget_addresses,
    RetainedData.WRONG_LOG_IN: lambda: retention.expire(RetainedData.WRONG_LOG_IN),
    RetainedData.ACCESS: lambda: retention.expire(RetainedData.ACCESS),
}


def expire() -> dict[RetainedData, int]:
    """Run all deletion steps, record how much each deleted, and return it.

    A failing step does not stop the others. Raises ExceptionGroup of all failures at the end.
    """
    gone: dict[RetainedData, int] = {}
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
        raise ExceptionGroup("some expired data could not be deleted", failed)
    return gone
