"""Journals for tests of the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

from django.db import connection, transaction

from players.models import Player
from tests.harness.owner import as_owner
from wallet import ledger
from wallet.ledger import Journal, Line, accounts
from wallet.models import AccountKind, Mode


def cash(player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.player_account(player.pk, mode)


def house(kind: str, player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.house_account(kind, player.currency, mode)


def move(*amounts: tuple[int, int], currency: str = "SEK", mode: str = "R") -> tuple[Line, ...]:
    """Return lines from pairs of account id and amount."""
    return tuple(Line(account, currency, mode, amount) for account, amount in amounts)


def stake(player: Player, amount: int, *, key: UUID | None = None, round_id: UUID | None = None) -> Journal:
    """Return a stake from the player's real money into escrow."""
    lines = move((cash(player), -amount), (house("escrow", player), amount), currency=player.currency)
    return Journal(key or uuid4(), "stake", lines, round_id)


def settle(player: Player, staked: int, paid: int, *, round_id: UUID | None = None) -> Journal:
    """Return the settlement of a stake: the payout to the player, the rest to or from the house."""
    amounts = (house("escrow", player), -staked), (cash(player), paid), (house("house", player), staked - paid)
    lines = move(*(each for each in amounts if each[1]), currency=player.currency)
    return Journal(uuid4(), "settle", lines, round_id)


def write(*journals: Journal) -> tuple[ledger.Posted, ...]:
    """Post journals that only functions of the games may write, such as payouts."""
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM tests.write(%s::jsonb)", [ledger.request(*journals)])
        return ledger._read(cursor.fetchall())


@contextmanager
def reversing_without_a_void() -> Iterator[None]:
    """Let journals of rounds that no table knows be reversed."""
    guard = "TRIGGER wallet_journal_reverses_a_void"
    with transaction.atomic():
        as_owner(f"ALTER TABLE wallet_journal DISABLE {guard}")
        yield
        as_owner(f"ALTER TABLE wallet_journal ENABLE {guard}")


def open_table_account(
    kind: AccountKind, subject_id: UUID, *, currency: str, mode: Mode, owner_id: int | None = None
) -> int:
    """Open the account of a tenure, a coup or a house player as functions of the games do, and return its id."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tests.open_table_account(%s::bigint, %s::text, %s::text, %s::text, %s::uuid)",
            [owner_id, kind.value, currency, mode.value, subject_id],
        )
        (account_id,) = cursor.fetchone()
    return int(account_id)


def a_round(player: Player, staked: int, paid: int) -> tuple[ledger.Posted, ledger.Posted]:
    """Post a stake and its settlement in one call."""
    round_id = uuid4()
    stakes, settlement = stake(player, staked, round_id=round_id), settle(player, staked, paid, round_id=round_id)
    first, second = write(stakes, settlement)
    return first, second
