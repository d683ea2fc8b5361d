"""Property test of the wallet against a model in plain Python: any actions in any order, with
faults.

The suite runs a short form, always with the same examples; ``make attack`` runs more
(CONTRIBUTING.md).
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from pytest_django import DjangoDbBlocker

from players.models import LimitKind, Period
from players.protection.limits import own_limits, required, set_limit
from tests.builders import a_table, a_verified_player
from tests.harness import databases
from tests.harness.sweeps import examples
from tests.people import a_member_of_staff
from tests.wallet.machine import WalletMachine
from tests.wallet.model import CASH, FREE, PURSE, REAL, Book, Law, LimitState
from tests.wallet.payout_builders import an_account
from tests.wallet.stepping import Scene
from wallet import cashier, withdrawals
from wallet.ledger import accounts
from wallet.models import Mode

# Limits are required; the law sets one too; withdrawals cannot be cancelled, and need two people at
# once.
REAL_MONEY = {"SE": 60_000, "DE": 60_000, "GB": 300_000}
FREE_MONEY = 50_000
LIMITS = (
    (LimitKind.STAKE, Period.DAY, 40_000),
    (LimitKind.LOSS, Period.WEEK, 20_000),
    (LimitKind.DEPOSIT, Period.DAY, 400_000),
)
EXAMPLES = int(os.environ.get("SABOT_ATTACK", "0"))
HOUSE = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
SHORT = settings(HOUSE, max_examples=examples(1, 50), stateful_step_count=examples(20, 30), derandomize=True)
LONG = settings(HOUSE, max_examples=EXAMPLES or 1, stateful_step_count=60, print_blob=True)


@pytest.fixture(scope="module")
def scene(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Scene]:
    """Three verified players with money, two finance members, one of support, and their model."""
    with django_db_blocker.unblock(), databases.clone("scene") as database:
        players = tuple(a_verified_player(code, real=real, free=FREE_MONEY) for code, real in REAL_MONEY.items())
        for player in players:
            accounts.open_pending(player)
            for mode in Mode:
                accounts.open_purse(player, mode)
        for player, (kind, period, amount) in zip(players, LIMITS, strict=True):
            set_limit(player=player, kind=kind, period=period, amount=amount, by=str(player))
        laws = [law_of(player) for player in players]
        today = [today_of(player) for player in players]
        own = [own_limits(player) for player in players]
        banks = tuple(an_account(player) for player in players)
        clerk, second = a_member_of_staff("finance"), a_member_of_staff("finance")
        support, table = a_member_of_staff("support"), a_table()
        connection.close()
        yield Scene(
            database.name,
            players,
            banks,
            (clerk, second),
            support,
            table,
            lambda: [book_of(*each) for each in zip(REAL_MONEY.values(), laws, today, own, strict=True)],
        )


def law_of(player) -> Law:
    single, where = cashier.DEPOSIT_LIMITS[player.currency], player.jurisdiction
    return Law(
        deposits=(single.smallest, single.largest),
        smallest_withdrawal=withdrawals.SMALLEST[player.currency],
        one_person_to=withdrawals.TWO_PEOPLE_ABOVE[player.currency],
        free_money=cashier.FREE_MONEY[player.currency],
        may_cancel=where.may_cancel_withdrawals,
        required=frozenset((kind.value, period.value) for kind, period in required(player)),
        month_deposit=where.highest_month_deposit,
    )


def today_of(player):
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_today(%s::bigint)", [player.pk])
        return cursor.fetchone()[0]


def book_of(real: int, law: Law, today, own) -> Book:
    """Return the model of a player created by `tests.builders`."""
    book = Book(law, today, Counter({(CASH, REAL): real, (CASH, FREE): FREE_MONEY, (PURSE, REAL): 0}))
    book.count(today, "deposited", real)
    for (kind, period), amount in own.items():
        book.limits["player", (kind.value, period.value)] = LimitState(amount, amount)
    return book


def test_the_wallet_is_what_the_model_says(scene):
    WalletMachine.scene = scene
    run_state_machine_as_test(WalletMachine, settings=LONG if EXAMPLES else SHORT)
