"""Open, find and lock accounts, and read balances."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from django.db import connection

from players.models import Player
from wallet.models import Account, AccountKind, Mode

ID_AND_BALANCE = "SELECT id, balance FROM wallet_account WHERE owner_id = %s AND kind = %s AND mode = %s"
TOTALS = """
SELECT kind, mode, coalesce(sum(balance), 0)::bigint, coalesce(sum(held), 0)::bigint
FROM wallet_account WHERE owner_id = %s GROUP BY kind, mode
"""


def open_accounts(player: Player) -> None:
    """Open the player's two cash accounts, real and free, in the player's currency.

    Existing ones are kept.
    """
    with connection.cursor() as cursor:
        for mode in Mode:
            cursor.execute(
                "SELECT wallet_open_account(%s::bigint, %s::text, %s::text)", [player.pk, player.currency, mode.value]
            )


def open_purse(player: Player, mode: Mode) -> int:
    """Open the player's purse in the player's currency if there is none, and return its id."""
    return _open(player, mode, AccountKind.PURSE)


def open_pending(player: Player) -> int:
    """Open the account for the player's pending withdrawals if there is none, and return its id."""
    return _open(player, Mode.REAL, AccountKind.PENDING)


def _open(player: Player, mode: Mode, kind: AccountKind) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT wallet_open_account(%s::bigint, %s::text, %s::text, %s::text)",
            [player.pk, player.currency, mode.value, kind.value],
        )
        (account_id,) = cursor.fetchone()
    return int(account_id)


def player_account(player_id: int, mode: Mode, kind: AccountKind = AccountKind.CASH) -> int:
    """Return the id of a player's account. Raises Account.DoesNotExist."""
    account_id, _ = id_and_balance(player_id, mode, kind)
    return account_id


def balance(player_id: int, mode: Mode, kind: AccountKind = AccountKind.CASH) -> int:
    """Return the balance of a player's account, in minor units. Raises Account.DoesNotExist."""
    _, amount = id_and_balance(player_id, mode, kind)
    return amount


def id_and_balance(player_id: int, mode: Mode, kind: AccountKind = AccountKind.CASH) -> tuple[int, int]:
    """Return the id of a player's account and its balance in minor units.

    It uses a fixed SQL statement because every table page needs it. Raises Account.DoesNotExist.
    """
    with connection.cursor() as cursor:
        cursor.execute(ID_AND_BALANCE, [player_id, kind.value, mode.value])
        found: tuple[int, int] | None = cursor.fetchone()
    if found is None:
        raise Account.DoesNotExist
    return found


@dataclass(frozen=True)
class Totals:
    """The money on all accounts of a player by kind and mode, in minor units: the balance, and what is on hold."""

    sums: Mapping[tuple[str, str], tuple[int, int]]

    def balances(self, kind: AccountKind = AccountKind.CASH) -> dict[Mode, int]:
        """Return the balance by mode. A mode without such an account is left out."""
        return {mode: self.sums[kind.value, mode.value][0] for mode in Mode if (kind.value, mode.value) in self.sums}

    @property
    def held(self) -> dict[Mode, int]:
        """Return by mode how much is on hold at live tables."""
        kinds, none = (AccountKind.CASH.value, AccountKind.PURSE.value), (0, 0)
        return {mode: sum(self.sums.get((kind, mode.value), none)[1] for kind in kinds) for mode in self.balances()}

    @property
    def in_banks(self) -> dict[Mode, int]:
        """Return by mode the money in banks at Chemin de Fer. A mode without a bank is left out."""
        return {mode: amount for mode, amount in self.balances(AccountKind.BANK).items() if amount}


def totals(player_id: int) -> Totals:
    """Read the accounts of a player."""
    with connection.cursor() as cursor:
        cursor.execute(TOTALS, [player_id])
        return Totals({(kind, mode): (amount, held) for kind, mode, amount, held in cursor.fetchall()})


def lock_account(player_id: int, mode: Mode) -> Account:
    """Lock a player's cash account until the transaction ends, and return its current state.

    A caller that locks several accounts locks them in ascending order of id. Raises
    Account.DoesNotExist.
    """
    return Account.objects.filter(owner_id=player_id, kind=AccountKind.CASH, mode=mode).select_for_update().get()


def lock_cash_and(kind: AccountKind, player_id: int, mode: Mode) -> tuple[Account, Account]:
    """Lock a player's cash account and the one of *kind*, and return both.

    Both stay locked until the transaction ends. Raises Account.DoesNotExist if the player has no
    such account.
    """
    kinds = (AccountKind.CASH, kind)
    found = Account.objects.filter(owner_id=player_id, kind__in=kinds, mode=mode).order_by("pk").select_for_update()
    by_kind = {account.kind: account for account in found}
    if kind not in by_kind:
        raise Account.DoesNotExist
    return by_kind[AccountKind.CASH], by_kind[kind]


@cache
def house_account(kind: str, currency: str, mode: str) -> int:
    """Return the id of a house account. A migration created it. Raises Account.DoesNotExist."""
    return Account.objects.values_list("pk", flat=True).get(owner=None, kind=kind, currency=currency, mode=mode)
