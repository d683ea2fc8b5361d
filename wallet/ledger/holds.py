"""Holds: money reserved for something that a player has said to pay.

Bets at shared tables hold money too, until the round is paid, but only functions of the database
set, release and settle those (``sql/functions/holds.sql``). This module is for bids at Chemin de Fer.
"""

from uuid import UUID

from django.db import connection

from wallet import ledger


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
