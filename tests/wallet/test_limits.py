"""Limits on deposits, stakes and losses, held by the database in the statement that moves the money."""

from uuid import uuid4

import pytest

from players.limits import set_limit
from players.models import LimitKind, Period
from tests.builders import a_player
from tests.wallet.money_moves import cash, house, move, settle, stake
from wallet import ledger, limits
from wallet.ledger import Journal, LimitReached
from wallet.models import Day

pytestmark = pytest.mark.django_db


def deposit(player, amount, *, key=None):
    lines = move((house("cashier", player), -amount), (cash(player), amount), currency=player.currency)
    return Journal(key or uuid4(), "deposit", lines)


def limit(player, kind, period, amount):
    return set_limit(player=player, kind=LimitKind(kind), period=Period(period), amount=amount, by=str(player))


def day_of(player):
    return Day.objects.get(player=player)


def test_the_exact_limit_passes_and_one_more_minor_unit_does_not():
    player = a_player("GB", real=1000)
    limit(player, "stake", "day", 500)
    ledger.post(stake(player, 500))
    with pytest.raises(LimitReached) as refused:
        ledger.post(stake(player, 1))
    assert (refused.value.kind, refused.value.period, refused.value.limit, refused.value.left) == ("stake", "day", 500, 0)
