"""Staff lock an account: nobody logs in to it until staff open it again, and whoever is logged in is out at once.

Money stays where it is (GLI-19 v3.0, 2.4.1): what is in progress concludes by itself, as for a player who has left, and
withdrawals wait for staff as they did. A lock is no exclusion and ends none.

Whoever gives the right password, or comes by a passkey, reads on the next page that the account is locked and how to
reach the house, as with a closed account; everybody else gets the one sentence there is (2.5.3). The owner is written
to besides.
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
    """Nothing was done. The message is a sentence for staff."""


def lock_of(player: Player) -> AccountLock | None:
    """Return the lock on a player's account, None where it is open."""
    last = AccountLock.objects.filter(player=player).select_related("by").order_by("-pk").first()
    return last if last and last.locks else None


def locked_among(players: Iterable[int]) -> set[int]:
    """Return which of these players' accounts are locked."""
    last = AccountLock.objects.filter(player__in=list(players)).order_by("player", "-pk").distinct("player")
    return {number for number, locks in last.values_list("player_id", "locks") if locks}


def standing_of_users() -> QuerySet[AccountLock]:
    """Return, within a query of users, whether the account of each is locked, as its only column."""
    rows = AccountLock.objects.filter(player__user=OuterRef("pk")).order_by("-pk")
    return rows.values("locks")[:1]  # type: ignore[return-value]  # one column of one row, as Subquery takes it


@transaction.atomic
def lock(*, player: Player, reason: str, by: Staff) -> AccountLock:
    """Lock an account and end its sessions. Raises LockError where it is locked, or erased."""
    made = _add(player, locks=True, reason=reason, by=by)
    ended = sessions.end_all(user=player.user, why=Ended.HOUSE, by=str(by))
    log.record("account.locked", by=str(by), on=str(player), data={"reason": made.reason, "sessions": ended})
    mail.write(user=player.user, template="account_locked", context={"support": settings.SUPPORT_EMAIL})
    return made


@transaction.atomic
def unlock(*, player: Player, reason: str, by: Staff) -> AccountLock:
    """Open an account that staff locked. Raises LockError where it is open, or erased."""
    made = _add(player, locks=False, reason=reason, by=by)
    log.record("account.unlocked", by=str(by), on=str(player), data={"reason": made.reason})
    mail.write(user=player.user, template="account_unlocked", context={})
    return made


def _add(player: Player, *, locks: bool, reason: str, by: Staff) -> AccountLock:
    if not reason.strip():
        raise LockError("Say why: the reason is kept on record.")
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # one after another
    if state_of(player) is ClosureState.ERASED:
        raise LockError("This account was erased: nobody can log in to it, and nobody knows whose it was.")
    if (lock_of(player) is not None) == locks:
        raise LockError("This account is locked already." if locks else "This account is not locked.")
    return AccountLock.objects.create(player=player, locks=locks, reason=reason.strip(), by=by)
