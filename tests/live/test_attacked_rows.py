"""Bets that the role of web and workers could write, knowing the cards, are refused."""

import pytest
from django.db import ProgrammingError, transaction

from games.models import LiveSeat, LiveTable, Phase
from tests.builders import a_player
from tests.live.at_table import a_live_table, advance_to, bet

pytestmark = pytest.mark.django_db


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def seat(live_table) -> LiveSeat:
    return bet(a_player(real=1_000_000), live_table, player=5000)


class TestABet:
    @pytest.mark.parametrize("phase", [Phase.BETTING, Phase.CLOSED, Phase.DEALT])
    def test_is_not_written_past_the_function(self, live_table, seat, phase):
        advance_to(live_table, phase)
        for column in ("stakes", "round_id", "player_id", "account_id", "currency", "live_table_id"):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                LiveSeat.objects.filter(pk=seat.pk).update(**{column: getattr(seat, column)})

    def test_may_be_changed_while_they_are_open_and_forgotten_when_the_round_is_over(self, live_table, seat):
        bet(seat.player, live_table, banker=5000)
        advance_to(live_table, Phase.BETTING)
        bet(seat.player, live_table, player=5000)
        assert LiveSeat.objects.get(pk=seat.pk).stakes == {"player": 5000}
