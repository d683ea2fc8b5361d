"""Account locks by staff: the account's sessions end, and nobody can log in until staff unlock it.

The money stays in the account (GLI-19 v3.0, 2.4.1). Games in progress conclude by themselves, as
for a player who has left. Withdrawals still wait for staff. A lock is not an exclusion and ends
none.

Someone who gives the right password or a passkey reads that the account is locked and how to
contact support, as for a closed account. Everyone else gets the general error message (2.5.3). The
owner is notified by mail.
"""

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, QuerySet

from audit import log
from players import mail
from players.account.closures import state_of
from players.login import sessions
from players.models import AccountLock, ClosureState, Ended, Player, Staff, User


class LockError(Exception):
    """Nothing was changed. The message is for staff."""


def lock_of(player: Player) -> AccountLock | None:
    """Return the lock of the player's account, or None."""
    last = AccountLock.objects.filter(player=player).select_related("by").order_by("-pk").first()
    return last if last and last.locks else None


def locked_among(players: Iterable[int]) -> set[int]:
    """Return the ids of those of *players* whose accounts are locked."""
    last = AccountLock.objects.filter(player__in=list(players)).order_by("player", "-pk").distinct("player")
    return {number for number, locks in last.values_list("player_id", "locks") if locks}


def current_locks() -> QuerySet[AccountLock]:
    """Return a subquery for a query of users: whether the account of each is locked."""
    rows = AccountLock.objects.filter(player__user=OuterRef("pk")).order_by("-pk")
    return rows.values("locks")[:1]  # type: ignore[return-value]  # one column of one row, as Subquery takes it


@transaction.atomic
def lock(*, player: Player, reason: str, by: Staff) -> AccountLock:
    """Lock an account and end its sessions. Raises LockError if it is locked already, or erased."""
    made = _add(player, locks=True, reason=reason, by=by)
    ended = sessions.end_all(user=player.user, why=Ended.HOUSE, by=str(by))
    log.record("account.locked", by=str(by), on=str(player), data={"reason": made.reason, "sessions": ended})
    mail.write(user=player.user, template="account_locked", context={"support": settings.SUPPORT_EMAIL})
    return made


@transaction.atomic
def unlock(*, player: Player, reason: str, by: Staff) -> AccountLock:
    """Unlock an account. Raises LockError if it is not locked, or erased."""
    made = _add(player, locks=False, reason=reason, by=by)
    log.record("account.unlocked", by=str(by), on=str(player), data={"reason": made.reason})
    mail.write(user=player.user, template="account_unlocked", context={})
    return made


def _add(player: Player, *, locks: bool, reason: str, by: Staff) -> AccountLock:
    if not reason.strip():
        raise LockError("Enter a reason. It is recorded.")
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # serialises concurrent calls
    if state_of(player) is ClosureState.ERASED:
        raise LockError("This account was erased. It has no owner and cannot be locked.")
    if (lock_of(player) is not None) == locks:
        raise LockError("This account is already locked." if locks else "This account is not locked.")
    return AccountLock.objects.create(player=player, locks=locks, reason=reason.strip(), by=by)
