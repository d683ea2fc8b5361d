"""Puts players into an empty house: `python -m bench.people SE SE DK` registers one in each of these
jurisdictions and prints who they are, as JSON.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from uuid import uuid4

import django

django.setup()

from allauth.account.models import EmailAddress  # noqa: E402  (models need the set-up)
from django.db import transaction  # noqa: E402

from games.models import LiveTable, Table  # noqa: E402
from games.shared.rounds import open_next  # noqa: E402
from games.tables.clock import LONGEST  # noqa: E402
from games.tables.default_tables import PACE, load_tables, shipped  # noqa: E402
from games.tables.status import open_table  # noqa: E402
from games.tables.versions import make_table  # noqa: E402
from players import registration  # noqa: E402
from players.api import tokens  # noqa: E402
from players.models import Jurisdiction, Player, Scope  # noqa: E402
from players.protection import limits  # noqa: E402
from wallet import ledger  # noqa: E402
from wallet.ledger import accounts  # noqa: E402
from wallet.models import AccountKind, Mode  # noqa: E402

BORN = date(1990, 1, 1)
MONEY = 10**12  # minor units: nobody runs out of it
PER_MINUTE = 1_000_000  # calls; four programs do the work of many
SHARED = "no_commission"


def main() -> None:
    """Do so."""
    json.dump(settle_in(sys.argv[1:]), sys.stdout)


def settle_in(codes: Iterable[str]) -> list[dict[str, object]]:
    """Open the tables, register players and pay them their money; return who they are."""
    _open_betting()
    load_tables()
    return list(_people(codes))


def _open_betting() -> None:
    """Open a round at a shared table whose betting outlasts any bench."""
    (as_shipped,) = (each for each in shipped() if each.variant == SHARED)
    slow = as_shipped._replace(clock=replace(PACE, betting=LONGEST))
    table = make_table(**slow._asdict(), by="system")
    open_table(table_id=table.pk, reason="For the bench.", by="system")
    live_table = LiveTable.objects.get(table=table, mode=Mode.REAL)
    with transaction.atomic():
        open_next(live_table)


def _people(codes: Iterable[str]) -> Iterator[dict[str, object]]:
    table = Table.objects.get(slug="baccarat")
    for number, code in enumerate(codes):
        jurisdiction = Jurisdiction.objects.get(pk=code)
        email, password = f"player{number}@bench.example", uuid4().hex
        player = registration.register(
            email=email,
            password=password,
            jurisdiction=jurisdiction,
            currency=jurisdiction.currencies[0],
            birth_date=BORN,
            language="en",
            ip=None,
        )
        EmailAddress.objects.filter(user=player.user).update(verified=True)
        _pay(player)
        _limit(player)
        _token, key = tokens.make(user=player.user, name="bench", scopes=[Scope.PLAY], days=1, per_minute=PER_MINUTE)
        yield {"player": player.pk, "email": email, "password": password, "table": table.pk, "token": key}


def _pay(player: Player) -> None:
    accounts.open_accounts(player)
    till = accounts.house_account(AccountKind.CASHIER, player.currency, Mode.REAL)
    cash = accounts.player_account(player.pk, Mode.REAL)
    lines = (
        ledger.Line(till, player.currency, Mode.REAL, -MONEY),
        ledger.Line(cash, player.currency, Mode.REAL, MONEY),
    )
    ledger.post(ledger.Journal(uuid4(), "deposit", lines))


def _limit(player: Player) -> None:
    """Set what the player's jurisdiction wants set before play."""
    for kind, period in limits.required(player):
        limits.set_limit(player=player, kind=kind, period=period, amount=MONEY, by=str(player))


if __name__ == "__main__":
    main()
