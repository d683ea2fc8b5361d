"""The purse of a game through the API: refusals, which are recorded, and shared tables."""

import pytest

from games.models import SoloSeat
from games.tables.default_tables import golden_limits
from players.protection import exclusions
from tests.api.at_solo import AtTable, answered, refused
from tests.api.client import ApiClient
from tests.builders import a_golden_table, a_player
from tests.live.at_table import a_live_table
from tests.live.test_bets_protected import with_liability
from tests.people import events
from wallet.ledger import accounts, purse
from wallet.models import Mode

MONEY = 50_000


def refill(seat: AtTable, amount: int) -> object:
    return seat.api_client.post(seat.base + "purse/re-buy/", {"amount": amount})


def test_more_than_the_account_covers_is_refused_and_on_record(cloned_db):
    player = a_player(real=MONEY)
    seat = AtTable(ApiClient(player.user), a_golden_table())
    problem = refused(refill(seat, MONEY + 1), 409, "balance-too-low")
    assert "500.00" in problem["detail"]
    assert (accounts.balance(player.pk, Mode.REAL), purse.balance(player, Mode.REAL)) == (MONEY, 0)
    (event,) = events("purse.refused")
    assert (event["by"], event["data"]["amount"]) == (str(player), MONEY + 1)


def test_a_player_who_may_not_play_cannot_fill_the_purse_but_can_empty_it(cloned_db):
    player = a_player(real=MONEY)
    seat = AtTable(ApiClient(player.user), a_golden_table())
    answered(refill(seat, 1000))
    exclusions.pause(player=player, by=str(player))
    refused(refill(seat, 1000), 403, "not-eligible")
    assert answered(seat.api_client.post(seat.base + "purse/leave/"))["amount"] == 1000
    assert accounts.balance(player.pk, Mode.REAL) == MONEY


def test_a_refused_player_takes_no_seat(cloned_db):
    player, table = a_player(real=MONEY), a_golden_table()
    seat = AtTable(ApiClient(player.user), table)
    refused(refill(seat, MONEY + 1), 409, "balance-too-low")
    assert not SoloSeat.objects.filter(player=player).exists()
    answered(refill(seat, MONEY))
    assert SoloSeat.objects.filter(player=player, table=table).exists()


@pytest.mark.sweep
@pytest.mark.django_db
def test_leaving_what_was_never_filled_moves_nothing():
    player = a_player(real=MONEY)
    seat = AtTable(ApiClient(player.user), a_golden_table())
    assert answered(seat.api_client.post(seat.base + "purse/leave/"))["amount"] == 0


@pytest.mark.sweep
@pytest.mark.django_db
def test_at_a_shared_table_it_is_filled_as_well():
    player = a_player(real=MONEY)
    seat = AtTable(ApiClient(player.user), a_live_table("golden", limits=with_liability(golden_limits())).table)
    assert answered(refill(seat, 1000))["balance"] == 1000
    assert answered(seat.api_client.post(seat.base + "purse/leave/"))["account"] == MONEY
