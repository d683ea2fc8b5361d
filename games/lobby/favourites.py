"""The tables that stand first in a player's lobby."""

from django.db import transaction

from games.models import FavouriteTable
from players.models import Player


@transaction.atomic
def keep_table(*, player: Player, table_id: int, is_kept: bool) -> None:
    """Have a table among the player's favourites, or no more. Idempotent: two windows may say the same."""
    if is_kept:
        kept = FavouriteTable(player=player, table_id=table_id)
        FavouriteTable.objects.bulk_create([kept], ignore_conflicts=True)
    else:
        FavouriteTable.objects.filter(player=player, table=table_id).delete()


def kept_tables(player: Player | None) -> frozenset[int]:
    """Return the ids of the player's favourite tables; a visitor has none."""
    if player is None:
        return frozenset()
    return frozenset(FavouriteTable.objects.filter(player=player).values_list("table", flat=True))
