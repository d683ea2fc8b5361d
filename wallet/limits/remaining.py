"""What a player's limits leave. The database holds every stake and deposit to them in the statement that moves the
money (``sql/functions/limits.sql``); what is asked here is asked early, so that nothing begins that would be refused.

Call these in the transaction of what they are for, with the player's account locked.
"""

from uuid import UUID

from django.db import connection, transaction

from players.models import LimitKind, Period, Player
from wallet import ledger
from wallet.ledger import LimitReached

MONEY = (LimitKind.DEPOSIT, LimitKind.STAKE, LimitKind.LOSS)


def check_stake(player: Player, amount: int) -> None:
    """Raises LimitReached where a stake of *amount* minor units of real money would pass a stake or loss limit."""
    refuse_beyond(stake_room(player), amount)


def check_deposit(player: Player, amount: int) -> None:
    """Raises LimitReached where a deposit of *amount* minor units would pass a deposit limit; deposits begun count."""
    refuse_beyond(_room(player, "deposit"), amount)


def stake_room(player: Player) -> LimitReached | None:
    """Return the limit that leaves least for stakes of real money, as the error it would be, or None."""
    return _room(player, "stake")


def refuse_beyond(room: LimitReached | None, amount: int) -> None:
    """Raise *room* where it is less than *amount*."""
    if room is not None and amount > room.left:
        raise room


@transaction.atomic
def reserve_deposit(*, player: Player, key: UUID, amount: int) -> None:
    """Take room under the deposit limits for a deposit that begins at a provider. *key* is the one its journal will be
    posted under: that journal is then credited whatever limits are set meanwhile, since the money has left the bank.
    The same key again does nothing.

    Raises LimitReached.
    """
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT wallet_reserve(%s::uuid, %s::bigint, %s::bigint)", [key, player.pk, amount])


def release_deposit(*, key: UUID) -> None:
    """Give back the room of a deposit that was refused or given up. Authorised after all, it is credited still."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_release(%s::uuid)", [key])


def usage(player: Player) -> dict[tuple[LimitKind, Period], int]:
    """Return what counts against each money limit, set or not, in the running period, in minor units. What was won
    counts below zero against losses.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, period, wallet_used(%s::bigint, kind, period, wallet_today(%s::bigint))"
            " FROM unnest(%s::text[]) AS kind, unnest(%s::text[]) AS period",
            [player.pk, player.pk, [kind.value for kind in MONEY], [period.value for period in Period]],
        )
        return {(LimitKind(kind), Period(period)): used for kind, period, used in cursor}


def _room(player: Player, movement: str) -> LimitReached | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_room(%s::bigint, %s::text)", [player.pk, movement])
        (detail,) = cursor.fetchone()
    return detail and LimitReached.parse(detail)
