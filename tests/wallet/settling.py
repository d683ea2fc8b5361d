"""Settle holds without a round of games, as the ledger's function does for a round.

Only functions of games call it, so the login role of web and workers may not (`tests.harness.databases`).
"""

from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from wallet.ledger import refusals, system_key

HELD = "SELECT account_id FROM wallet_hold WHERE round_id = %s"
SETTLE = "SELECT * FROM tests.settle_holds(%s::uuid, %s::uuid, %s::uuid, %s::bigint[], %s::bigint[])"


def settle_all(round_id: UUID, paid: Mapping[int, int]) -> Mapping[int, int]:
    """Turn the holds of a round into stakes and pay it; *paid* maps account ids to payouts in minor units.

    Returns the balances afterwards by account id; none if nothing was held. The house gets the rest, and those who are
    not named get nothing.
    """
    keys = system_key(round_id, "stake"), system_key(round_id, "settle")
    with refusals(), connection.cursor() as cursor:
        cursor.execute(HELD, [round_id])
        named = sorted(paid.keys() | {account for (account,) in cursor.fetchall()})
        cursor.execute(SETTLE, [round_id, *keys, named, [paid.get(account, 0) for account in named]])
        return dict(cursor.fetchall())
