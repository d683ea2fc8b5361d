"""Two tabs save a favourite bet at the same time: the race is first shown, then prevented."""

from functools import partial
from threading import Barrier

from games.engine.bets import Variant
from games.errors import TooManyFavourites
from games.models import FavouriteBet, LiveTable
from games.shared import favourites
from players.models import Player
from tests.builders import a_player
from tests.live.at_table import a_live_table, bet
from tests.wallet.test_at_once import at_once

MONEY = 1_000_00


class TestTwoTabs:
    """Both see room for one more favourite and try to use it."""

    def test_without_the_lock_they_keep_one_too_many(self, cloned_db, monkeypatch):
        table, player = a_table_with_room_for_one()
        have_read = Barrier(2)

        def look(player: Player, variant: Variant) -> list[FavouriteBet]:
            seen = favourites.of(player, variant)
            have_read.wait(timeout=60)
            return seen

        monkeypatch.setattr(favourites, "_locked", look)
        assert saved_at_once(player, table) == ["saved", "saved"]
        assert FavouriteBet.objects.count() == favourites.MOST + 1

    def test_with_it_one_of_them_learns_that_there_is_no_room(self, cloned_db):
        table, player = a_table_with_room_for_one()
        assert saved_at_once(player, table) == ["TooManyFavourites", "saved"]
        assert FavouriteBet.objects.count() == favourites.MOST


def a_table_with_room_for_one() -> tuple[LiveTable, Player]:
    table, player = a_live_table(slug="live"), a_player("RO", real=MONEY)
    bet(player, table, tie=20_00)
    FavouriteBet.objects.bulk_create(
        FavouriteBet(player=player, variant="no_commission", name=f"No {number}", stakes={"tie": 20_00})
        for number in range(favourites.MOST - 1)
    )
    return table, player


def saved_at_once(player: Player, table: LiveTable) -> list[str]:
    def saved(name: str) -> str:
        try:
            favourites.save(player=player, live_table=LiveTable.objects.get(pk=table.pk), name=name)
        except TooManyFavourites as error:
            return type(error).__name__
        return "saved"

    return sorted(at_once([partial(saved, "One"), partial(saved, "Other")]))
