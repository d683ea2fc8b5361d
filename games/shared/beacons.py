"""The round of a public beacon that goes into a shoe: chosen before it exists, awaited after the cut, and told."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings

from audit import log
from games import beacon
from games.models import LiveTable, ShoeBeacon, ShoeCut
from games.shared import moves
from games.tables import clock

MARGIN = timedelta(seconds=1)  # between the end of a cut and the round of the beacon


def begin_cut(live_table: LiveTable, shoe_id: UUID, commitment: str) -> tuple[ShoeCut, log.Json]:
    """Let players cut a shoe; return the cut, and what the log says of the beacon's round that is awaited after it.

    Raises what `moves.begin_cut` raises.
    """
    used, lasts = beacon.configured(), settings.CUT_SECONDS
    number = used.round_after(clock.now() + timedelta(seconds=lasts) + MARGIN) if used else None
    chain, waits = used.chain if used else None, settings.BEACON_SECONDS
    cut = moves.begin_cut(live_table, shoe_id, commitment, lasts, chain=chain, beacon_round=number, waits=waits)
    return cut, {"chain": chain, "round": number} if used else None


def is_awaited(shoe_id: UUID) -> bool:
    """Return whether the round of a beacon may still come for a shoe."""
    return _awaited(shoe_id) is not None


def log_data(shoe_id: UUID) -> log.Json:
    """Return what the log says of the beacon's round for a shoe: its signature is empty if it did not come in time."""
    found = ShoeBeacon.objects.filter(shoe_id=shoe_id).first()
    return {"chain": found.chain, "round": found.round, "signature": found.signature} if found else None


def collect(live_table_id: int) -> None:
    """Ask the beacon for the round that a table awaits. Call it outside of transactions: it asks another machine."""
    used = beacon.configured()
    if used is None:
        return
    cut = ShoeCut.objects.filter(live_table=live_table_id, open_until__lte=clock.now()).first()
    awaited = cut and _awaited(cut.shoe_id)
    if not awaited or awaited.chain != used.chain or clock.now() < used.comes_at(awaited.round):
        return
    if (signature := beacon.fetch(used, awaited.round)) is not None:
        moves.take_beacon(awaited.shoe_id, signature)


def _awaited(shoe_id: UUID) -> ShoeBeacon | None:
    return ShoeBeacon.objects.filter(shoe_id=shoe_id, signature="", wait_until__gt=clock.now()).first()
