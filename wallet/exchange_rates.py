"""Exchange rates of days: stored, imported from a file, and used to add up figures of several currencies.

A rate says how much of a currency one unit of the reporting currency (`settings.REPORTING_CURRENCY`) is worth, as
central banks publish it. A day without a rate has that of the last day before it that has one. Amounts are divided
exactly, day by day, and rounded once, where the sum is shown.

Rates convert figures that staff read. Nothing that moves money reads them: pyproject.toml lists who may.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from audit.models import Category, Weight
from audit.raw_rows import sqlstate
from audit.significant import detection
from players.models import Staff
from wallet.models import Currency

ENTER: Final = "wallet.enter_exchange_rates"
READERS: Final = (ENTER, "audit.view_report")
MOST: Final = 1000  # rates that are stored at once: wallet_store_exchange_rates has the same
MOST_BYTES: Final = 1_000_000  # of a file; the server accepts as much on the page of rates
TOO_LARGE: Final = gettext_lazy("The file is larger than 1 MB.")
MOST_FAULTS: Final = 50
EARLIEST: Final = date(2000, 1, 1)
LARGEST: Final = 1_000_000
SEPARATORS: Final = (",", ";", "\t")
RATE: Final = re.compile(r"[0-9]{1,7}([.,][0-9]{1,8})?")
DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
BLANK: Final = ("", "N/A")  # a day on which a bank has published no rate of a currency
LONG: Final = ("date", "currency", "rate")  # columns of a file with a rate on each line
KINDS: Final[dict[str, detection.Significance]] = {
    "exchange_rates.corrected": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Exchange rate corrected")),
}
ORDINARY: Final = ("exchange_rates.entered",)

# The newest row of each day counts. Days before `since` that have a rate are needed for days without one.
IN_FORCE: Final = """
SELECT r.currency, r.day, r.rate FROM (
    SELECT DISTINCT ON (currency, day) currency, day, rate FROM wallet_exchange_rate
    WHERE base = %(base)s AND day <= %(until)s ORDER BY currency, day DESC, id DESC
) AS r
WHERE r.day >= coalesce((
    SELECT max(before.day) FROM wallet_exchange_rate AS before
    WHERE before.base = %(base)s AND before.currency = r.currency AND before.day <= %(since)s
), '-infinity'::date)
ORDER BY r.currency, r.day
"""


class CannotStore(Exception):
    """No rate was stored. The message is a sentence for staff."""


class BadFile(Exception):
    """The file cannot be imported. *faults* are sentences for staff, most of them about one line."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


@dataclass(frozen=True)
class Rate:
    """The rate of a currency: *value* units of it are worth one unit of the reporting currency on *day*."""

    currency: str
    day: date
    value: Decimal


@dataclass(frozen=True)
class Used:
    """A rate that was used for the days from *first* to *last*."""

    rate: Rate
    first: date
    last: date

    @property
    def is_earlier(self) -> bool:
        """True if the rate was used for a day that has no rate of its own."""
        return self.last > self.rate.day


@dataclass(frozen=True)
class Rates:
    """The rates in force for some days, by currency and ascending by day."""

    base: str
    by_currency: Mapping[str, Sequence[Rate]]

    @classmethod
    def read(cls, since: date, until: date) -> "Rates":
        """Read the rates of the days from *since* to *until*, both included."""
        base, found = settings.REPORTING_CURRENCY, dict[str, list[Rate]]()
        with connection.cursor() as cursor:
            cursor.execute(IN_FORCE, {"base": base, "since": since, "until": until})
            for currency, day, value in cursor.fetchall():
                found.setdefault(currency, []).append(Rate(currency, day, value))
        return cls(base, found)

    def on(self, currency: str, day: date) -> Rate | None:
        """Return the rate of the last day up to *day* that has one; None without any."""
        before = [rate for rate in self.by_currency.get(currency, ()) if rate.day <= day]
        return before[-1] if before else None

    def factor(self, currency: str, day: date) -> Fraction | None:
        """Return what one unit of *currency* is worth in the reporting currency on *day*; None if it is not known."""
        if currency == self.base:
            return Fraction(1)
        rate = self.on(currency, day)
        return 1 / Fraction(rate.value) if rate else None

    def used(self, days: Iterable[tuple[str, date]]) -> list[Used]:
        """Return the rates that were used for *days* with their currencies, by currency and day."""
        found: dict[Rate, list[date]] = {}
        for currency, day in sorted(set(days)):
            if rate := self.on(currency, day):
                found.setdefault(rate, []).append(day)
        return [Used(rate, min(of_rate), max(of_rate)) for rate, of_rate in found.items()]


def register() -> None:
    """Register the event kinds."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)


def currencies() -> list[str]:
    """Return the currencies that need a rate: all but the reporting currency."""
    return [code for code in Currency.values if code != settings.REPORTING_CURRENCY]


@transaction.atomic
def store(rates: Sequence[Rate], *, by: Staff, is_imported: bool) -> int:
    """Store *rates*, all or none, and return how many differ from what was in force. An event names them.

    Raises CannotStore.
    """
    given = json.dumps([[rate.day.isoformat(), rate.currency, str(rate.value)] for rate in rates])
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT wallet_store_exchange_rates(%s, %s, %s::jsonb, %s)",
                [by.pk, settings.REPORTING_CURRENCY, given, is_imported],
            )
            (stored,) = cursor.fetchone()
    except DatabaseError as error:
        match sqlstate(error):
            case "SB170":
                raise CannotStore(gettext("Your role may not enter exchange rates.")) from error
            case "SB171":
                raise CannotStore(gettext("A rate is out of range, or its day is in the future.")) from error
        raise
    return int(stored)


def read_file(content: bytes, *, today: date) -> list[Rate]:
    """Return the rates of a CSV file for the days up to *today*.

    It has a rate on each line (columns date, currency, rate), or a day on each line and a column for each currency, as
    central banks publish it; then columns of other currencies are left out. Raises BadFile with a sentence for each
    line that cannot be read.
    """
    rows = list(_rows(content))
    if not rows:
        raise BadFile([gettext("The file is empty.")])
    heading = [cell.strip().lower() for cell in rows[0][1]]
    named = [name for name in heading if name]  # the European Central Bank ends each line with a comma
    if (
        LONG[0] not in named
        or len(set(named)) < len(named)
        or not (set(LONG) <= set(named) or {code.lower() for code in currencies()} & set(named))
    ):
        raise BadFile([gettext("The header row must be date,currency,rate, or date and a column for each currency.")])
    faults: list[str] = []
    found: dict[tuple[str, date], Rate] = {}
    for number, cells in rows[1:]:
        if len(faults) >= MOST_FAULTS:
            break
        try:
            for rate in _rates_of(heading, [cell.strip() for cell in cells], today):
                if (rate.currency, rate.day) in found:
                    raise ValueError(
                        gettext("%(day)s has more than one rate for %(currency)s.")
                        % {"day": rate.day, "currency": rate.currency}
                    )
                found[rate.currency, rate.day] = rate
        except ValueError as error:
            faults.append(gettext("Line %(number)s: %(fault)s") % {"number": number, "fault": error})
    if faults:
        raise BadFile(faults)
    if not found:
        raise BadFile([gettext("The file has no rate for a currency of this casino.")])
    if len(found) > MOST:
        message = gettext("The file has %(count)s rates. At most %(most)s can be imported at once.")
        raise BadFile([message % {"count": len(found), "most": MOST}])
    return list(found.values())


def read_rate(text: str) -> Decimal:
    """Read a rate with a point or a comma before at most eight decimals. Raises ValueError with a sentence."""
    if not RATE.fullmatch(text):
        raise ValueError(gettext("“%(text)s” is not a rate. Write 11.0345 or 11,0345.") % {"text": text[:20]})
    rate = Decimal(text.replace(",", "."))
    if not 0 < rate <= LARGEST:
        raise ValueError(gettext("The rate must be above zero and at most %(most)s.") % {"most": LARGEST})
    return rate


def _rates_of(heading: Sequence[str], cells: Sequence[str], today: date) -> Iterator[Rate]:
    """Yield the rates of a line. Raises ValueError with a sentence for staff."""
    if not any(cells):
        return
    if len(cells) != len(heading):
        counts = {"cells": len(cells), "columns": len(heading)}
        raise ValueError(gettext("%(cells)s cells, but %(columns)s columns in the header row.") % counts)
    line = dict(zip(heading, cells, strict=True))
    day = _day(line[LONG[0]], today)
    if set(LONG) <= set(heading):
        currency = line["currency"].upper()
        if currency not in currencies():
            known = {"text": line["currency"][:20], "known": ", ".join(currencies())}
            raise ValueError(gettext("“%(text)s” is not one of %(known)s.") % known)
        yield Rate(currency, day, read_rate(line["rate"]))
        return
    for currency in currencies():
        if line.get(currency.lower(), "") not in BLANK:
            yield Rate(currency, day, read_rate(line[currency.lower()]))


def _day(text: str, today: date) -> date:
    try:
        day = date.fromisoformat(text) if DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise ValueError(gettext("“%(text)s” is not a date. Write 2026-11-27.") % {"text": text[:20]})
    if not EARLIEST <= day <= today:
        raise ValueError(gettext("%(day)s is before the year 2000 or in the future.") % {"day": day})
    return day


def _rows(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with its line number. Raises BadFile."""
    if len(content) > MOST_BYTES:
        raise BadFile([str(TOO_LARGE)])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile([gettext("The file is not text in UTF-8. Save it as CSV in UTF-8.")]) from error
    if "\0" in text:
        raise BadFile([gettext("The file is not text in UTF-8. Save it as CSV in UTF-8.")])
    separator = max(SEPARATORS, key=text.partition("\n")[0].count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for cells in rows:
            yield rows.line_num, cells
    except csv.Error as error:
        fault = gettext("Line %(number)s: %(fault)s") % {"number": rows.line_num, "fault": error}
        raise BadFile([fault]) from error
