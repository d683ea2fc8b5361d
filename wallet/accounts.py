"""Accounts: opened once, found ever after, locked where a balance is about to decide something."""

from collections.abc import Mapping
from functools import cache

from django.db import connection
from django.db.models import QuerySet

from players.models import Player
from wallet.models import Account, AccountKind, Mode


def open_accounts(player: Player) -> None:
    """Open the player's two cash accounts, real and free, in the player's currency; those there are stay."""
    with connection.cursor() as cursor:
        for mode in Mode:
            cursor.execute(
                "SELECT wallet_open_account(%s::bigint, %s::text, %s::text)", [player.pk, player.currency, mode.value]
            )


def player_account(player_id: int, mode: Mode) -> int:
    """Return the id of a player's cash account. Raises Account.DoesNotExist."""
    return _cash(player_id, mode).values_list("pk", flat=True).get()


def balance(player_id: int, mode: Mode) -> int:
    """Return what a player has, in minor units. Raises Account.DoesNotExist."""
    found = _cash(player_id, mode).values_list("balance", flat=True).get()
    return found or 0


def balances(player_id: int) -> Mapping[Mode, int]:
    """Return what a player has in each mode, in minor units."""
    found = Account.objects.filter(owner_id=player_id, kind=AccountKind.CASH).values_list("mode", "balance")
    return {Mode(mode): amount or 0 for mode, amount in found}


def lock_account(player_id: int, mode: Mode) -> Account:
    """Lock a player's cash account until the transaction ends and return it as it stands then.

    Whoever locks several accounts locks them ascending by id. Raises Account.DoesNotExist.
    """
    return _cash(player_id, mode).select_for_update().get()


@cache
def house_account(kind: str, currency: str, mode: str) -> int:
    """Return the id of an account of the house, which a migration has opened. Raises Account.DoesNotExist."""
    return Account.objects.values_list("pk", flat=True).get(owner=None, kind=kind, currency=currency, mode=mode)


def _cash(player_id: int, mode: Mode) -> QuerySet[Account]:
    return Account.objects.filter(owner_id=player_id, kind=AccountKind.CASH, mode=mode)
