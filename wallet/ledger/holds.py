"""Holds: what a player's slip on a shared table sets aside, given back or turned into stakes when bets close, which are
settled together when the cards have fallen.

PostgreSQL does it (``sql/functions/holds.sql``); this module speaks to it. Whoever calls holds the
round's row.
"""

from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from wallet import ledger
from wallet.ledger import Posted


def hold(round_id: UUID, account_id: int, amount: int) -> int:
    """Hold *amount* minor units for a round on a player's account, instead of what was held for it there; 0 gives it
    back. Return what is free on the account then.

    Raises HouseStopped where more is to be held, InsufficientFunds, LimitReached, UnknownAccount.
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


def settle_all(round_id: UUID, paid: Mapping[int, int]) -> Posted | None:
    """Pay out a round whose holds became stakes: *paid* says what each account gets, and the house gets the rest.
    Return the journal, None where nothing was staked.

    The second call returns the first one's journal. Raises NotStaked; UnknownJournal where the stakes have been taken
    back; PostingConflict where the second call pays otherwise.
    """
    return ledger.settle_stakes(round_id, key=ledger.system_key(round_id, "settle"), paid=paid)
