"""Void rounds that tests played without a game.

The database reverses a round's journals only in the transaction that voids it, and no one voids a round that is not
stored. So these rounds are stored first, with nothing in them but their id.
"""

from uuid import UUID

from django.db import transaction

from games.incidents import open_incident
from games.models import IncidentKind, Round, Table, Void, VoidReason
from tests.harness.owner import create_as_owner
from tests.voiding import SYSTEM
from wallet.ledger.round_reversal import Undone, undo_round
from wallet.models import Mode


def store_round(round_id: UUID, table: Table) -> None:
    """Store a round as the functions of the games do, but without cards and parts."""
    create_as_owner(
        Round(
            id=round_id,
            code=round_id.hex[:14],
            table_version=table.version,
            mode=Mode.REAL,
            commitment="",
            seed=b"",
            player_value="",
            cards="",
            outcome="",
        )
    )


@transaction.atomic
def void_stored(round_id: UUID, table: Table) -> tuple[Undone, ...]:
    """Void a stored round as the house does where its seed does not reproduce it, and return what it did to each.

    It does not keep the parts (`games.rounds.void.keep_parts`): there a player has one account in a round, while a test
    of the wallet plays the same round on several.
    """
    Void.objects.create(round_id=round_id, reason=VoidReason.NOT_REPRODUCED, by=SYSTEM)
    undone = undo_round(round_id)
    open_incident(
        kind=IncidentKind.NOT_REPRODUCED,
        table_id=table.pk,
        round_id=round_id,
        found=(),
        done=["Round voided."],
        by=SYSTEM,
    )
    return undone
