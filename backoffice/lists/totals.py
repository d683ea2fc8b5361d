"""Sums above a list: of all rows of its filter, by currency and kind of money, in one statement.

No more rows are read than a file may have. Beyond that a sum would read the whole table, and the
list asks for a narrower filter instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet
from django.utils.translation import get_language, gettext

from wallet.models import Mode
from wallet.money import format_money

STATEMENT: Final = """
SELECT currency, mode, count(*), {sums} FROM ({rows}) AS found (currency, mode, {names})
GROUP BY currency, mode ORDER BY currency, mode DESC
"""


@dataclass(frozen=True)
class Sums:
    """Sums of a list: heading -> path of an amount in minor units, and the paths of its currency
    and kind of money ("": real money only).
    """

    amounts: Mapping[str, str]
    currency: str = "currency"
    mode: str = ""


@dataclass(frozen=True)
class Total:
    """Sums of the rows in one currency and kind of money: the heading and the text of each amount."""

    money: str
    count: int
    amounts: Sequence[tuple[str, str]]


def money_name(mode: str) -> str:
    """Return the name of a kind of money, in lower case."""
    return gettext("real money") if mode == Mode.REAL else gettext("free money")


def totals_of(rows: QuerySet[Any], sums: Sums, most: int) -> list[Total] | None:
    """Return the sums of *rows*, None if there are more than *most*."""
    mode = sums.mode or sums.currency
    few = rows.select_related(None).prefetch_related(None).order_by()[: most + 1]
    statement, values = few.values_list(sums.currency, mode, *sums.amounts.values()).query.sql_with_params()
    names = [f"amount_{number}" for number, _ in enumerate(sums.amounts)]
    with connection.cursor() as cursor:
        added = ", ".join(f"coalesce(sum({name}), 0)" for name in names)
        cursor.execute(STATEMENT.format(sums=added, rows=statement, names=", ".join(names)), values)
        found = cursor.fetchall()
    if sum(count for _, _, count, *_ in found) > most:
        return None
    return [
        Total(
            f"{currency}, {money_name(kind)}" if sums.mode else currency,
            count,
            [
                (gettext(name), format_money(int(each), currency, get_language() or "en"))
                for name, each in zip(sums.amounts, amounts, strict=True)
            ],
        )
        for currency, kind, count, *amounts in found
    ]
