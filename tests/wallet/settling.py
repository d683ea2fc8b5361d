"""Settle stakes without a round of games, as the ledger's function does for a round.

Only functions of games call it, so the login role of web and workers may not (`tests.harness.databases`).
"""

from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from wallet import ledger
from wallet.ledger import Posted, refusals, system_key

SETTLE = "SELECT * FROM tests.settle_stakes(%s::uuid, %s::uuid, %s::bigint[], %s::bigint[])"


def settle_all(round_id: UUID, paid: Mapping[int, int], *, key: UUID | None = None) -> Posted | None:
    """Settle a round whose holds became stakes; *paid* maps account ids to payouts in minor units.

    Returns the journal, None if nothing was staked. The house gets the rest.
    """
    with refusals(), connection.cursor() as cursor:
        cursor.execute(SETTLE, [round_id, key or system_key(round_id, "settle"), list(paid), list(paid.values())])
        posted = ledger._read(cursor.fetchall())
    return posted[0] if posted else None
