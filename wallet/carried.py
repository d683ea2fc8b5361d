"""What a month of journals is carried forward as when it goes to an archive, so that the ledger goes on to be held to
all that ever moved (`manage.py verify_ledger`): of each account the sum and the number of its entries, of each player's
days what counts on them, and the journals of whatever was not over, whole.

Whoever carries a month is the owner of the tables, and takes its journals away in the same transaction.
"""

from collections.abc import Iterator

from django.db import IntegrityError
from django.db.backends.utils import CursorWrapper

LINES = "SELECT line FROM wallet_carried_lines(%s) WITH ORDINALITY AS carried (line, place) ORDER BY place"


class RoundNotOver(Exception):
    """A round of that month still has money, which could not be paid out once its journals are in an archive."""


def carry(cursor: CursorWrapper, month: str, first: int, beyond: int) -> None:
    """Write down what the journals from *first* up to *beyond* came to, which are those of *month*.

    Raises RoundNotOver; the transaction is then to be rolled back.
    """
    try:
        cursor.execute("SELECT wallet_carry(%s, %s, %s)", [month, first, beyond])
    except IntegrityError as error:
        if getattr(error.__cause__, "sqlstate", None) == "23001":  # restrict_violation
            raise RoundNotOver(str(error)) from error
        raise


def lines(cursor: CursorWrapper, month: str) -> Iterator[str]:
    """Yield what was carried of *month*, one line a row and in this order; a dash where there is nothing::

        account <id> <amount> <number of entries>                                   ascending by id
        journal <id> <key> <request hash> <kind> <round> <reverses> <at>            ascending by id
        entry <journal> <line> <account> <currency> <mode> <amount> <balance> <number>  by journal, then by line
        day <player> <day> <deposited> <withdrawn> <staked> <paid>                  by player, then by day

    Hashes are in hexadecimal, keys and rounds in the usual form of a UUID, moments like 2025-09-01T00:00:00.000000Z.
    """
    cursor.execute(LINES, [month])
    for (line,) in cursor:
        yield line


def digest(cursor: CursorWrapper, month: str) -> str:
    """Return what the log says of *month*: the SHA-256, in hexadecimal, of its `lines`, each ended by a newline."""
    cursor.execute("SELECT wallet_carried_digest(%s)", [month])
    (said,) = cursor.fetchone()
    return str(said)
