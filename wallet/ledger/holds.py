"""Holds: money reserved for a player's bets on a shared table until bets close.

When bets close, holds become stakes or are released. All stakes of a round are settled together.
PostgreSQL does the work (``sql/functions/holds.sql``), and this module calls it. The caller has
locked the round's row.
"""

from uuid import UUID

from django.db import connection

from wallet import ledger
from wallet.ledger import Posted


def hold(round_id: UUID, account_id: int, amount: int) -> int:
    """Set a round's hold on a player's account to *amount* minor units; return what is free.

    0 releases the hold.

    Raises InsufficientFunds, LimitReached, UnknownAccount, and HouseStopped if the hold would grow.
    """
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT wallet_hold(%s::uuid, %s::bigint, %s::bigint)", [round_id, account_id, amount])
        (free,) = cursor.fetchone()
    return int(free)


def release_all(round_id: UUID) -> int:
    """Release all holds of a round, and return how many accounts had one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_release_holds(%s::uuid)", [round_id])
        (released,) = cursor.fetchone()
    return int(released)


def stake_all(round_id: UUID) -> Posted | None:
    """Turn all holds of a round into stakes and return the journal, or None if nothing was held.

    A second call returns the first journal.
    """
    return ledger.stake_holds(round_id, key=ledger.system_key(round_id, "stake"))
