"""The event of a settled round of a live table, which the database compares with the stored round."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django.db import connection

from audit import log
from audit.log import Json

KIND: Final = "round.settled"
BY: Final = "system"


def record_settled(round_id: UUID, data: Mapping[str, Json]) -> None:
    """Record that a round was settled, in the transaction that has stored it."""
    written = log.event(KIND, by=BY, on=f"round:{round_id}", data=data)
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_record_settled(%s::uuid, %s::text)", [round_id, written.rest])
