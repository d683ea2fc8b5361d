"""The purse of a game with its own balance: filled once per key, returned as a whole, recorded."""

from uuid import uuid4

import pytest

from tests.builders import a_player
from tests.people import events
from tests.wallet import holds, wholeness
from wallet.ledger import accounts, purse, statements
from wallet.models import Account, AccountKind, Mode

MONEY = 100_000


def cash(player, mode=Mode.REAL):
    return accounts.balance(player.pk, mode)


def fill(player, amount, *, mode=Mode.REAL, key=None):
    return purse.rebuy(player=player, mode=mode, amount=amount, key=key or uuid4())


pytestmark = pytest.mark.django_db


def test_a_rebuy_moves_money_from_cash_into_the_purse_and_says_so_in_the_log():
    player = a_player(real=MONEY)
    fill(player, 30_000)
    assert (cash(player), purse.balance(player, Mode.REAL)) == (70_000, 30_000)
    (event,) = events("purse.filled", by=str(player))
    assert event["data"]["amount"] == 30_000


def test_the_same_form_fills_the_purse_once():
    player, key = a_player(real=MONEY), uuid4()
    fill(player, 30_000, key=key)
    assert fill(player, 30_000, key=key).repeated
    assert (cash(player), purse.balance(player, Mode.REAL)) == (70_000, 30_000)
    assert len(events("purse.filled", on=str(player))) == 1


def test_the_same_form_fills_the_purse_once_even_where_nothing_more_could_be_moved():
    player, key = a_player(real=MONEY), uuid4()
    fill(player, MONEY, key=key)
    assert fill(player, MONEY, key=key).repeated
    assert cash(player) == 0


def test_the_same_form_with_another_amount_is_refused():
    player, key = a_player(real=MONEY), uuid4()
    fill(player, 30_000, key=key)
    with pytest.raises(purse.FormUsed):
        fill(player, 20_000, key=key)
    assert purse.balance(player, Mode.REAL) == 30_000


def test_one_key_is_a_key_of_its_own_for_every_player_and_mode():
    one, other, key = a_player(real=MONEY, free=MONEY), a_player(real=MONEY), uuid4()
    for player, mode in ((one, Mode.REAL), (one, Mode.FREE), (other, Mode.REAL)):
        assert not fill(player, 1_000, mode=mode, key=key).repeated


def test_a_rebuy_for_more_than_the_account_has_is_refused_and_recorded():
    player = a_player(real=MONEY)
    with pytest.raises(purse.MoreThanBalance, match="1,000"):
        fill(player, MONEY + 1)
    assert (cash(player), purse.balance(player, Mode.REAL)) == (MONEY, 0)
    (event,) = events("purse.refused", on=str(player))
    assert event["data"]["reason"] == "MoreThanBalance"


def test_leaving_gives_everything_back():
    player = a_player(real=MONEY)
    fill(player, 30_000)
    assert purse.leave(player=player, mode=Mode.REAL, key=uuid4()) == purse.Returned(30_000, repeated=False)
    assert (cash(player), purse.balance(player, Mode.REAL)) == (MONEY, 0)
    (event,) = events("purse.returned", on=str(player))
    assert event["data"]["why"] == "left the game"


def test_leaving_twice_with_one_key_gives_back_once_and_says_the_same():
    player, key = a_player(real=MONEY), uuid4()
    fill(player, 30_000)
    purse.leave(player=player, mode=Mode.REAL, key=key)
    fill(player, 5_000)
    assert purse.leave(player=player, mode=Mode.REAL, key=key) == purse.Returned(30_000, repeated=True)
    assert purse.balance(player, Mode.REAL) == 5_000


@pytest.mark.parametrize("opened", [True, False])
def test_leaving_with_nothing_moves_nothing(opened):
    player = a_player(real=MONEY)
    if opened:
        accounts.open_purse(player, Mode.REAL)
    assert purse.leave(player=player, mode=Mode.REAL, key=uuid4()).amount == 0
    assert not events("purse.returned", on=str(player))


def test_real_and_free_purses_are_apart():
    player = a_player(real=MONEY, free=MONEY)
    fill(player, 30_000, mode=Mode.FREE)
    assert purse.balance(player, Mode.REAL) == 0
    assert (cash(player), cash(player, Mode.FREE)) == (MONEY, 70_000)


def test_a_purse_opens_once():
    player = a_player()
    assert accounts.open_purse(player, Mode.REAL) == accounts.open_purse(player, Mode.REAL)
    assert Account.objects.filter(owner=player, kind=AccountKind.PURSE).count() == 1


def test_movements_name_the_game_and_the_ledger_is_whole():
    player = a_player(real=MONEY)
    fill(player, 30_000)
    purse.leave(player=player, mode=Mode.REAL, key=uuid4())
    names = [str(each.name) for each in statements.statement(player.pk, Mode.REAL).movements]
    assert names[:2] == ["Transfer from Golden Baccarat", "Transfer to Golden Baccarat"]
    assert [check.rows for check in wholeness.checks() if check.rows] == []


def test_what_is_held_for_a_round_stays_in_the_purse_until_the_round_gives_it_back():
    player, round_id = a_player(real=1000), uuid4()
    fill(player, 600)
    own = accounts.player_account(player.pk, Mode.REAL, AccountKind.PURSE)
    holds.hold(round_id, own, 200)
    assert purse.leave(player=player, mode=Mode.REAL, key=uuid4()).amount == 400
    holds.release_all(round_id)
    assert purse.leave(player=player, mode=Mode.REAL, key=uuid4()).amount == 200
