"""Holds: what a player's slip on a shared table sets aside, given back or turned into stakes when bets close.

PostgreSQL does it (``sql/0007_holds.sql``); this module speaks to it. Whoever calls holds the round's row.
"""

from uuid import UUID

from django.db import connection

from wallet import ledger
from wallet.ledger import Posted


def hold(round_id: UUID, account_id: int, amount: int) -> int:
    """Hold *amount* minor units for a round on a player's account, instead of what was held for it there; 0 gives it
    back. Return what is free on the account then.

    Raises InsufficientFunds, LimitReached, UnknownAccount.
    """
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT wallet_hold(%s::uuid, %s::bigint, %s::bigint)", [round_id, account_id, amount])
        (free,) = cursor.fetchone()
    return int(free)


def release_all(round_id: UUID) -> int:
    """Give back whatever is held for a round; return on how many accounts something was."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_release_holds(%s::uuid)", [round_id])
        (released,) = cursor.fetchone()
    return int(released)


def stake_all(round_id: UUID) -> Posted | None:
    """Turn whatever is held for a round into its stakes; return the journal, None where nothing was held.

    The second call returns the first one's journal.
    """
    return ledger.stake_holds(round_id, key=ledger.system_key(round_id, "stake"))
