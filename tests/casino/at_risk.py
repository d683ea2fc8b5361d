"""Players at risk, for tests: losing rounds and completed deposits, moved to given times."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import psycopg

from games.models import Table
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_round, a_table
from tests.harness.dealer import seeds_drawn
from tests.servers.search import seed_where
from tests.wallet.at_the_bank import a_payment, call_back, statement
from wallet.models import OrderState, Payment

DECKS = VARIANTS["baccarat"].decks


@contextmanager
def banker_always_wins() -> Iterator[None]:
    """Make every seat that is committed in the block deal a coup that Banker wins."""
    chosen = bytes.fromhex(seed_where(lambda coup: coup.outcome == "banker", decks=DECKS))
    with seeds_drawn(lambda size: chosen):
        yield


def the_table() -> Table:
    """Return the open `baccarat` table, created if needed."""
    return Table.objects.filter(slug="baccarat").first() or a_table()


def rounds(
    owner: psycopg.Connection, player: Player, table: Table, moments: list[datetime], /, **bets: int
) -> list[str]:
    """Play a round at each of these times and return their ids."""
    played = []
    for moment in moments:
        round_id = a_round(player, table, **bets).round_id
        owner.execute("UPDATE games_participation SET at = %s WHERE round_id = %s", [moment, round_id])
        played.append(str(round_id))
    return played


def deposit(
    owner: psycopg.Connection,
    player: Player,
    moment: datetime,
    amount: int = 1000,
    state: OrderState = OrderState.APPROVED,
) -> Payment:
    """Start a deposit at this time, with this decision of the bank."""
    payment = a_payment(player, amount)
    assert call_back(statement(payment, state)) == 200
    owner.execute("ALTER TABLE wallet_payment DISABLE TRIGGER USER")
    owner.execute("UPDATE wallet_payment SET begun_at = %s WHERE id = %s", [moment, payment.pk])
    owner.execute("ALTER TABLE wallet_payment ENABLE TRIGGER USER")
    return payment
