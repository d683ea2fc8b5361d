"""What remains of a player's limits, and reservations for deposits.

The database checks every stake and deposit in the statement that moves the money
(``sql/functions/limits.sql``). These functions check earlier, so that nothing begins that would be
refused. Call them in the same transaction as the stake or deposit, with the player's account
locked.
"""

from uuid import UUID

from django.db import connection, transaction

from players.models import LimitKind, Period, Player
from players.protection.limit_kinds import LIMIT_KINDS
from wallet import ledger
from wallet.ledger import LimitReached


def check_stake(player: Player, amount: int) -> None:
    """Raise LimitReached if a real-money stake of *amount* minor units exceeds a limit.

    Both stake limits and loss limits are checked.
    """
    refuse_beyond(stake_room(player), amount)


def check_deposit(player: Player, amount: int) -> None:
    """Raise LimitReached if a deposit of *amount* minor units would exceed a limit.

    Pending deposits count.
    """
    refuse_beyond(_room(player, "deposit"), amount)


def stake_room(player: Player) -> LimitReached | None:
    """Return the limit that leaves least for real-money stakes, as LimitReached, or None."""
    return _room(player, "stake")


def refuse_beyond(room: LimitReached | None, amount: int) -> None:
    """Raise *room* if it leaves less than *amount*."""
    if room is not None and amount > room.left:
        raise room


@transaction.atomic
def reserve_deposit(*, player: Player, key: UUID, amount: int) -> None:
    """Reserve *amount* under the deposit limits for a deposit that begins at a provider.

    Raises LimitReached.

    *key* is the idempotency key of its future journal. That journal is posted even if limits change
    in between, because the money has left the bank. A repeated key does nothing.
    """
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT wallet_reserve(%s::uuid, %s::bigint, %s::bigint)", [key, player.pk, amount])


def release_deposit(*, key: UUID) -> None:
    """Release the reservation of a refused or abandoned deposit.

    If it is authorised later, it is still credited.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_release(%s::uuid)", [key])


def usage(player: Player) -> dict[tuple[LimitKind, Period], int]:
    """Return what counts against each money limit in the current period, in minor units.

    Kinds without a limit are included. A net win counts as a negative loss.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, period, wallet_used(%s::bigint, kind, period, wallet_today(%s::bigint))"
            " FROM unnest(%s::text[]) AS kind, unnest(%s::text[]) AS period",
            [player.pk, player.pk, [kind.value for kind, each in LIMIT_KINDS.items() if each.is_money], Period.values],
        )
        return {(LimitKind(kind), Period(period)): used for kind, period, used in cursor}


def _room(player: Player, movement: str) -> LimitReached | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_room(%s::bigint, %s::text)", [player.pk, movement])
        (detail,) = cursor.fetchone()
    return detail and LimitReached.parse(detail)
