"""Rows that the role of web and workers could write, knowing the cards, are refused."""

from uuid import UUID

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

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


def refused(sql: str, why: str, *values: int | UUID) -> None:
    with pytest.raises(IntegrityError, match=why), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)


class TestABet:
    MOVED = """UPDATE games_liveseat SET stakes = '{"banker": 5000}' WHERE id = %s"""
    TAKEN_OUT = "UPDATE games_liveseat SET round_id = NULL WHERE id = %s"

    @pytest.mark.parametrize("phase", [Phase.CLOSED, Phase.DEALT])
    @pytest.mark.parametrize("sql", [MOVED, TAKEN_OUT])
    def test_stays_where_it_lay_when_bets_closed(self, live_table, seat, phase, sql):
        advance_to(live_table, phase)
        refused(sql, "are closed", seat.pk)

    def test_does_not_come_from_another_round(self, live_table, seat):
        other = a_live_table(slug="other")
        their = bet(a_player(real=1_000_000), other, player=5000)
        dealt = advance_to(live_table, Phase.DEALT)
        refused("UPDATE games_liveseat SET round_id = %s WHERE id = %s", "are closed", dealt.pk, their.pk)

    def test_is_not_somebody_elses(self, live_table, seat):
        for column in ("player_id", "account_id", "currency", "live_table_id"):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                LiveSeat.objects.filter(pk=seat.pk).update(**{column: getattr(seat, column)})

    def test_may_be_changed_while_they_are_open_and_forgotten_when_the_round_is_over(self, live_table, seat):
        bet(seat.player, live_table, banker=5000)
        advance_to(live_table, Phase.BETTING)
        bet(seat.player, live_table, player=5000)
        assert LiveSeat.objects.get(pk=seat.pk).stakes == {"player": 5000}
