"""Log-in lock after three wrong passwords in thirty minutes (GLI-19 v3.0, 2.5.3), and its unlock code.

A lock is on an e-mail address, whether or not an account has it, so that it reveals nothing. An
attempt is counted before its password is checked, in one statement on the row of the address. So
concurrent attempts cannot exceed the limit.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from allauth.core.internal.cryptokit import generate_user_code, normalize_user_code
from django.db import connection, transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from audit import log
from players import credentials, mail
from players.login import second_factor
from players.login.current_user import actor_of
from players.models import LogInLock, User

TRIES = 3  # as the database counts
LOG_IN = "log-in"  # object of events if the e-mail address has no account


class Opened(StrEnum):
    """How a lock was opened."""

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
