"""Puts a crowd at a shared table into an empty house: `python -m bench.crowd NUMBER` registers so many
players with money, by statements over all of them, and prints the table as JSON.
"""

import json
import sys
from collections.abc import Iterator
from uuid import uuid4

import django

django.setup()

from django.db import connections, transaction  # noqa: E402

from bench.people import BORN, MONEY  # noqa: E402
from games.models import LiveTable  # noqa: E402
from games.tables.default_tables import load_tables  # noqa: E402
from players.models import Jurisdiction, Player, User  # noqa: E402
from wallet import ledger  # noqa: E402
from wallet.ledger import accounts  # noqa: E402
from wallet.models import Account, AccountKind, Mode  # noqa: E402

AT_ONCE = 1000  # players to a journal of deposits: each waits for their limits
GAME = "no_commission"
OPEN_ACCOUNTS = "SELECT wallet_open_account(id, currency, 'R') FROM players_player ORDER BY id"
# Everybody has logged in, so that what they play is noted.
SIT = "INSERT INTO players_sitting (session, player_id) SELECT md5(id::text)::uuid, id FROM players_player"


def main() -> None:
    """Do so."""
    json.dump([{"live_table": fill(int(sys.argv[1])).pk}], sys.stdout)


def fill(number: int) -> LiveTable:
    """Open the tables, and fill the house; return the shared table."""
    load_tables()
    with transaction.atomic():
        _register(number)
    for lines in _deposits():
        ledger.post(ledger.Journal(uuid4(), "deposit", tuple(lines)))
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return LiveTable.objects.get(table__variant=GAME, mode=Mode.REAL)


def _register(number: int) -> None:
    where = Jurisdiction.objects.get(pk="SE")
    users = User.objects.bulk_create(
        (User(email=f"bettor{each}@bench.example") for each in range(number)), batch_size=AT_ONCE
    )
    Player.objects.bulk_create(
        (Player(user=user, jurisdiction=where, currency=where.currencies[0], birth_date=BORN) for user in users),
        batch_size=AT_ONCE,
    )
    with connections["default"].cursor() as cursor:
        cursor.execute(OPEN_ACCOUNTS)
        cursor.execute(SIT)


def _deposits() -> Iterator[list[ledger.Line]]:
    poor = Account.objects.filter(kind=AccountKind.CASH, mode=Mode.REAL, balance=0)
    found = poor.order_by("pk").values_list("pk", "currency")
    everybody = [ledger.Line(account, currency, Mode.REAL, MONEY) for account, currency in found]
    for begin in range(0, len(everybody), AT_ONCE):
        some = everybody[begin : begin + AT_ONCE]
        currency = some[0].currency
        till = accounts.house_account(AccountKind.CASHIER, currency, Mode.REAL)
        yield [*some, ledger.Line(till, currency, Mode.REAL, -MONEY * len(some))]


if __name__ == "__main__":
    main()
