"""Players as the product makes them, with an event for everything. Those of `tests.builders` get money, limits and
their agreement to the terms in a statement each, which the verification of the house would name.
"""

from datetime import date
from itertools import count
from uuid import uuid4

from players.account.registration import register
from players.identity import confirmation
from players.identity.confirmation import Stated
from players.identity.sandbox import number_of
from players.models import Jurisdiction, Player
from players.protection import limits
from tests.wallet.at_the_bank import a_payment, call_back, statement
from wallet.ledger import accounts

_serials = count(1)


def a_recorded_player(real: int = 0, jurisdiction: str = "SE") -> Player:
    """Return a player who has registered and was confirmed by the sandbox, has set the limits that are required, and
    deposited *real* minor units.
    """
    where = Jurisdiction.objects.get(pk=jurisdiction)
    player = register(
        email=f"{uuid4().hex}@example.com",
        password=None,
        jurisdiction=where,
        currency=where.currencies[0],
        birth_date=date(1990, 1, 1),
        language="en",
        ip="127.0.0.1",
        is_demo=True,
    )
    accounts.open_accounts(player)
    name = uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))
    stated = Stated(name, "Berg", f"Storgatan {name[:6]}", "111 22", "Malmö")
    number = number_of(jurisdiction, player.birth_date, next(_serials))
    confirmation.confirm(player=player, stated=stated, number=number)
    asked = limits.required(player)
    for kind, period in sorted(asked):
        limits.set_limit(player=player, kind=kind, period=period, amount=10**11, by=str(player))
    if not asked:
        limits.decline_offer(player=player)
    if real:
        assert call_back(statement(a_payment(player, real))) == 200
    return player
