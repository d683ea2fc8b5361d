"""Locks of log-in: of an account, and of addresses and e-mail addresses after failures.

The money stays in the account (GLI-19 v3.0, 2.4.1). Games in progress conclude by themselves, as
for a player who has left. Withdrawals still wait for staff. A lock is not an exclusion and ends
none.

Someone who gives the right password or a passkey reads that the account is locked and how to
contact support, as for a closed account. Everyone else gets the general error message (2.5.3). The
owner is notified by mail.

A lock is on an e-mail address, whether or not an account has it, so that it reveals nothing. An
attempt is counted before its password is checked, in one statement on the row of the address. So
concurrent attempts cannot exceed the limit.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.signals import password_reset
from allauth.core.internal.cryptokit import generate_user_code, normalize_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from django.conf import settings
from django.db import connection, transaction
from django.db.models import OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext

from audit import log
from players import mail
from players.account.closures import state_of
from players.login import credentials, second_factor, sessions
from players.login.current_user import actor_of
from players.models import AccountLock, ClosureState, Ended, LogInLock, Player, Staff, User


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
    log.record(
        "account.locked", by=str(by), on=str(player), data={"lock": made.pk, "reason": made.reason, "sessions": ended}
    )
    mail.write(user=player.user, template="account_locked", context={"support": settings.SUPPORT_EMAIL})
    return made


@transaction.atomic
def unlock(*, player: Player, reason: str, by: Staff) -> AccountLock:
    """Unlock an account. Raises LockError if it is not locked, or erased."""
    made = _add(player, locks=False, reason=reason, by=by)
    log.record("account.unlocked", by=str(by), on=str(player), data={"lock": made.pk, "reason": made.reason})
    mail.write(user=player.user, template="account_unlocked", context={})
    return made


def _add(player: Player, *, locks: bool, reason: str, by: Staff) -> AccountLock:
    if not reason.strip():
        raise LockError(gettext("Enter a reason. It is recorded."))
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # serialises concurrent calls
    if state_of(player) is ClosureState.ERASED:
        raise LockError(gettext("This account was erased. It has no owner and cannot be locked."))
    if (lock_of(player) is not None) == locks:
        raise LockError(gettext("This account is already locked.") if locks else gettext("This account is not locked."))
    return AccountLock.objects.create(player=player, locks=locks, reason=reason.strip(), by=by)


TRIES = 3  # as the database counts
LOG_IN = "log-in"  # object of events if the e-mail address has no account


class Opened(StrEnum):
    """Way in which a lock was opened."""

    CODE = "mailed code"
    SECOND_FACTOR = "second factor"
    NEW_PASSWORD = "password reset"  # noqa: S105  (a reason, no password)


def begin_try(email: str) -> int | None:
    """Count an attempt. Return its number from 1 to `TRIES`, or None if the address is locked."""
    number: int | None = _run("players_begin_log_in(%s)", _name(email))
    return number


def end_try(email: str, number: int, *, ip: str) -> bool:
    """Lock the address if the failed attempt was the last one, and record it. Return whether it was."""
    if number < TRIES or not _run("players_lock_log_in(%s)", _name(email)):
        return False
    log.record_refusal("login.locked", by="system", on=_owner(email), data={}, personal={"tried": email, "ip": ip})
    return True


def forget_tries(email: str) -> None:
    """Reset the count after a right password. A lock stays."""
    _forget(email, opens=False)


def open_lock(email: str, by: Opened) -> None:
    """Open the lock of an address and record it if there was one."""
    if _forget(email, opens=True):
        log.record("login.unlocked", by=_owner(email), on=_owner(email), data={"by": by})


def locked_since(email: str) -> datetime | None:
    """Return when the address was locked, or None."""
    return LogInLock.objects.filter(name=_name(email)).values_list("locked_at", flat=True).first()


def send_code(email: str, *, language: str) -> None:
    """Mail a code that opens the lock: at most one a minute and five an hour.

    If the address has no account, the mail says so. The steps are the same in both cases.
    """
    code = generate_user_code(length=8, dashed=True)
    if not _run("players_store_unlock_code(%s, %s)", _name(email), _digest(email, code)):
        return
    user = _user(email)
    if user:
        mail.write(user=user, template="unlock", context={"code": code})
    else:
        mail.write_to(address=email, language=language, template="no_account", context={})


def redeem(email: str, code: str) -> bool:
    """Open the lock with the mailed code or a code of the second factor. Return whether it was right.

    Each call uses one of the five attempts of the last mailed code.
    """
    digest = _run("players_try_unlock_code(%s)", _name(email))
    if digest is None:
        return False
    if constant_time_compare(digest, _digest(email, code)):
        open_lock(email, Opened.CODE)
        return True
    user = _user(email)
    if user and second_factor.accepts(user, code):
        open_lock(email, Opened.SECOND_FACTOR)
        return True
    return False


def forget_old_tries() -> None:
    """Delete attempts that no longer count. Locks stay until they are opened."""
    _run("players_forget_old_tries()")


def _forget(email: str, *, opens: bool) -> bool:
    """Forget the attempts of an address that has none any more; return whether a lock was opened."""
    name = _name(email)
    with transaction.atomic():
        return bool(_run("players_forget_tries(%s, %s, %s)", name, opens, credentials.proof_here("log in", name)))


def _run(function: str, *values: str | bool | bytes) -> Any:
    """Call a function of the database. Nothing else writes the locks."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}", values)
        (returned,) = cursor.fetchone()
    return returned


def _name(email: str) -> str:
    return salted_hmac("players.login.locks", email.strip().lower(), algorithm="sha256").hexdigest()


def _digest(email: str, code: str) -> str:
    plain = f"{_name(email)} {normalize_user_code(code)}"
    return salted_hmac("players.login.locks.code", plain, algorithm="sha256").hexdigest()


def _user(email: str) -> User | None:
    people = User.objects.select_related("player", "staff")
    return people.filter(email=email.strip().lower(), is_active=True).first()


def _owner(email: str) -> str:
    user = _user(email)
    return actor_of(user) if user else LOG_IN


def connect() -> None:
    """Connect the receivers."""
    authentication_failed.connect(record_failure, dispatch_uid="players.second_factor_failed")
    password_reset.connect(open_lock_after_login, dispatch_uid="players.password_reset")


def record_failure(
    sender: type[Authenticator],
    request: HttpRequest,
    user: User,
    authenticator: Authenticator,
    reauthentication: bool,
    **kwargs: object,
) -> None:
    """Record a wrong code of a second factor, outside the request's transaction."""
    actor, ip = actor_of(user), get_adapter().get_client_ip(request)
    data = {"type": authenticator.type, "logged_in": reauthentication}
    log.record_refusal("second_factor.failed", by=actor, on=actor, data=data, personal={"ip": ip})


def open_lock_after_login(sender: type[User], request: HttpRequest, user: User, **kwargs: object) -> None:
    """Open the log-in lock after a password reset: the mailed code proves the owner."""
    open_lock(user.email, Opened.NEW_PASSWORD)
