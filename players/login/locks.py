"""Log-in lock after three wrong passwords in thirty minutes (GLI-19 v3.0, 2.5.3), and its unlock code.

A lock is on an e-mail address, whether or not an account has it, so that it reveals nothing. An
attempt is counted before its password is checked, in one statement on the row of the address. So
concurrent attempts cannot exceed the limit.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from allauth.core.internal.cryptokit import generate_user_code, normalize_user_code
from django.db import connection
from django.utils.crypto import constant_time_compare, salted_hmac

from audit import log
from players import mail
from players.login import second_factor
from players.login.current_user import actor_of
from players.models import LogInLock, User

TRIES = 3
CODE_TRIES = 5  # per mailed code
CODES = 5  # per hour
LOG_IN = "log-in"  # object of events if the e-mail address has no account

RECENT = "(SELECT count(*) FROM unnest(held.tries) AS tried WHERE tried > clock_timestamp() - interval '30 minutes')"

BEGIN = f"""
INSERT INTO players_log_in_lock AS held (name, tries) VALUES (%s, ARRAY[clock_timestamp()])
ON CONFLICT (name) DO UPDATE SET tries = (
    SELECT array_agg(tried) FROM unnest(held.tries) AS tried WHERE tried > clock_timestamp() - interval '30 minutes'
) || clock_timestamp()
WHERE held.locked_at IS NULL AND {RECENT} < {TRIES}
RETURNING cardinality(tries)
"""  # noqa: S608  (constants of this module)
LOCK = """
UPDATE players_log_in_lock SET locked_at = clock_timestamp() WHERE name = %s AND locked_at IS NULL RETURNING name
"""
SEND = f"""
UPDATE players_log_in_lock AS held SET code_hash = %s, code_ends_at = clock_timestamp() + interval '15 minutes',
    code_tries = 0, codes_sent = (
        SELECT array_agg(sent) FROM unnest(held.codes_sent) AS sent WHERE sent > clock_timestamp() - interval '1 hour'
    ) || clock_timestamp()
WHERE name = %s AND (
    SELECT count(*) < {CODES} AND coalesce(max(sent) < clock_timestamp() - interval '1 minute', true)
    FROM unnest(held.codes_sent) AS sent WHERE sent > clock_timestamp() - interval '1 hour'
)
RETURNING name
"""  # noqa: S608  (constants of this module)
TRY_CODE = f"""
UPDATE players_log_in_lock SET code_tries = code_tries + 1
WHERE name = %s AND code_tries < {CODE_TRIES} AND code_ends_at > clock_timestamp()
RETURNING code_hash
"""  # noqa: S608  (constants of this module)
FORGET = """
DELETE FROM players_log_in_lock WHERE locked_at IS NULL
AND NOT EXISTS (SELECT FROM unnest(tries) AS tried WHERE tried > clock_timestamp() - interval '30 minutes')
"""


class Opened(StrEnum):
    """How a lock was opened."""

    CODE = "mailed code"
    SECOND_FACTOR = "second factor"
    NEW_PASSWORD = "password reset"  # noqa: S105  (a reason, no password)


def begin_try(email: str) -> int | None:
    """Count an attempt. Return its number from 1 to `TRIES`, or None if the address is locked."""
    row = _run(BEGIN, _name(email))
    return row[0] if row else None


def end_try(email: str, number: int, *, ip: str) -> bool:
    """Lock the address if the failed attempt was the last one, and record it. Return whether it was."""
    if number < TRIES or _run(LOCK, _name(email)) is None:
        return False
    log.record_refusal("login.locked", by="system", on=_owner(email), data={}, personal={"tried": email, "ip": ip})
    return True


def forget_tries(email: str) -> None:
    """Reset the count after a right password. A lock stays."""
    LogInLock.objects.filter(name=_name(email), locked_at=None).delete()


def open_lock(email: str, by: Opened) -> None:
    """Open the lock of an address and record it if there was one."""
    _deleted, rows = LogInLock.objects.filter(name=_name(email), locked_at__isnull=False).delete()
    if rows:
        log.record("login.unlocked", by=_owner(email), on=_owner(email), data={"by": by})
    forget_tries(email)


def locked_since(email: str) -> datetime | None:
    """Return when the address was locked, or None."""
    return LogInLock.objects.filter(name=_name(email)).values_list("locked_at", flat=True).first()


def send_code(email: str, *, language: str) -> None:
    """Mail a code that opens the lock: at most one a minute and `CODES` an hour.

    If the address has no account, the mail says so. The steps are the same in both cases.
    """
    code = generate_user_code(length=8, dashed=True)
    if not _run(SEND, _digest(email, code), _name(email)):
        return
    user = _user(email)
    if user:
        mail.write(user=user, template="unlock", context={"code": code})
    else:
        mail.write_to(address=email, language=language, template="no_account", context={})


def redeem(email: str, code: str) -> bool:
    """Open the lock with the mailed code or a code of the second factor. Return whether it was right.

    Each call uses one of the `CODE_TRIES` attempts of the last mailed code.
    """
    row = _run(TRY_CODE, _name(email))
    if row is None:
        return False
    if constant_time_compare(row[0], _digest(email, code)):
        open_lock(email, Opened.CODE)
        return True
    user = _user(email)
    if user and second_factor.accepts(user, code):
        open_lock(email, Opened.SECOND_FACTOR)
        return True
    return False


def forget_old_tries() -> None:
    """Delete attempts that no longer count. Locks stay until they are opened."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET)


def _run(statement: str, *values: str) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


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
