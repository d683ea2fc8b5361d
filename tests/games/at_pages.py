"""Helpers for tests of the player's pages: clicks at a table as a browser sends them."""

from typing import Any

from django.test import Client

from games.models import SoloSeat

MONEY = 1_000_000  # minor units, in each mode


def click(visitor: Client, player, action: str, *, mode="real", language="en", htmx=True, **changes) -> Any:
    """Press a button of the table's page in its current state."""
    seat = SoloSeat.objects.get(player=player, mode="R" if mode == "real" else "F")
    assert seat.table.version is not None
    form = {
        "action": action,
        "round_id": seat.round_id,
        "slip_version": seat.slip_version,
        "table_version": seat.table.version.number,
        "chip": 1000,
    } | changes
    headers = {"HX-Request": "true"} if htmx else {}
    return visitor.post(f"/{language}/table/baccarat/{mode}/play/", form, headers=headers)
