"""Holds without a game. Only functions of the games set and release them, so the login role may not."""

from uuid import UUID

from django.db import connection

from wallet import ledger


def hold(round_id: UUID, account_id: int, amount: int) -> int:
    """Set a round's hold on a player's account to *amount* minor units; return what is free. 0 releases it.

    Raises InsufficientFunds, LimitReached, UnknownAccount, HouseStopped.
    """
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT tests.hold(%s::uuid, %s::bigint, %s::bigint)", [round_id, account_id, amount])
        (free,) = cursor.fetchone()
    return int(free)


def release_all(round_id: UUID) -> int:
    """Release all holds of a round, and return how many accounts had one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tests.release_holds(%s::uuid)", [round_id])
        (released,) = cursor.fetchone()
    return int(released)
