"""Game logs as a file for spreadsheets, in the way that those of the reader's language take without asking."""

import csv
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import NamedTuple

from babel.numbers import get_decimal_symbol
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.engine.cards import Card
from games.engine.coup import Coup, deal
from games.examination import is_readable
from games.history import paid_back
from games.labels import bet_name
from games.models import Participation
from games.variants import VARIANTS

BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets know UTF-8
MINOR = 100
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what begins with one of these, a spreadsheet would calculate


class Words(NamedTuple):
    """What stands in the place of a result, in the reader's language."""

    void: str
    examined: str


class Echo:
    """Gives back what is written to it: a line at a time, none kept."""

    def write(self, line: str) -> str:
        return line


def lines(parts: Iterable[Participation], language: str) -> Iterator[str]:
    """Return the file line by line. Language and time zone are the active ones, now and not when lines are read."""
    words = Words(pgettext("a round", "annulled"), pgettext("a round", "being examined"))
    return _lines(parts, language, _headings(), words, get_current_timezone())


def safe(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def amount(minor: int, decimal: str) -> str:
    """Write *minor* units as a number."""
    return f"{'-' if minor < 0 else ''}{abs(minor) // MINOR}{decimal}{abs(minor) % MINOR:02d}"


def _lines(
    parts: Iterable[Participation], language: str, headings: list[str], words: Words, zone: tzinfo
) -> Iterator[str]:
    decimal = get_decimal_symbol(language)
    writer = csv.writer(Echo(), delimiter=";" if decimal == "," else ",")
    yield BYTE_ORDER_MARK + writer.writerow(headings)
    for part in parts:
        yield writer.writerow(_row(part, language, decimal, words, zone))


def _headings() -> list[str]:
    return [
        _("Time (%(zone)s)") % {"zone": get_current_timezone()},
        _("Round code"),
        pgettext("table heading", "Table"),
        _("Player’s cards"),
        _("Banker’s cards"),
        pgettext("table heading", "Result"),
        _("Bets"),
        _("Staked"),
        _("Paid back"),
        _("Balance before"),
        _("Balance after"),
        pgettext("table heading", "Currency"),
        _("Rules version"),
        _("Table version"),
    ]


def _row(part: Participation, language: str, decimal: str, words: Words, zone: tzinfo) -> list[str]:
    version = part.round.table_version
    variant = VARIANTS[version.table.variant]
    is_void = hasattr(part.round, "void")
    is_examined = not is_void and not is_readable(part)
    coup = None if is_void or is_examined else deal([Card.parse(code) for code in part.round.cards.split()])
    wagers = () if is_examined else part.wagers.all()
    bets = (f"{bet_name(variant, each.bet, language)} {amount(each.stake, decimal)}" for each in wagers)
    paid = sum(paid_back(each) for each in wagers) if is_void else part.paid
    instead = words.void if is_void else words.examined
    return [
        f"{part.at.astimezone(zone):%Y-%m-%d %H:%M:%S}",
        part.round.code,
        safe(version.table.name),
        *_hands(coup),
        bet_name(variant, coup.outcome.value, language) if coup else instead,
        safe(", ".join(bets) if decimal == "." else "; ".join(bets)),
        *(amount(each, decimal) for each in (part.staked, paid, part.balance_before, part.balance_after)),
        part.currency,
        safe(version.rules_version),
        str(version.number),
    ]


def _hands(coup: Coup | None) -> tuple[str, str]:
    if coup is None:
        return "", ""
    player, banker = (" ".join(card.code for card in hand) for hand in (coup.player, coup.banker))
    return player, banker
