"""New rounds for solo tables of a copy: the seeds of the committed ones may have been revealed since."""

from typing import Final

from django.db import transaction

from games.models import NextRound
from games.seeds import new_sealed_seed

BATCH: Final = 1000


def commit_anew() -> int:
    """Commit every seat to a new round; its bets are kept. Return the number of seats."""
    ids = list(NextRound.objects.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), BATCH):
        _commit(ids[begin : begin + BATCH])
    return len(ids)


@transaction.atomic
def _commit(ids: list[int]) -> None:
    places = list(NextRound.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    for place in places:
        seed = new_sealed_seed()
        place.round_id, place.commitment, place.sealed_seed = seed.round_id, seed.commitment, seed.sealed
    NextRound.objects.bulk_update(places, ["round_id", "commitment", "sealed_seed"])
